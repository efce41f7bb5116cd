//===- DeformConv.cpp - Convolutions of elements that are displaced -------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// The elements that the taps read are interpolated first, between the elements
// around their positions. The rest is a product of matrices for each group.
//
//===----------------------------------------------------------------------===//
#include "Convolution.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

namespace {
/// Where a tap is in a dimension: the element before it, and the weights of
/// that element and of the next one.
struct TapPosition {
  Value low;
  Value weights[2];
};

struct Deformed {
  Node &node;
  Emitter &emit;
  int64_t groups, offsetGroups;
  Window window = {};

  LogicalResult read();
  LogicalResult checkTaps(unsigned i, int64_t numbers) const;
  Value interpolate(LocBuilder &b, Value source, ValueRange channel,
                    ArrayRef<TapPosition> positions) const;
  Tensor sample() const;
  int64_t taps() const { return product(fixedShape(window.kernel)).count; }
};
} // namespace

LogicalResult Deformed::read() {
  const Shape &x = node.input(0).shape, &w = node.input(1).shape;
  if (x.size() < 3 || x.size() > 5)
    return node.error(node.inputName(0) + " has shape " + str(x) +
                      "; expected batch, channels and 1 to 3 dimensions");
  if (failed(node.checkRank(1, x.size())) ||
      failed(node.checkRank(2, x.size())))
    return failure();
  for (unsigned i = 1; i < node.numInputs(); ++i)
    if (node.has(i) && node.input(i).dataType != node.input(0).dataType)
      return node.error(node.inputName(i) + " has elements of " +
                        dataTypeName(node.input(i).dataType) + "; expected " +
                        dataTypeName(node.input(0).dataType));
  bool isOpen = x[1].isDynamic() ||
                llvm::any_of(w, [](Dim dim) { return dim.isDynamic(); });
  auto divides = [](int64_t part, int64_t whole) {
    return part >= 1 && whole % part == 0;
  };
  if (isOpen || !divides(groups, x[1].count) || !divides(groups, w[0].count) ||
      !divides(offsetGroups, x[1].count) || w[1].count * groups != x[1].count)
    return node.error("image " + str(x) + " and weights " + str(w) + " in " +
                      Twine(groups) + " groups and " + Twine(offsetGroups) +
                      " groups of offsets");
  for (Dim dim : ArrayRef(w).drop_front(2))
    window.kernel.push_back(dim.count);
  auto kernel = node.integers("kernel_shape");
  if (kernel && *kernel != window.kernel)
    return node.error("attribute 'kernel_shape' is " +
                      str(fixedShape(*kernel)) + "; the weights have " +
                      str(ArrayRef(w).drop_front(2)));
  if (node.failed() || product(w).count == 0)
    return node.error("weights of " + str(w) + "; expected elements");
  if (failed(window.read(node, /*ceil=*/false)) ||
      failed(checkTaps(2, int64_t(window.rank()))))
    return failure();
  if (node.has(3) && node.input(3).shape != Shape{w[0]})
    return node.error(node.inputName(3) + " has shape " +
                      str(node.input(3).shape) + "; expected " + str({w[0]}));
  return node.has(4) ? checkTaps(4, 1) : success();
}

/// That input i has `numbers` for each tap, at each place of the result.
LogicalResult Deformed::checkTaps(unsigned i, int64_t numbers) const {
  Shape expected = {node.input(0).shape[0],
                    Dim::fixed(offsetGroups * taps() * numbers)};
  llvm::append_range(expected, fixedShape(window.output));
  if (node.input(i).shape == expected)
    return success();
  return node.error(node.inputName(i) + " has shape " +
                    str(node.input(i).shape) + "; expected " + str(expected));
}

