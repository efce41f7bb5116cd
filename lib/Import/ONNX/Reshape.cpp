//===- Reshape.cpp - Operators that keep the elements ---------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

LogicalResult importIdentity(Node &node) { return node.finish(node.input(0)); }

/// A tensor is an optional one that is there.
LogicalResult importOptionalHasElement(Node &node) {
  return node.finish(Tensor::ofInts({Dim::fixed(node.has(0))}, {}, type::Bool));
}

/// The size that -1 stands for, so that `shape` has the elements of `total`.
static LogicalResult infer(Node &node, const Shape &from, Shape &shape,
                           size_t unknown) {
  Dim total = product(from);
  shape[unknown] = Dim::fixed(1);
  std::optional<int64_t> count = elementCount(shape);
  Dim known = product(shape);
  if (count == 0 && total.count == 0) {
    shape[unknown] = Dim::fixed(0);
    return success();
  }
  std::optional<Dim> rest = divide(total, known);
  if (!count || *count == 0 || total.count % *count != 0 || !rest)
    return failure();
  shape[unknown] = *rest;
  return success();
}

/// The computed sizes of a Reshape are those that the model declares, or stand
/// for them.
static LogicalResult requireReshape(Node &node, const Shape &shape) {
  const Shape &from = node.input(0).shape;
  LocBuilder &b = node.emit.b;
  List list(node, 1);
  if (node.failed())
    return failure();
  if (list.size() != int64_t(shape.size()))
    return node.error(Twine(list.size()) +
                      " computed sizes; the model declares " + str(shape));
  bool copies = !node.integer("allowzero", 0);
  for (auto [i, size] : llvm::enumerate(shape)) {
    Value given = list.index(b, int64_t(i));
    Value known = node.emit.extent(size);
    auto replace = [&](int64_t mark) {
      given = select(b, compare(b, Order::Equal, given, index(b, mark)), known,
                     given);
    };
    replace(-1);
    if (copies && i < from.size() && from[i] == size)
      replace(0);
    requireSize(node, given, size);
  }
  return success();
}

LogicalResult importReshape(Node &node) {
  const Tensor &x = node.input(0);
  bool allowZero = node.integer("allowzero", 0);
  std::optional<Shape> wanted;
  if (node.opset < 5) {
    if (auto list = node.integers("shape"))
      wanted = fixedShape(*list);
  } else if (node.has(1)) {
    wanted = node.shapeFrom(1);
    allowZero |= !node.input(1).host;
  }
  if (node.failed())
    return failure();
  if (!wanted)
    return node.error("the shape is missing");
  Shape shape = *wanted;
  std::optional<size_t> unknown;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    if (dim.is(0) && !allowZero) {
      if (i >= x.shape.size())
        return node.error("the shape copies dimension " + Twine(i) + " of " +
                          str(x.shape) + ", which has no such dimension");
      dim = x.shape[i];
    } else if (dim.is(-1)) {
      if (unknown)
        return node.error("the shape has -1 twice; expected at most one size "
                          "to infer");
      unknown = i;
    } else if (dim.count < 0) {
      return node.error("the shape holds " + Twine(dim.count) +
                        "; expected a size, 0 or -1");
    }
  }
  bool fits = !unknown || succeeded(infer(node, x.shape, shape, *unknown));
  if (failed(node.checkSize(shape)))
    return failure();
  bool isEmpty = product(shape).count == 0 && product(x.shape).count == 0;
  bool isOpen = !fits && product(x.shape).isDynamic();
  if (!fits || (product(shape) != product(x.shape) && !isEmpty))
    return node.error("cannot reshape " + str(x.shape) + " to " + str(*wanted) +
                      (isOpen
                           ? ": -1 is not a multiple of a size that is known "
                             "only when the model runs"
                           : ": the numbers of elements differ"));
  if (node.opset >= 5 && node.has(1) && !node.input(1).host &&
      failed(requireReshape(node, shape)))
    return failure();
  return node.finish(node.emit.reshape(x, shape));
}

LogicalResult importFlatten(Node &node) {
  const Tensor &x = node.input(0);
  int64_t axis = node.integer("axis", 1);
  if (axis != x.rank())
    axis = node.axis(axis, x.rank());
  if (node.failed())
    return failure();
  ArrayRef<Dim> shape = x.shape;
  return node.finish(node.emit.reshape(
      x, {product(shape.take_front(axis)), product(shape.drop_front(axis))}));
}

