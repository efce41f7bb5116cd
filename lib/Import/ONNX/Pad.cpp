//===- Pad.cpp - Pad, CenterCropPad ---------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

/// The amounts that Pad adds: low and high of every dimension.
static LogicalResult readPads(Node &node, int64_t rank,
                              SmallVector<int64_t> &low,
                              SmallVector<int64_t> &high) {
  std::optional<SmallVector<int64_t>> pads, axes;
  if (node.opset < 11)
    pads = node.integers(node.opset < 2 ? "paddings" : "pads");
  else if (node.has(1))
    pads = node.constants(1);
  if (node.has(3))
    axes = node.constants(3);
  if (node.failed())
    return failure();
  if (!pads)
    return node.error("the amounts of padding are missing");
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  (void)node.axes(*axes, rank);
  if (node.failed())
    return failure();
  if (pads->size() != 2 * axes->size())
    return node.error(Twine(pads->size()) + " amounts of padding; expected " +
                      Twine(2 * axes->size()) + ", two for each dimension");
  low.assign(rank, 0);
  high.assign(rank, 0);
  for (auto [i, amount] : llvm::enumerate(*pads)) {
    if (std::abs(amount) > kMaxElements)
      return node.error("padding of " + Twine(amount) +
                        "; expected at most 2^40 in magnitude");
    int64_t axis = node.axis((*axes)[i % axes->size()], rank);
    (i < axes->size() ? low : high)[axis] = amount;
  }
  return success();
}

/// Where an element of the result comes from, in each dimension: beyond the
/// tensor as the mode says.
static Value comesFrom(LocBuilder &b, StringRef mode, Value place,
                       int64_t size) {
  Value zero = index(b, 0), count = index(b, size), last = index(b, size - 1);
  if (mode == "edge")
    return clampIndex(b, place, count);
  if (mode == "wrap") {
    Value left = rem(b, place, count);
    return select(b, compare(b, Order::Less, left, zero), add(b, left, count),
                  left);
  }
  // reflect: the period is twice the distance between the ends.
  if (size == 1)
    return zero;
  Value period = index(b, 2 * (size - 1));
  Value left = rem(b, place, period);
  left = select(b, compare(b, Order::Less, left, zero), add(b, left, period),
                left);
  return select(b, compare(b, Order::Less, last, left), sub(b, period, left),
                left);
}

/// The amounts before and behind each dimension as indices, where some are
/// known only when the model runs, and the sizes that the model declares.
static LogicalResult computePads(Node &node, const Shape &shape,
                                 SmallVector<Value> &low) {
  LocBuilder &b = node.emit.b;
  const Tensor &x = node.input(0);
  List pads(node, 1), axes(node, 3);
  if (node.failed())
    return failure();
  int64_t rank = x.rank(), count = node.has(3) ? axes.size() : rank;
  if (pads.size() != 2 * count || count > rank)
    return node.error(Twine(pads.size()) + " amounts of padding; expected " +
                      Twine(2 * count) + ", two for each dimension");
  Value zero = index(b, 0);
  SmallVector<Value> high(rank, zero), times(rank, zero);
  low.assign(rank, zero);
  for (int64_t i = 0; i < count; ++i) {
    Value axis = node.has(3) ? axes.index(b, i) : index(b, i);
    axis = select(b, compare(b, Order::Less, axis, zero),
                  add(b, axis, index(b, rank)), axis);
    Value isAny = constant(b, b.getI1Type(), 0);
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value isThis = compare(b, Order::Equal, axis, index(b, dim));
      auto set = [&](Value &old, Value now) {
        old = select(b, isThis, now, old);
      };
      set(low[dim], pads.index(b, i));
      set(high[dim], pads.index(b, count + i));
      set(times[dim], add(b, times[dim], index(b, 1)));
      isAny = either(b, isAny, isThis);
    }
    require(node, isAny, "pads an axis that is out of range");
  }
  for (auto [dim, from, to] : llvm::enumerate(x.shape, shape)) {
    require(node, compare(b, Order::Less, times[dim], index(b, 2)),
            "pads an axis twice");
    Value size = node.emit.extent(from);
    Value padded = add(b, size, add(b, low[dim], high[dim]));
    requireSize(node, padded, to);
  }
  return success();
}

/// Amounts or a number that are known when the model runs: each element is
/// looked up.
static LogicalResult padAtRunTime(Node &node, StringRef mode,
                                  const Shape &shape, ArrayRef<Value> low) {
  Emitter &emit = node.emit;
  const Tensor &x = node.input(0);
  for (auto [from, to] : llvm::zip_equal(x.shape, shape))
    if (from.is(0) && !to.is(0) && mode != "constant")
      return node.error("mode " + quote(mode) + " of an empty dimension");
  if (x.isEmpty() && mode == "constant" && node.has(2))
    return node.finish(emit.expand(emit.reshape(node.input(2), {}), shape));
  Value source = emit.value(x);
  Value number = node.has(2) && !node.input(2).isEmpty()
                     ? emit.value(emit.reshape(node.input(2), {}))
                     : Value();
  return node.finish(emit.generate(
      shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from(at);
        Value inside = constant(b, b.getI1Type(), 1);
        for (auto [dim, size] : llvm::enumerate(x.shape)) {
          if (size.isDynamic())
            continue;
          Value place = sub(b, at[dim], low[dim]);
          if (mode != "constant") {
            from[dim] = comesFrom(b, mode, place, size.count);
            continue;
          }
          from[dim] = clampIndex(b, place, index(b, size.count));
          inside = both(b, inside, compare(b, Order::Equal, from[dim], place));
        }
        Value element = Emitter::at(b, source, from);
        Value outside = number ? Emitter::at(b, number, ValueRange())
                               : constant(b, element.getType(), 0);
        return select(b, inside, element, outside);
      }));
}

