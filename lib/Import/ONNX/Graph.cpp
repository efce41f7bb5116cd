//===- Graph.cpp - Names and nodes of a graph -----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Graph.h"
#include "Formats.h"
#include "Operators.h"
#include "mlir/IR/Diagnostics.h"
#include "numera/Dialect/Numera/IR/Operator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <onnx/onnx_pb.h>

using namespace mlir;
using onnx::TensorProto;

namespace numera::importer {

LogicalResult Graph::error(const Twine &message) {
  return emitError(file) << message;
}

LogicalResult Graph::define(const std::string &name, Tensor tensor) {
  if (tensor.name.empty())
    tensor.name = name;
  if (!tensors.try_emplace(name, std::move(tensor)).second)
    return error("the value " + quote(name) +
                 " is defined twice; expected one definition");
  return success();
}

LogicalResult Graph::readInitializers() {
  if (proto.sparse_initializer_size() > 0)
    return error("sparse initializers are not supported");
  for (const TensorProto &initializer : proto.initializer()) {
    FailureOr<Tensor> tensor =
        readTensor(initializer, [&](const Twine &message) {
          return error("initializer " + quote(initializer.name()) + ": " +
                       message);
        });
    if (failed(tensor) || failed(define(initializer.name(), *tensor)))
      return failure();
  }
  return success();
}

LogicalResult Graph::readDim(const onnx::ValueInfoProto &info, int index,
                             Dim &dim) {
  const auto &given = info.type().tensor_type().shape().dim(index);
  std::string where =
      "input " + quote(info.name()) + ": dimension " + std::to_string(index);
  if (given.has_dim_value()) {
    dim = Dim::fixed(given.dim_value());
    if (dim.count < 1)
      return error(where + " is " + Twine(dim.count) + "; expected at least 1");
    return success();
  }
  StringRef name = given.dim_param();
  std::string shown = name.empty() ? "" : " (" + quote(name) + ")";
  if (index != 0)
    return error(where + shown +
                 " has no size; only the first dimension, the "
                 "batch, may be left open");
  if (!batchInput.empty() && batchName != name && !batchName.empty() &&
      !name.empty())
    return error(where + shown + " differs from the batch " + quote(batchName) +
                 " of input " + quote(batchInput) +
                 "; expected one batch size for all inputs");
  if (batchName.empty())
    batchName = name.str();
  if (batchInput.empty())
    batchInput = info.name();
  dim = {1, true};
  return success();
}

FailureOr<Tensor> Graph::readInput(const onnx::ValueInfoProto &info) {
  std::string who = "input " + quote(info.name());
  if (!info.type().has_tensor_type())
    return error(who + " is not a tensor; expected a tensor of f32");
  const auto &type = info.type().tensor_type();
  Tensor tensor;
  tensor.integral = type.elem_type() == TensorProto::INT64;
  tensor.format = formatElement(builder.getContext(), type.elem_type());
  if (!tensor.integral && !tensor.format &&
      type.elem_type() != TensorProto::FLOAT)
    return error(who + " has element type " + dataTypeName(type.elem_type()) +
                 "; expected FLOAT, a narrower float or INT64");
  if (!type.has_shape())
    return error(who + " has no shape; expected one whose sizes are known but "
                       "for the first");
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    Dim dim;
    if (failed(readDim(info, i, dim)))
      return failure();
    tensor.shape.push_back(dim);
  }
  if (tensor.rank() > kMaxRank || !elementCount(tensor.shape))
    return error(who + " of shape " + str(tensor.shape) +
                 " is too large; expected at most " + Twine(kMaxRank) +
                 " dimensions and 2^40 elements");
  return tensor;
}

/// A symbol of letters, digits and underscores.
static std::string symbolName(StringRef name) {
  std::string symbol;
  for (char c : name)
    symbol += llvm::isAlnum(c) ? c : '_';
  if (symbol.empty())
    return "main_graph";
  return llvm::isDigit(symbol.front()) ? "_" + symbol : symbol;
}

