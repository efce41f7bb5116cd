//===- Graph.cpp - Names and nodes of a graph -----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Graph.h"
#include "List.h"
#include "NewFields.h"
#include "NodeOrder.h"
#include "Operators.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/IR/Operator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <onnx/onnx_pb.h>

using namespace mlir;
using onnx::TensorProto;

namespace numera::importer {

Graph::Graph(onnx::ModelProto &model, int64_t opset, Location file,
             StringRef folder)
    : model(model), proto(model.graph()), modelFolder(folder.str()), file(file),
      builder(file, file.getContext()), emit(builder, file),
      main{.opset = opset} {}

LogicalResult Graph::error(const Twine &message) {
  return emitError(file) << message;
}

LogicalResult Graph::define(const std::string &name, Tensor tensor) {
  if (tensor.name.empty())
    tensor.name = name;
  if (!scope->tensors.try_emplace(name, std::move(tensor)).second)
    return error("the value " + quote(name) +
                 " is defined twice; expected one definition");
  return success();
}

const Tensor *Graph::find(const std::string &name) const {
  for (const Scope *around = scope; around; around = around->parent)
    if (auto found = around->tensors.find(name); found != around->tensors.end())
      return &found->second;
  return nullptr;
}

const std::string *Graph::findMissing(const std::string &name) const {
  for (const Scope *around = scope; around; around = around->parent)
    if (auto found = around->missing.find(name); found != around->missing.end())
      return &found->second;
  return nullptr;
}

std::optional<Shape> Graph::declared(const std::string &name) const {
  auto found = scope->shapes.find(name);
  if (found == scope->shapes.end())
    return std::nullopt;
  return found->second;
}

/// Operators of one input whose result has its shape.
static bool keepsShape(StringRef op) {
  constexpr StringRef names[] = {"Abs",     "Cast", "CastLike",   "Ceil",
                                 "Cos",     "Exp",  "Floor",      "Identity",
                                 "Log",     "Neg",  "Reciprocal", "Relu",
                                 "Sigmoid", "Sin",  "Sqrt",       "Tanh"};
  return llvm::is_contained(names, op);
}

void Graph::readShapes(const onnx::GraphProto &graph) {
  auto read = [&](const onnx::ValueInfoProto &info) {
    if (!info.type().has_tensor_type() ||
        !info.type().tensor_type().has_shape())
      return;
    Shape shape;
    for (const auto &dim : info.type().tensor_type().shape().dim()) {
      auto size = sizes.end();
      if (auto key = keys.find(dim.dim_param());
          !dim.dim_param().empty() && key != keys.end())
        size = sizes.find(key->second);
      if (!dim.has_dim_value() && size == sizes.end())
        return;
      shape.push_back(size != sizes.end() ? size->second.dim
                                          : Dim::fixed(dim.dim_value()));
    }
    if (elementCount(shape))
      scope->shapes[info.name()] = shape;
  };
  llvm::for_each(graph.value_info(), read);
  llvm::for_each(graph.output(), read);
  // What a declared result says of the values that it is made of.
  for (const onnx::NodeProto &node : llvm::reverse(graph.node())) {
    if (!keepsShape(node.op_type()) || !node.domain().empty() ||
        node.input_size() == 0 || node.output_size() != 1)
      continue;
    auto known = scope->shapes.find(node.output(0));
    if (known != scope->shapes.end())
      scope->shapes.try_emplace(node.input(0), Shape(known->second));
  }
}

LogicalResult Graph::readInitializer(const TensorProto &initializer) {
  FailureOr<Tensor> tensor =
      readTensor(initializer, modelFolder, [&](const Twine &message) {
        return error("initializer " + quote(initializer.name()) + ": " +
                     message);
      });
  return failed(tensor) ? failure() : define(initializer.name(), *tensor);
}

LogicalResult Graph::checkInitializers(const onnx::GraphProto &graph) {
  if (graph.sparse_initializer_size() > 0)
    return error("sparse initializers are not supported");
  return success();
}

FailureOr<Tensor> Graph::readInput(const onnx::ValueInfoProto &info,
                                   unsigned input) {
  std::string who = "input " + quote(info.name());
  if (!info.type().has_tensor_type())
    return error(who + " is not a tensor; expected a tensor");
  const auto &type = info.type().tensor_type();
  Tensor tensor;
  tensor.dataType = type.elem_type();
  if (!isNumeric(tensor.dataType))
    return error(who + " has element type " + dataTypeName(tensor.dataType) +
                 "; expected a type of real numbers, or BOOL");
  if (!type.has_shape())
    return error(who + " has no shape; expected one, in which sizes may be "
                       "unknown");
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    Dim dim;
    if (failed(readDim(info, input, unsigned(i), dim)))
      return failure();
    tensor.shape.push_back(dim);
  }
  if (emit.hasTooManySizes())
    return error("the inputs have too many sizes that are not known; expected "
                 "at most " +
                 Twine(Dim::kMaxNumber));
  size_t factors = 0;
  for (Dim dim : tensor.shape)
    factors += dim.factors().size();
  if (factors > Dim::kMaxSizes)
    return error(who + " has " + Twine(factors) +
                 " sizes that are not known; expected at most " +
                 Twine(Dim::kMaxSizes));
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

/// What came in as a value of the type inside the function.
Value Graph::enter(Value argument, const Tensor &tensor) {
  Type outside = boundaryType(builder.getContext(), tensor.dataType);
  Type inside = emit.element(tensor.dataType);
  if (outside == inside)
    return argument;
  if (isa<NumType>(outside)) {
    auto cast =
        CastOp::create(builder, emit.type(tensor.shape, inside), argument);
    cast.setIsUnsigned(isUnsigned(tensor.dataType));
    return cast;
  }
  Tensor raw = emit.result(argument, tensor.shape, tensor.dataType);
  return emit
      .map({&raw}, tensor.shape,
           [&](LocBuilder &b, ValueRange args) -> Value {
             return UnrealizedConversionCastOp::create(b, inside, args[0])
                 .getResult(0);
           })
      .value;
}

/// The reverse of `enter`.
Value Graph::leave(const Tensor &tensor) {
  Type outside = boundaryType(builder.getContext(), tensor.dataType);
  Type inside = emit.element(tensor.dataType);
  Value value = emit.value(tensor);
  if (outside == inside)
    return value;
  if (isa<NumType>(outside)) {
    auto cast =
        CastOp::create(builder, emit.type(tensor.shape, outside), value);
    cast.setIsUnsigned(isUnsigned(tensor.dataType));
    return cast;
  }
  AffineMap identity = builder.getMultiDimIdentityMap(tensor.rank());
  SmallVector<utils::IteratorType> iterators(tensor.rank(),
                                             utils::IteratorType::parallel);
  Value init =
      tensor::EmptyOp::create(builder, emit.sizes(tensor.shape), outside);
  auto op = linalg::GenericOp::create(
      builder, TypeRange(init.getType()), value, init, {identity, identity},
      iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
        auto cast =
            UnrealizedConversionCastOp::create(nested, loc, outside, args[0]);
        linalg::YieldOp::create(nested, loc, cast.getResult(0));
      });
  return op.getResult(0);
}

