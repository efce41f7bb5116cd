//===- Fold.cpp - Operators whose results are known -----------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Exporters compute shapes with operators (Shape, Gather, Concat, Mul …). They
// are evaluated here, on integers that may be multiples of sizes that are known
// only when the model runs.
//
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace numera::importer {

LogicalResult importConstant(Node &node) {
  if (node.hasAttribute("value")) {
    std::optional<Tensor> tensor = node.tensor("value");
    return tensor ? node.finish(*tensor) : failure();
  }
  auto size = [](size_t count) { return Dim::fixed(count); };
  if (node.hasAttribute("sparse_value"))
    return node.error("sparse constants are not supported");
  if (node.hasAttribute("value_float"))
    return node.finish(Tensor::ofFloats({node.real("value_float", 0.0f)}, {}));
  if (node.hasAttribute("value_int"))
    return node.finish(
        Tensor::ofInts({Dim::fixed(node.integer("value_int", 0))}, {}));
  if (auto list = node.reals("value_floats"))
    return node.finish(
        Tensor::ofFloats({list->begin(), list->end()}, {size(list->size())}));
  if (auto list = node.integers("value_ints")) {
    Shape ints = fixedShape(*list);
    return node.finish(
        Tensor::ofInts({ints.begin(), ints.end()}, {size(ints.size())}));
  }
  return node.error("expected attribute 'value', 'value_float', "
                    "'value_floats', 'value_int' or 'value_ints'");
}

LogicalResult importConstantOfShape(Node &node) {
  std::optional<Tensor> fill = node.tensor("value");
  if (node.failed())
    return failure();
  if (!fill)
    fill = Tensor::ofFloats({0.0f}, {});
  if (elementCount(fill->shape) != 1)
    return node.error("attribute 'value' has shape " + str(fill->shape) +
                      "; expected one element");
  std::optional<Shape> shape = node.shapeFrom(0);
  if (!shape || failed(node.checkSize(*shape)) ||
      failed(requireSizes(node, 0, *shape)))
    return failure();
  return node.finish(node.emit.expand(node.emit.reshape(*fill, {}), *shape));
}

LogicalResult importShape(Node &node) {
  const Shape &shape = node.input(0).shape;
  int64_t rank = shape.size();
  auto clamp = [&](int64_t index) {
    if (index < 0)
      index = std::max(index, -rank) + rank;
    return std::min(index, rank);
  };
  int64_t start = clamp(node.integer("start", 0));
  int64_t end = std::max(start, clamp(node.integer("end", rank)));
  return node.finish(Tensor::ofInts(
      {shape.begin() + start, shape.begin() + end}, {Dim::fixed(end - start)}));
}

LogicalResult importSize(Node &node) {
  return node.finish(Tensor::ofInts({product(node.input(0).shape)}, {}));
}

LogicalResult negateIntegers(Node &node) {
  const Tensor &x = node.input(0);
  std::vector<Dim> results;
  for (Dim dim : x.host->ints) {
    if (dim.count == INT64_MIN)
      return node.error(node.inputName(0) + " holds " + str({dim}) +
                        ", whose negation is not a 64-bit integer");
    results.push_back({-dim.count, dim.sizes});
  }
  return node.finish(Tensor::ofInts(std::move(results), x.shape));
}

/// One element of Add, Sub, Mul or Div, where it can be said: sizes times a
/// number, or a sum of such.
static std::optional<Dim> fold(Emitter &emit, StringRef op, Dim lhs, Dim rhs) {
  int64_t result = 0;
  if (op == "Add" || op == "Sub") {
    if (lhs.is(0) && op == "Add")
      return rhs;
    if (rhs.is(0))
      return lhs;
    if (lhs.sizes != rhs.sizes)
      return emit.sum(lhs, rhs, op == "Add" ? 1 : -1);
    if ((op == "Add" ? llvm::AddOverflow(lhs.count, rhs.count, result)
                     : llvm::SubOverflow(lhs.count, rhs.count, result)))
      return std::nullopt;
    return result == 0 ? Dim::fixed(0) : Dim{result, lhs.sizes};
  }
  if (op == "Mul")
    return multiply(lhs, rhs);
  return op == "Div" ? divide(lhs, rhs) : std::nullopt;
}

/// The greater of two, or the lesser, where it can be said; nothing else.
/// Sizes are taken to be 1 or more where that decides: the call fails for 0.
static std::optional<Dim> extremum(Node &node, StringRef op, Dim lhs, Dim rhs) {
  bool isMax = op == "Max";
  if (lhs.sizes == rhs.sizes)
    return (lhs.count > rhs.count) == isMax ? lhs : rhs;
  if (lhs.isDynamic() && rhs.isDynamic())
    return std::nullopt;
  Dim size = lhs.isDynamic() ? lhs : rhs, number = lhs.isDynamic() ? rhs : lhs;
  if (size.count < 0 || number.count > size.count)
    return std::nullopt;
  Emitter &emit = node.emit;
  if (number.count > 0)
    require(node,
            compare(emit.b, Order::LessOrEqual, index(emit.b, number.count),
                    emit.size(size)),
            "takes a size to be 1 or more, which is 0");
  return isMax ? size : number;
}

/// One element of an operator of two, where it can be said.
static std::optional<Dim> foldTwo(Node &node, StringRef op, Dim lhs, Dim rhs) {
  return op == "Max" || op == "Min" ? extremum(node, op, lhs, rhs)
                                    : fold(node.emit, op, lhs, rhs);
}

std::optional<Tensor> foldReduction(Node &node, StringRef op) {
  const Tensor &x = node.input(0);
  std::optional<Dim> result = x.host->ints.front();
  for (Dim next : ArrayRef(x.host->ints).drop_front())
    if (!(result = foldTwo(node, op, *result, next)))
      return std::nullopt;
  return Tensor::ofInts({*result}, {}, x.dataType);
}

std::optional<Tensor> selectKnown(Node &node, ArrayRef<Dim> shape) {
  if (!node.input(0).host || node.input(0).isDynamic() || !node.input(1).host ||
      !node.input(2).host)
    return std::nullopt;
  Tensor condition = node.emit.expand(node.input(0), shape);
  Tensor yes = node.emit.expand(node.input(1), shape);
  Tensor no = node.emit.expand(node.input(2), shape);
  if (!condition.host || !yes.host || !no.host)
    return std::nullopt;
  std::vector<Dim> results;
  for (auto [flag, x, y] :
       llvm::zip_equal(condition.host->ints, yes.host->ints, no.host->ints))
    results.push_back(flag.count ? x : y);
  return Tensor::ofInts(std::move(results), Shape(shape), yes.dataType);
}

std::optional<Tensor> foldIntegers(Node &node, ArrayRef<Dim> shape) {
  std::optional<Tensor> folded;
  for (const Tensor *input : node.inputs) {
    if (!input->host || !input->isIntegral())
      return std::nullopt;
    Tensor next = node.emit.expand(*input, shape);
    if (!next.host)
      return std::nullopt;
    if (!folded) {
      folded = next;
      continue;
    }
    std::vector<Dim> results;
    for (auto [x, y] : llvm::zip_equal(folded->host->ints, next.host->ints)) {
      std::optional<Dim> result = foldTwo(node, node.op(), x, y);
      if (!result)
        return std::nullopt;
      results.push_back(*result);
    }
    folded = Tensor::ofInts(std::move(results), Shape(shape), next.dataType);
  }
  return folded;
}

} // namespace numera::importer
