//===- Node.cpp - Attributes, inputs and errors of an operator ------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Node.h"
#include "Graph.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <onnx/onnx_pb.h>

using namespace mlir;
using onnx::AttributeProto;

namespace numera::importer {

std::string quote(StringRef text) {
  std::string quoted;
  llvm::raw_string_ostream os(quoted);
  os << '\'';
  llvm::printEscapedString(text, os);
  os << '\'';
  return quoted;
}

StringRef Node::op() const { return proto.op_type(); }

StringRef Node::domain() const {
  StringRef domain = proto.domain();
  return domain == "ai.onnx" ? StringRef() : domain;
}

std::string Node::name() const {
  if (!proto.name().empty())
    return proto.name();
  return proto.output_size() > 0 ? proto.output(0) : std::string();
}

LogicalResult Node::error(const Twine &message) {
  if (reported)
    return failure();
  reported = true;
  std::string who = "node " + quote(proto.name());
  if (proto.name().empty())
    who = "node with output " + quote(name());
  return emitError(file) << who << " (" << quote(op()).substr(1, op().size())
                         << "): " << message;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool Node::hasAttribute(StringRef name) const {
  return llvm::any_of(proto.attribute(), [&](const AttributeProto &attribute) {
    return name == attribute.name();
  });
}

/// The attribute when it is present and of type `type`.
const AttributeProto *Node::find(StringRef name, int type, StringRef typeName) {
  asked.insert(name);
  for (const AttributeProto &attribute : proto.attribute()) {
    if (name != attribute.name())
      continue;
    // Files of IR version 1 leave the type out; the checkers of later ones
    // demand it.
    if (attribute.type() == type)
      return &attribute;
    (void)error("attribute " + quote(name) + " is of type " +
                AttributeProto::AttributeType_Name(attribute.type()) +
                "; expected " + typeName);
    return nullptr;
  }
  return nullptr;
}

int64_t Node::integer(StringRef name, int64_t byDefault) {
  const AttributeProto *found = find(name, AttributeProto::INT, "INT");
  return found ? found->i() : byDefault;
}

float Node::real(StringRef name, float byDefault) {
  const AttributeProto *found = find(name, AttributeProto::FLOAT, "FLOAT");
  return found ? found->f() : byDefault;
}

std::string Node::text(StringRef name, StringRef byDefault) {
  const AttributeProto *found = find(name, AttributeProto::STRING, "STRING");
  return found ? found->s() : byDefault.str();
}

std::optional<SmallVector<int64_t>> Node::integers(StringRef name) {
  const AttributeProto *found = find(name, AttributeProto::INTS, "INTS");
  if (!found)
    return std::nullopt;
  return llvm::to_vector(
      llvm::map_range(found->ints(), [](auto i) { return int64_t(i); }));
}

std::optional<SmallVector<float>> Node::reals(StringRef name) {
  const AttributeProto *found = find(name, AttributeProto::FLOATS, "FLOATS");
  if (!found)
    return std::nullopt;
  return SmallVector<float>(found->floats().begin(), found->floats().end());
}

std::optional<Tensor> Node::tensor(StringRef name) {
  const AttributeProto *found = find(name, AttributeProto::TENSOR, "TENSOR");
  if (!found)
    return std::nullopt;
  FailureOr<Tensor> read =
      readTensor(found->t(), graph.folder(), [&](const Twine &message) {
        return error("attribute " + quote(name) + ": " + message);
      });
  if (llvm::failed(read))
    return std::nullopt;
  return *read;
}

const onnx::GraphProto *Node::body(StringRef name) {
  const AttributeProto *found = find(name, AttributeProto::GRAPH, "GRAPH");
  return found ? &found->g() : nullptr;
}

SmallVector<std::string> Node::texts(StringRef name) {
  const AttributeProto *found = find(name, AttributeProto::STRINGS, "STRINGS");
  if (!found)
    return {};
  return SmallVector<std::string>(found->strings().begin(),
                                  found->strings().end());
}

LogicalResult Node::checkAttributes() {
  for (const AttributeProto &attribute : proto.attribute())
    if (!asked.contains(attribute.name()))
      return error("attribute " + quote(attribute.name()) +
                   " is not supported here");
  return success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

std::string Node::inputName(unsigned i) const {
  return ("input " + Twine(i) + " " + quote(proto.input(i))).str();
}

std::optional<SmallVector<Dim>> Node::dims(unsigned i) {
  const Tensor &tensor = input(i);
  if (!tensor.host) {
    (void)error(inputName(i) + " is computed when the model runs; expected a "
                               "constant or an initializer");
    return std::nullopt;
  }
  if (!tensor.isIntegral() || tensor.rank() > 1) {
    (void)error(inputName(i) + " has " +
                (tensor.isIntegral() ? "shape " + str(tensor.shape)
                                     : std::string("floating-point elements")) +
                "; expected a list of integers");
    return std::nullopt;
  }
  return SmallVector<Dim>(tensor.host->ints.begin(), tensor.host->ints.end());
}

std::optional<SmallVector<int64_t>> Node::constants(unsigned i) {
  std::optional<SmallVector<Dim>> list = dims(i);
  if (!list)
    return std::nullopt;
  if (llvm::any_of(*list, [](Dim dim) { return dim.isDynamic(); })) {
    (void)error(inputName(i) + " depends on sizes that are known when the "
                               "model runs; expected a constant");
    return std::nullopt;
  }
  return llvm::map_to_vector(*list, [](Dim dim) { return dim.count; });
}

std::optional<Shape> Node::shapeFrom(unsigned i) {
  if (!input(i).host)
    if (std::optional<Shape> shape = declared(0))
      return shape;
  std::optional<SmallVector<Dim>> list = dims(i);
  if (!list)
    return std::nullopt;
  return Shape(list->begin(), list->end());
}

LogicalResult Node::checkFloat(unsigned i) {
  if (input(i).isIntegral())
    return error(inputName(i) + " has elements of " +
                 dataTypeName(input(i).dataType) + "; expected floats");
  return success();
}

LogicalResult Node::checkInteger(unsigned i) {
  if (!input(i).isIntegral())
    return error(inputName(i) + " has elements of " +
                 dataTypeName(input(i).dataType) + "; expected integers");
  return success();
}

LogicalResult Node::checkRank(unsigned i, int64_t rank) {
  if (input(i).rank() == rank)
    return success();
  return error(inputName(i) + " has shape " + str(input(i).shape) +
               "; expected " + Twine(rank) + " dimensions");
}

LogicalResult Node::checkImageSizes(unsigned i) {
  for (Dim dim : ArrayRef(input(i).shape).drop_front(1))
    if (dim.isDynamic() || dim.is(0))
      return error(inputName(i) + " has shape " + str(input(i).shape) +
                   "; expected fixed sizes of at least 1 but for the batch");
  return success();
}

int64_t Node::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  if (rank == 0) {
    (void)error("axis " + Twine(axis) + " of a scalar, which has none");
    return 0;
  }
  (void)error("axis " + Twine(axis) + " is out of range; expected " +
              Twine(-rank) + " to " + Twine(rank - 1));
  return 0;
}

SmallVector<bool> Node::axes(ArrayRef<int64_t> list, int64_t rank) {
  SmallVector<bool> mask(rank, false);
  for (int64_t given : list) {
    int64_t i = axis(given, rank);
    if (failed())
      break;
    if (mask[i])
      (void)error("axis " + Twine(given) + " is listed twice");
    mask[i] = true;
  }
  return mask;
}

unsigned Node::numOutputs() const { return proto.output_size(); }

bool Node::hasOutput(unsigned i) const {
  return int(i) < proto.output_size() && !proto.output(int(i)).empty();
}

std::optional<Shape> Node::declared(unsigned i) const {
  return hasOutput(i) ? graph.declared(proto.output(int(i))) : std::nullopt;
}

std::optional<SmallVector<Tensor>>
Node::compute(StringRef text,
              ArrayRef<std::pair<StringRef, const Tensor *>> given,
              ArrayRef<StringRef> outputs) {
  if (failed())
    return std::nullopt;
  auto computed = graph.expand(*this, text, given, outputs);
  if (!computed)
    fail();
  return computed;
}

LogicalResult Node::expand(StringRef text,
                           ArrayRef<std::pair<StringRef, const Tensor *>> given,
                           ArrayRef<StringRef> outputs) {
  auto computed = compute(text, given, outputs);
  if (!computed)
    return failure();
  for (Tensor &tensor : *computed)
    if (llvm::failed(finish(tensor)))
      return failure();
  return success();
}

LogicalResult Node::checkFoldable(ArrayRef<Dim> shape) {
  if (llvm::failed(checkSize(shape)))
    return failure();
  if (*elementCount(shape) > kMaxFolded)
    return error("a constant of shape " + str(shape) +
                 " is too large; expected at most 2^26 elements");
  return success();
}

LogicalResult Node::checkSize(ArrayRef<Dim> shape) {
  if (shape.size() > kMaxRank)
    return error("a tensor of " + Twine(shape.size()) +
                 " dimensions; expected at most " + Twine(kMaxRank));
  if (!elementCount(shape))
    return error("a tensor of shape " + str(shape) +
                 " is too large; expected at most 2^40 elements");
  if (emit.hasTooManySizes())
    return error("the model has more than " + Twine(Dim::kMaxNumber) +
                 " sizes that are not known");
  size_t factors = 0;
  for (Dim dim : shape)
    factors += dim.factors().size();
  if (factors > Dim::kMaxSizes)
    return error("a tensor of shape " + str(shape) + " has " + Twine(factors) +
                 " sizes that are not known; expected at most " +
                 Twine(Dim::kMaxSizes));
  return success();
}

LogicalResult Node::finish(Tensor tensor) {
  if (failed() || llvm::failed(checkSize(tensor.shape)))
    return failure();
  results.push_back(std::move(tensor));
  return success();
}

} // namespace numera::importer