LogicalResult Graph::readInputs(ModuleOp module) {
  if (failed(readSizeNames()))
    return failure();
  SmallVector<std::pair<std::string, Tensor>> inputs;
  SmallVector<Type> types;
  for (const onnx::ValueInfoProto &info : proto.input()) {
    // Up to IR version 3 initializers are listed among the inputs.
    if (main.tensors.contains(info.name()))
      continue;
    if (info.name().empty())
      return error("input " + Twine(inputs.size()) +
                   " has no name; expected one for each input");
    FailureOr<Tensor> tensor = readInput(info, unsigned(inputs.size()));
    if (failed(tensor))
      return failure();
    types.push_back(emit.type(
        tensor->shape, boundaryType(builder.getContext(), tensor->dataType)));
    inputs.emplace_back(info.name(), *tensor);
  }
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, symbolName(proto.name()),
                                  builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  for (const auto &[name, size] : sizes)
    emit.setSize(size.dim, function.getArgument(size.input), size.axis);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    auto &[name, tensor] = input;
    Value argument = function.getArgument(i);
    argument.setLoc(NameLoc::get(builder.getStringAttr(name), file));
    function.setArgAttr(i, "numera.name", builder.getStringAttr(name));
    if (Type dtype = arrayType(builder.getContext(), tensor.dataType))
      function.setArgAttr(i, dtypeAttribute, TypeAttr::get(dtype));
    tensor.value = enter(argument, tensor);
    if (failed(define(name, tensor)))
      return failure();
    tensor.name = name;
    checkSizes(unsigned(i), argument, tensor);
  }
  return success();
}