/// The axes of Squeeze and Unsqueeze: an attribute, an input since opset 13.
static std::optional<SmallVector<int64_t>> readAxes(Node &node) {
  if (node.opset < 13)
    return node.integers("axes");
  if (!node.has(1))
    return std::nullopt;
  return node.constants(1);
}

/// Whether `shape` without the marked dimensions, all of size 1, is `rest`.
static bool isWithout(ArrayRef<Dim> shape, ArrayRef<bool> marked,
                      const Shape &rest) {
  Shape kept;
  for (auto [dim, isGone] : llvm::zip_equal(shape, marked)) {
    if (isGone && !dim.is(1))
      return false;
    if (!isGone)
      kept.push_back(dim);
  }
  return kept == rest;
}

/// Axes that are known when the model runs: the declared shape says what they
/// make, if they are of it.
static std::optional<Shape> shapeOfUnknownAxes(Node &node) {
  const Shape &from = node.input(0).shape;
  if (node.opset < 13 || !node.has(1) || node.input(1).host)
    return std::nullopt;
  std::optional<Shape> shape = node.declared(0);
  if (!shape)
    return std::nullopt;
  bool isSqueezed = node.op() == "Squeeze";
  const Shape &larger = isSqueezed ? from : *shape;
  const Shape &smaller = isSqueezed ? *shape : from;
  if (failed(requireAxes(node, 1, int64_t(larger.size()),
                         [&](ArrayRef<bool> marked) {
                           return isWithout(larger, marked, smaller);
                         })))
    return std::nullopt;
  return shape;
}

/// A size that is not known stays, which one of 1 would not.
static void requireNotOne(Node &node, Dim dim) {
  LocBuilder &b = node.emit.b;
  Value isOne = compare(b, Order::Equal, node.emit.size(dim), index(b, 1));
  require(node, negation(b, isOne),
          "takes a size that is not known to stay, which is 1");
}

LogicalResult importSqueeze(Node &node) {
  const Tensor &x = node.input(0);
  if (std::optional<Shape> shape = shapeOfUnknownAxes(node))
    return node.finish(node.emit.reshape(x, *shape));
  std::optional<SmallVector<int64_t>> axes = readAxes(node);
  if (node.failed())
    return failure();
  auto gone = llvm::map_to_vector(x.shape, [](Dim dim) { return dim.is(1); });
  if (axes)
    gone = node.axes(*axes, x.rank());
  if (node.failed())
    return failure();
  Shape shape;
  for (auto [i, dim] : llvm::enumerate(x.shape)) {
    if (!gone[i])
      shape.push_back(dim);
    else if (!dim.is(1))
      return node.error("dimension " + Twine(i) + " of " + str(x.shape) +
                        " is not 1 and cannot be removed");
  }
  // What the model declares holds for sizes of 1, too.
  if (!axes && node.declared(0) != shape)
    for (Dim dim : shape)
      if (dim.isDynamic())
        requireNotOne(node, dim);
  return node.finish(node.emit.reshape(x, shape));
}

LogicalResult importUnsqueeze(Node &node) {
  const Tensor &x = node.input(0);
  if (std::optional<Shape> shape = shapeOfUnknownAxes(node))
    return node.finish(node.emit.reshape(x, *shape));
  std::optional<SmallVector<int64_t>> axes = readAxes(node);
  if (node.failed())
    return failure();
  if (!axes)
    return node.error("the axes are missing; expected " +
                      Twine(node.opset < 13 ? "attribute 'axes'" : "input 1"));
  int64_t rank = x.rank() + axes->size();
  if (rank > kMaxRank)
    return node.error("a tensor of " + Twine(rank) +
                      " dimensions; expected at most " + Twine(kMaxRank));
  SmallVector<bool> added = node.axes(*axes, rank);
  if (node.failed())
    return failure();
  Shape shape;
  const Dim *next = x.shape.begin();
  for (bool isNew : added)
    shape.push_back(isNew ? Dim::fixed(1) : *next++);
  return node.finish(node.emit.reshape(x, shape));
}

LogicalResult importTranspose(Node &node) {
  const Tensor &x = node.input(0);
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, x.rank())));
  if (auto given = node.integers("perm"))
    permutation = *given;
  SmallVector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, x.rank())))
    return node.error("attribute 'perm' is not a permutation of the " +
                      Twine(x.rank()) + " dimensions of " + str(x.shape));
  return node.finish(node.emit.transpose(x, permutation));
}

} // namespace numera::importer
