//===- Import.cpp - Reads ONNX files --------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Graph.h"
#include "Node.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Import/ONNX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <climits>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

using namespace mlir;

namespace numera {

/// The operator sets whose changes the importers know.
constexpr int64_t kOldestOpset = 1;
constexpr int64_t kNewestOpset = 28;

static LogicalResult parse(StringRef bytes, Location file,
                           onnx::ModelProto &model) {
  size_t size = bytes.size();
  // protobuf reports damage on stderr by itself; the error below is enough.
  google::protobuf::LogSilencer silence;
  if (size > INT_MAX || !model.ParseFromArray(bytes.data(), int(size)))
    return emitError(file)
           << "not an ONNX model: its " << size
           << " bytes are not a protobuf message of type ModelProto; expected "
              "a complete file as onnx.save writes it";
  if (!model.has_graph() || model.ir_version() < 1)
    return emitError(file)
           << "not an ONNX model: " << size << " bytes without "
           << (model.has_graph() ? "an IR version" : "a graph")
           << "; expected a complete file as onnx.save writes it";
  return success();
}

/// The version of the operator set ai.onnx that the model imports.
static FailureOr<int64_t> findOpset(const onnx::ModelProto &model,
                                    Location file) {
  for (const auto &import : model.opset_import()) {
    if (!import.domain().empty() && import.domain() != "ai.onnx")
      continue;
    if (import.version() >= kOldestOpset && import.version() <= kNewestOpset)
      return import.version();
    return emitError(file) << "the model uses operator set " << import.version()
                           << "; expected " << kOldestOpset << " to "
                           << kNewestOpset;
  }
  // None is needed for operators of other domains.
  if (model.graph().node_size() > 0 &&
      llvm::none_of(model.graph().node(), [](const onnx::NodeProto &node) {
        return node.domain().empty() || node.domain() == "ai.onnx";
      }))
    return kNewestOpset;
  return emitError(file) << "the model imports no operator set of ai.onnx; "
                            "expected version "
                         << kOldestOpset << " to " << kNewestOpset;
}

/// Leaves the model without the bytes of its initializers.
static OwningOpRef<ModuleOp> importModel(onnx::ModelProto &model, Location file,
                                         StringRef folder) {
  MLIRContext *context = file.getContext();
  context->loadDialect<arith::ArithDialect, func::FuncDialect,
                       cf::ControlFlowDialect, linalg::LinalgDialect,
                       math::MathDialect, scf::SCFDialect,
                       tensor::TensorDialect, NumeraDialect>();
  FailureOr<int64_t> opset = findOpset(model, file);
  if (failed(opset))
    return nullptr;
  OwningOpRef<ModuleOp> module = ModuleOp::create(file);
  importer::Graph graph(model, *opset, file, folder);
  if (failed(graph.import(*module)) || failed(verify(*module)))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> importONNX(StringRef path, MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    emitError(FileLineColLoc::get(context, path, 0, 0))
        << "cannot read the file: " << buffer.getError().message();
    return nullptr;
  }
  Location file = FileLineColLoc::get(context, path, 0, 0);
  onnx::ModelProto model;
  if (failed(parse((*buffer)->getBuffer(), file, model)))
    return nullptr;
  buffer->reset(); // the message has copies of all
  return importModel(model, file, llvm::sys::path::parent_path(path));
}

OwningOpRef<ModuleOp> importONNX(StringRef bytes, StringRef name,
                                 StringRef folder, MLIRContext *context) {
  Location file = FileLineColLoc::get(context, name, 0, 0);
  onnx::ModelProto model;
  if (failed(parse(bytes, file, model)))
    return nullptr;
  return importModel(model, file, folder);
}

} // namespace numera