LogicalResult Graph::readInputs(ModuleOp module) {
  SmallVector<std::pair<std::string, Tensor>> inputs;
  SmallVector<Type> types;
  for (const onnx::ValueInfoProto &info : proto.input()) {
    // Up to IR version 3 initializers are listed among the inputs.
    if (tensors.contains(info.name()))
      continue;
    FailureOr<Tensor> tensor = readInput(info);
    if (failed(tensor))
      return failure();
    RankedTensorType type = emit.type(tensor->shape, tensor->integral);
    types.push_back(tensor->format ? type.clone(tensor->format) : type);
    inputs.emplace_back(info.name(), *tensor);
  }
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, symbolName(proto.name()),
                                  builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    auto &[name, tensor] = input;
    tensor.value = function.getArgument(i);
    tensor.value.setLoc(NameLoc::get(builder.getStringAttr(name), file));
    function.setArgAttr(i, "numera.name", builder.getStringAttr(name));
    if (name == batchInput)
      emit.setBatch(tensor.value);
    if (failed(define(name, tensor)))
      return failure();
  }
  return success();
}

LogicalResult Graph::importNode(const onnx::NodeProto &nodeProto) {
  Node node(nodeProto, opset, emit, file);
  if (!nodeProto.domain().empty() && nodeProto.domain() != "ai.onnx")
    return node.error("operators of domain " + quote(nodeProto.domain()) +
                      " are not supported");
  for (const std::string &name : nodeProto.input()) {
    auto known = tensors.find(name);
    if (auto lost = missing.find(name); lost != missing.end())
      return node.error("reads " + quote(name) + ", " + lost->second);
    if (known == tensors.end() && !name.empty())
      return node.error("reads " + quote(name) +
                        ", which no input, "
                        "initializer or earlier node defines");
    node.inputs.push_back(known == tensors.end() ? nullptr : &known->second);
  }
  builder.setLoc(
      withOperator(NameLoc::get(builder.getStringAttr(node.name()), file),
                   ("onnx." + node.op()).str()));
  if (failed(importer::importNode(node)))
    return failure();
  for (auto [i, name] : llvm::enumerate(nodeProto.output())) {
    if (name.empty())
      continue;
    if (i >= node.results.size()) {
      missing[name] = ("output " + Twine(i) + " of " + node.op() +
                       ", which is not supported")
                          .str();
      continue;
    }
    if (failed(define(name, node.results[i])))
      return failure();
  }
  return success();
}

LogicalResult Graph::writeOutputs() {
  builder.setLoc(file);
  if (proto.output_size() == 0)
    return error("the graph has no outputs");
  SmallVector<Value> values;
  for (const onnx::ValueInfoProto &info : proto.output()) {
    auto known = tensors.find(info.name());
    if (known == tensors.end())
      return error("output " + quote(info.name()) +
                   (missing.contains(info.name())
                        ? " is " + missing[info.name()]
                        : std::string(" is not defined by any node")));
    const Tensor &tensor = known->second;
    if (tensor.integral && tensor.host &&
        llvm::any_of(tensor.host->ints, [](Dim dim) { return dim.batched; }))
      return error("output " + quote(info.name()) +
                   " is a shape that depends on the batch size, which is not "
                   "supported");
    values.push_back(emit.value(tensor));
  }
  func::ReturnOp::create(builder, values);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           ValueRange(values).getTypes()));
  for (auto [i, info] : llvm::enumerate(proto.output()))
    function.setResultAttr(i, "numera.name",
                           builder.getStringAttr(info.name()));
  return success();
}

LogicalResult Graph::import(ModuleOp module) {
  if (failed(readInitializers()) || failed(readInputs(module)))
    return failure();
  for (const onnx::NodeProto &node : proto.node())
    if (failed(importNode(node)))
      return failure();
  return writeOutputs();
}

} // namespace numera::importer
