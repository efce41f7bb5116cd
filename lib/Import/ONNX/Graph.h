//===- Graph.h - Names and nodes of a graph --------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_GRAPH_H
#define NUMERA_LIB_IMPORT_ONNX_GRAPH_H

#include "Emitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace onnx {
class GraphProto;
class NodeProto;
class ValueInfoProto;
} // namespace onnx

namespace numera::importer {

/// Imports the main graph of a model as one function. ONNX lists nodes in the
/// order of their uses, so a name that is not defined yet never will be.
class Graph {
public:
  Graph(const onnx::GraphProto &proto, int64_t opset, mlir::Location file)
      : proto(proto), opset(opset), file(file),
        builder(file, file.getContext()), emit(builder, file) {}

  /// Appends the function to `module`, or fails after one error.
  llvm::LogicalResult import(mlir::ModuleOp module);

private:
  llvm::LogicalResult error(const llvm::Twine &message);
  llvm::LogicalResult define(const std::string &name, Tensor tensor);
  llvm::LogicalResult readInitializers();
  llvm::LogicalResult readInputs(mlir::ModuleOp module);
  llvm::FailureOr<Tensor> readInput(const onnx::ValueInfoProto &info);
  llvm::LogicalResult readDim(const onnx::ValueInfoProto &info, int index,
                              Dim &dim);
  llvm::LogicalResult importNode(const onnx::NodeProto &node);
  llvm::LogicalResult writeOutputs();

  const onnx::GraphProto &proto;
  const int64_t opset;
  mlir::Location file;
  mlir::ImplicitLocOpBuilder builder;
  Emitter emit;
  mlir::func::FuncOp function;
  llvm::StringMap<Tensor> tensors;
  /// Results that no importer computes, such as the mask of a Dropout.
  llvm::StringMap<std::string> missing;
  /// The name of the batch dimension and the input that has it.
  std::string batchName, batchInput;
};

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_GRAPH_H