/// Result i of the node, with the sizes that the model declares where they are
/// computed.
static Tensor declare(Node &node, unsigned i) {
  Tensor result = node.results[i];
  std::optional<Shape> known = node.declared(i);
  if (!known || !result.value || known->size() != result.shape.size())
    return result;
  Shape shape = result.shape;
  for (auto [dim, size] : llvm::zip_equal(shape, *known))
    if (node.emit.isComputed(dim) && !size.isDynamic()) {
      requireSize(node, node.emit.size(dim), size);
      dim = size;
    }
  if (shape == result.shape)
    return result;
  result.shape = shape;
  result.value = tensor::CastOp::create(
      node.emit.b, node.emit.type(shape, result.dataType), result.value);
  return result;
}

LogicalResult Graph::importNode(const onnx::NodeProto &nodeProto) {
  Node node(nodeProto, scope->opset, emit, *this, file);
  for (const std::string &name : nodeProto.input()) {
    const Tensor *known = name.empty() ? nullptr : find(name);
    const std::string *lost =
        known || name.empty() ? nullptr : findMissing(name);
    if (lost)
      return node.error("reads " + quote(name) + ", " + *lost);
    if (!known && !name.empty())
      return node.error("reads " + quote(name) +
                        ", which no input, "
                        "initializer or earlier node defines");
    node.inputs.push_back(known);
  }
  if (!scope->isText)
    builder.setLoc(
        withOperator(NameLoc::get(builder.getStringAttr(node.name()), file),
                     ("onnx." + node.op()).str()));
  StringRef domain = nodeProto.domain();
  std::string overload = overloadOf(nodeProto, 8);
  auto function =
      llvm::find_if(model.functions(), [&](const onnx::FunctionProto &one) {
        return one.name() == nodeProto.op_type() && domain == one.domain() &&
               overloadOf(one, 13) == overload;
      });
  if (function != model.functions().end() && !scope->isText) {
    if (failed(importFunction(node, *function, nodeProto)))
      return failure();
  } else if (!importsDomain(node.domain())) {
    return node.error("operators of domain " + quote(domain) +
                      " are not supported");
  } else if (failed(importer::importNode(node))) {
    return failure();
  }
  for (auto [i, name] : llvm::enumerate(nodeProto.output())) {
    if (name.empty())
      continue;
    if (i >= node.results.size()) {
      scope->missing[name] = ("output " + Twine(i) + " of " + node.op() +
                              ", which is not supported")
                                 .str();
      continue;
    }
    if (failed(define(name, declare(node, unsigned(i)))))
      return failure();
  }
  return success();
}

LogicalResult Graph::importNodes(const onnx::GraphProto &graph) {
  for (const onnx::NodeProto *node : inOrder(graph.node()))
    if (failed(importNode(*node)))
      return failure();
  return success();
}

LogicalResult Graph::writeOutputs() {
  builder.setLoc(file);
  if (proto.output_size() == 0)
    return error("the graph has no outputs");
  SmallVector<Value> values;
  for (const onnx::ValueInfoProto &info : proto.output()) {
    const Tensor *known = find(info.name());
    const std::string *lost = findMissing(info.name());
    if (!known)
      return error(
          "output " + quote(info.name()) +
          (lost ? " is " + *lost : std::string(" is not defined by any node")));
    values.push_back(leave(*known));
  }
  func::ReturnOp::create(builder, values);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           ValueRange(values).getTypes()));
  for (auto [i, info] : llvm::enumerate(proto.output())) {
    function.setResultAttr(i, "numera.name",
                           builder.getStringAttr(info.name()));
    int64_t dataType = find(info.name())->dataType;
    if (Type dtype = arrayType(builder.getContext(), dataType))
      function.setResultAttr(i, dtypeAttribute, TypeAttr::get(dtype));
  }
  return success();
}

LogicalResult Graph::import(ModuleOp module) {
  if (failed(checkInitializers(proto)))
    return failure();
  // Weights are most of a model: each is released when it has been read.
  for (TensorProto &initializer :
       *model.mutable_graph()->mutable_initializer()) {
    if (failed(readInitializer(initializer)))
      return failure();
    delete initializer.release_raw_data();
  }
  if (failed(readInputs(module)))
    return failure();
  readShapes(proto);
  if (failed(importNodes(proto)))
    return failure();
  return writeOutputs();
}

} // namespace numera::importer
