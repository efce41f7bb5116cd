//===- Graph.h - Names and nodes of a graph --------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_GRAPH_H
#define NUMERA_LIB_IMPORT_ONNX_GRAPH_H

#include "Node.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace onnx {
class FunctionProto;
class GraphProto;
class ModelProto;
class NodeProto;
class ValueInfoProto;
} // namespace onnx

namespace numera::importer {

/// Imports the main graph of a model as one function. ONNX lists nodes in the
/// order of their uses, so a name that is not defined yet never will be.
class Graph {
public:
  Graph(onnx::ModelProto &model, int64_t opset, mlir::Location file,
        llvm::StringRef folder);

  /// Appends the function to `module`, or fails after one error. The model's
  /// own bytes of its initializers are gone then.
  llvm::LogicalResult import(mlir::ModuleOp module);

  /// The folder of the model's file.
  llvm::StringRef folder() const { return modelFolder; }
  /// The complete shape that the model declares for a value in sight.
  std::optional<Shape> declared(const std::string &name) const;

  /// The results of nodes given as text on tensors of the names, for an
  /// operator that is made of others; nothing after an error.
  std::optional<llvm::SmallVector<Tensor>>
  expand(Node &caller, llvm::StringRef text,
         llvm::ArrayRef<std::pair<llvm::StringRef, const Tensor *>> inputs,
         llvm::ArrayRef<llvm::StringRef> outputs);

  /// The results of a body of If, Loop or Scan, imported where the builder is,
  /// in sight of the names around the node; nothing after an error.
  std::optional<llvm::SmallVector<Tensor>>
  importBody(const onnx::GraphProto &body, llvm::ArrayRef<Tensor> inputs);

private:
  /// The names in sight of a node: of a body also those around it.
  struct Scope {
    Scope *parent = nullptr;
    int64_t opset;
    /// Nodes of an operator's own text are located at the operator.
    bool isText = false;
    llvm::StringMap<Tensor> tensors = {};
    /// Results that no importer computes.
    llvm::StringMap<std::string> missing = {};
    llvm::StringMap<Shape> shapes = {};
  };
  class Enter;

  llvm::LogicalResult error(const llvm::Twine &message);
  llvm::LogicalResult define(const std::string &name, Tensor tensor);
  const Tensor *find(const std::string &name) const;
  const std::string *findMissing(const std::string &name) const;
  llvm::LogicalResult checkInitializers(const onnx::GraphProto &proto);
  llvm::LogicalResult readInitializer(const onnx::TensorProto &proto);
  llvm::LogicalResult readInputs(mlir::ModuleOp module);
  llvm::FailureOr<Tensor> readInput(const onnx::ValueInfoProto &info,
                                    unsigned input);
  llvm::LogicalResult readSizeNames();
  std::string keyOf(llvm::StringRef name, unsigned input, unsigned axis,
                    int64_t rank);
  llvm::LogicalResult readDim(const onnx::ValueInfoProto &info, unsigned input,
                              unsigned axis, Dim &dim);
  void checkSizes(unsigned input, mlir::Value argument, const Tensor &tensor);
  void readShapes(const onnx::GraphProto &proto);
  mlir::Value enter(mlir::Value argument, const Tensor &tensor);
  mlir::Value leave(const Tensor &tensor);
  llvm::LogicalResult importNodes(const onnx::GraphProto &proto);
  llvm::LogicalResult importNode(const onnx::NodeProto &node);
  llvm::LogicalResult importFunction(Node &node,
                                     const onnx::FunctionProto &function,
                                     const onnx::NodeProto &proto);
  llvm::LogicalResult writeOutputs();

  onnx::ModelProto &model;
  const onnx::GraphProto &proto;
  std::string modelFolder;
  mlir::Location file;
  mlir::ImplicitLocOpBuilder builder;
  Emitter emit;
  mlir::func::FuncOp function;
  Scope main;
  Scope *scope = &main;
  /// How many functions and bodies are around the node.
  unsigned depth = 0;
  /// A size of the inputs, and where it is first.
  struct InputSize {
    Dim dim;
    unsigned input;
    unsigned axis;
  };
  llvm::StringMap<InputSize> sizes;
  /// By the names of dimensions, the keys of `sizes` (keyOf).
  llvm::StringMap<std::string> keys;
  /// Whether names that PyTorch made up say nothing of equal sizes.
  bool unifiesAutomatic = false;
  /// The name of the first dimension that is not known, the batch, and the
  /// input that has it first.
  std::optional<std::string> batchName;
  std::string batchInput;
};

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_GRAPH_H