/// Cuts off what negative amounts say.
static Tensor crop(Node &node, const Tensor &x, SmallVector<int64_t> &low,
                   SmallVector<int64_t> &high) {
  Shape shape = x.shape;
  SmallVector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  for (auto [i, dim] : llvm::enumerate(shape)) {
    starts[i] = std::max<int64_t>(0, -low[i]);
    dim.count -= starts[i] + std::max<int64_t>(0, -high[i]);
    low[i] = std::max<int64_t>(0, low[i]);
    high[i] = std::max<int64_t>(0, high[i]);
  }
  if (shape == x.shape || !elementCount(shape))
    return x;
  return node.emit.slice(x, shape, starts, steps);
}

LogicalResult importPad(Node &node) {
  Tensor x = node.input(0);
  std::string mode = node.text("mode", "constant");
  if (!llvm::is_contained({"constant", "reflect", "edge", "wrap"},
                          StringRef(mode)))
    return node.error("mode " + quote(mode) +
                      " is not supported; expected 'constant', 'reflect', "
                      "'edge' or 'wrap'");
  bool isComputed = node.opset >= 11 && node.has(1) && !node.input(1).host;
  if (isComputed || (node.has(3) && !node.input(3).host)) {
    std::optional<Shape> shape = node.declared(0);
    if (!shape || int64_t(shape->size()) != x.rank())
      return node.error("pads by amounts that are computed when the model runs "
                        "to a size that the model does not declare");
    SmallVector<Value> low;
    if (failed(computePads(node, *shape, low)))
      return failure();
    return padAtRunTime(node, mode, *shape, low);
  }
  SmallVector<int64_t> low, high;
  if (failed(readPads(node, x.rank(), low, high)))
    return failure();
  TypedAttr number = node.emit.number(0, x.dataType);
  if (node.opset < 11)
    number = node.emit.number(node.real("value", 0.0f), x.dataType);
  else if (node.has(2) && !node.input(2).isEmpty())
    number = node.input(2).scalarAttr(node.emit.b.getContext());
  Shape padded = x.shape;
  for (auto [i, dim] : llvm::enumerate(padded)) {
    if (dim.isDynamic() && (low[i] != 0 || high[i] != 0))
      return node.error("pads a size that is not known, dimension " + Twine(i) +
                        " of " + str(x.shape));
    dim.count += low[i] + high[i];
  }
  if (failed(node.checkSize(padded)))
    return failure();
  if (mode == "constant" && !number)
    return padAtRunTime(node, mode, padded,
                        llvm::map_to_vector(low, [&](int64_t amount) -> Value {
                          return index(node.emit.b, amount);
                        }));
  if (mode == "constant") {
    x = crop(node, x, low, high);
    return node.finish(node.emit.pad(x, low, high, number));
  }
  for (auto [dim, before, after] : llvm::zip_equal(x.shape, low, high))
    if (dim.is(0) && before + after != 0)
      return node.error("mode " + quote(mode) + " of an empty dimension");
  Value source = node.emit.value(x);
  return node.finish(node.emit.generate(
      padded, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from(at);
        for (auto [i, dim] : llvm::enumerate(x.shape))
          if (low[i] != 0 || high[i] != 0)
            from[i] =
                comesFrom(b, mode, sub(b, at[i], index(b, low[i])), dim.count);
        return Emitter::at(b, source, from);
      }));
}

/// Crops or pads around the middle.
LogicalResult importCenterCropPad(Node &node) {
  Tensor x = node.input(0);
  std::optional<SmallVector<int64_t>> axes = node.integers("axes");
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  (void)node.axes(*axes, x.rank());
  if (node.failed())
    return failure();
  Shape target = x.shape;
  if (!node.input(1).host && node.declared(0) &&
      int64_t(node.declared(0)->size()) == x.rank()) {
    target = *node.declared(0);
    Shape listed;
    for (int64_t axis : *axes)
      listed.push_back(target[node.axis(axis, x.rank())]);
    if (failed(requireSizes(node, 1, listed)))
      return failure();
  } else {
    std::optional<SmallVector<int64_t>> sizes = node.constants(1);
    if (!sizes)
      return failure();
    if (sizes->size() != axes->size())
      return node.error(Twine(sizes->size()) + " sizes for " +
                        Twine(axes->size()) + " axes");
    for (auto [axis, size] : llvm::zip_equal(*axes, *sizes))
      target[node.axis(axis, x.rank())] = Dim::fixed(size);
  }
  SmallVector<int64_t> low, high;
  for (auto [from, to] : llvm::zip_equal(x.shape, target)) {
    int64_t missing = to.count - from.count;
    // The odd element is behind where the tensor is padded, and before the
    // middle where it is cropped.
    int64_t before = missing >= 0 ? missing / 2 : -(-missing / 2);
    low.push_back(before);
    high.push_back(missing - before);
  }
  x = crop(node, x, low, high);
  return node.finish(
      node.emit.pad(x, low, high, node.emit.number(0, x.dataType)));
}

} // namespace numera::importer