/// The sum of the elements around a position, each times its weight; those
/// outside of the image do not count.
Value Deformed::interpolate(LocBuilder &b, Value source, ValueRange channel,
                            ArrayRef<TapPosition> positions) const {
  Value sum;
  size_t rank = positions.size();
  for (unsigned corner = 0; corner < (1u << rank); ++corner) {
    SmallVector<Value> from(channel);
    Value weight, isInside = constant(b, b.getI1Type(), 1);
    for (auto [i, position] : llvm::enumerate(positions)) {
      unsigned side = corner >> (rank - 1 - i) & 1;
      Value size = index(b, window.input[i]);
      Value place = add(b, position.low, index(b, side));
      isInside =
          both(b, isInside,
               both(b, compare(b, Order::LessOrEqual, index(b, 0), place),
                    compare(b, Order::Less, place, size)));
      from.push_back(clampIndex(b, place, size));
      Value factor = position.weights[side];
      weight = weight ? mul(b, weight, factor) : factor;
    }
    Value term = mul(b, weight, Emitter::at(b, source, from));
    term = select(b, isInside, term, constant(b, term.getType(), 0));
    sum = sum ? add(b, sum, term) : term;
  }
  return sum;
}

/// What each tap reads: batch x channels x kernel x places.
Tensor Deformed::sample() const {
  const Tensor &x = node.input(0);
  size_t rank = window.rank();
  Shape shape = {x.shape[0], x.shape[1]};
  llvm::append_range(shape, fixedShape(window.kernel));
  llvm::append_range(shape, fixedShape(window.output));
  Value source = emit.value(x), offsets = emit.value(node.input(2));
  Value masks = node.has(4) ? emit.value(node.input(4)) : Value();
  return emit.generate(shape, x.dataType, [&](LocBuilder &b, ValueRange at) {
    Value channels = index(b, x.shape[1].count / offsetGroups);
    Value tap = div(b, at[1], channels);
    for (size_t i = 0; i < rank; ++i)
      tap = add(b, mul(b, tap, index(b, window.kernel[i])), at[2 + i]);
    ValueRange places = at.drop_front(2 + rank);
    auto given = [&](Value tensor, Value which) {
      SmallVector<Value> from = {at[0], which};
      llvm::append_range(from, places);
      return Emitter::at(b, tensor, from);
    };
    SmallVector<TapPosition> positions;
    for (size_t i = 0; i < rank; ++i) {
      Value start = sub(b, mul(b, places[i], index(b, window.strides[i])),
                        index(b, window.low[i]));
      Value base =
          add(b, start, mul(b, at[2 + i], index(b, window.dilations[i])));
      Value which =
          add(b, mul(b, tap, index(b, int64_t(rank))), index(b, int64_t(i)));
      Value offset = given(offsets, which);
      Type element = offset.getType();
      Value position = add(b, fromIndex(b, base, element), offset);
      Value whole = math::FloorOp::create(b, position);
      Value rest = sub(b, position, whole);
      // Beyond all integers is outside, too.
      Value low = toIndex(b, convert(b, whole, x.dataType, type::Int64));
      positions.push_back({low, {sub(b, constant(b, element, 1), rest), rest}});
    }
    Value read = interpolate(b, source, at.take_front(2), positions);
    return masks ? mul(b, read, given(masks, tap)) : read;
  });
}

LogicalResult importDeformConv(Node &node) {
  Deformed deformed{node, node.emit, node.integer("group", 1),
                    node.integer("offset_group", 1)};
  if (node.failed() || failed(deformed.read()))
    return failure();
  const Tensor &w = node.input(1);
  int64_t groups = deformed.groups;
  Dim batch = node.input(0).shape[0], group = Dim::fixed(groups);
  Dim terms = Dim::fixed(w.shape[1].count * deformed.taps());
  Dim places = product(fixedShape(deformed.window.output));
  Dim each = Dim::fixed(w.shape[0].count / groups);
  Shape shape = {batch, w.shape[0]};
  llvm::append_range(shape, fixedShape(deformed.window.output));
  Shape columns = {batch, group, terms, places};
  if (failed(node.checkSize(shape)) || failed(node.checkSize(columns)))
    return failure();
  Emitter &emit = node.emit;
  Tensor read = emit.reshape(deformed.sample(), columns);
  Tensor rows = emit.reshape(w, {group, each, terms});
  auto sums =
      node.compute("y = MatMul(w, x)\n", {{"w", &rows}, {"x", &read}}, {"y"});
  if (!sums)
    return failure();
  Tensor y = emit.reshape(sums->front(), shape);
  return node.finish(node.has(3) ? addBias(emit, y, node.input(3)) : y);
}

} // namespace numera::importer
