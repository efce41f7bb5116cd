//===- ResizeAtRunTime.cpp - Resize by computed scales --------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// What Resize.cpp computes when the model is imported, the program computes
// here, in f64, as tables of neighbours and their weights.
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Resize.h"
#include "Scalar.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

static Value floor(LocBuilder &b, Value x) {
  return math::FloorOp::create(b, x);
}

Value Resizing::source(LocBuilder &b, Value i, const Side &side) const {
  Value x = fromIndex(b, i, b.getF64Type());
  double last = double(side.size - 1), steps = double(side.result - 1);
  if (place == "align_corners")
    return side.result == 1 ? real(b, 0)
                            : div(b, mul(b, x, real(b, last)), real(b, steps));
  if (place == "asymmetric")
    return div(b, x, side.scale);
  if (place == "tf_half_pixel_for_nn")
    return div(b, add(b, x, real(b, 0.5)), side.scale);
  if (crops()) {
    if (side.result <= 1)
      return mul(b, mul(b, real(b, 0.5), add(b, side.start, side.end)),
                 real(b, last));
    Value length = mul(b, sub(b, side.end, side.start), real(b, last));
    return add(b, mul(b, side.start, real(b, last)),
               div(b, mul(b, x, length), real(b, steps)));
  }
  if (place == "pytorch_half_pixel" && side.result <= 1)
    return real(b, 0);
  Value centre =
      sub(b, div(b, add(b, x, real(b, 0.5)), side.scale), real(b, 0.5));
  if (place != "half_pixel_symmetric")
    return centre;
  Value whole = mul(b, side.scale, real(b, double(side.size)));
  Value adjustment = div(b, real(b, double(side.result)), whole);
  Value offset =
      mul(b, real(b, double(side.size) / 2), sub(b, real(b, 1), adjustment));
  return add(b, offset, centre);
}

Value Resizing::nearestOf(LocBuilder &b, Value x) const {
  if (nearest == "floor")
    return floor(b, x);
  if (nearest == "ceil")
    return math::CeilOp::create(b, x);
  if (nearest == "round_prefer_ceil")
    return floor(b, add(b, x, real(b, 0.5)));
  return math::CeilOp::create(b, sub(b, x, real(b, 0.5)));
}

Value Resizing::weightOf(LocBuilder &b, Value d) const {
  Value one = real(b, 1);
  if (!isCubic())
    return max(b, real(b, 0), sub(b, one, d));
  auto polynomial = [&](double c3, double c2, double c1, double c0) {
    Value sum = real(b, c3);
    for (double next : {c2, c1, c0})
      sum = add(b, mul(b, sum, d), real(b, next));
    return sum;
  };
  Value near = polynomial(cubic + 2, -(cubic + 3), 0, 1);
  Value far = polynomial(cubic, -5 * cubic, 8 * cubic, -4 * cubic);
  Value beyond =
      select(b, compare(b, Order::Less, d, real(b, 2)), far, real(b, 0));
  return select(b, compare(b, Order::LessOrEqual, d, one), near, beyond);
}

Tensor Resizing::along(const Tensor &x, int64_t axis, const Side &side) const {
  Emitter &emit = node.emit;
  Type i64 = emit.b.getI64Type();
  Value size = index(emit.b, side.size);
  bool isNearest = mode == "nearest";
  // Where it shrinks, an antialiasing kernel is as wide as the step. The least
  // scale that gives the result is half an element short of it.
  double least = std::min(1.0, (double(side.result) - 0.5) / double(side.size));
  double reach = isCubic() ? 2 : 1;
  int64_t count = isNearest ? 1 : 2 * int64_t(reach);
  if (antialiases && !isNearest)
    count = int64_t(std::ceil(2 * reach / least)) + 1;
  Value width =
      antialiases ? min(emit.b, side.scale, real(emit.b, 1)) : real(emit.b, 1);
  auto neighbour = [&](LocBuilder &b, Value at, Value tap) {
    Value first;
    if (isNearest)
      return nearestOf(b, at);
    if (antialiases)
      first = add(b, floor(b, sub(b, at, div(b, real(b, reach), width))),
                  real(b, 1));
    else
      first = sub(b, floor(b, at), real(b, isCubic() ? 1 : 0));
    return add(b, first, fromIndex(b, tap, b.getF64Type()));
  };
  Shape row = fixedShape({side.result}),
        table = fixedShape({side.result, count});
  Tensor from =
      emit.generate(table, type::Int64, [&](LocBuilder &b, ValueRange at) {
        Value place = neighbour(b, source(b, at[0], side), at[1]);
        // A NaN is 0.
        Value nearest = clampIndex(b, toIndex(b, place), size);
        return fromIndex(b, nearest, i64);
      });
  std::optional<Tensor> flags, weights;
  if (crops())
    flags = emit.generate(row, type::Bool, [&](LocBuilder &b, ValueRange at) {
      Value place = source(b, at[0], side);
      return either(
          b, compare(b, Order::Less, place, real(b, 0)),
          compare(b, Order::Less, real(b, double(side.size - 1)), place));
    });
  if (!isNearest) {
    weights =
        emit.generate(table, type::Double, [&](LocBuilder &b, ValueRange at) {
          Value place = source(b, at[0], side);
          Value tap = neighbour(b, place, at[1]);
          Value distance = math::AbsFOp::create(b, sub(b, place, tap));
          Value weight = weightOf(b, mul(b, distance, width));
          if (!excludesOutside)
            return weight;
          Value isInside =
              both(b, compare(b, Order::LessOrEqual, real(b, 0), tap),
                   compare(b, Order::LessOrEqual, tap,
                           real(b, double(side.size - 1))));
          return select(b, isInside, weight, real(b, 0));
        });
    if (excludesOutside || antialiases) {
      Tensor sums = emit.sum(*weights, {false, true});
      weights = emit.mapAlong(
          {{&*weights, {0, 1}}, {&sums, {0}}}, table,
          [](LocBuilder &b, ValueRange args) {
            Value isZero = compare(b, Order::Equal, args[1], real(b, 0));
            return select(b, isZero, args[0], div(b, args[0], args[1]));
          });
    }
    weights = convertTo(emit, *weights, x.dataType);
  }
  return apply(x, axis, side.result, from, weights ? &*weights : nullptr,
               flags ? &*flags : nullptr);
}

std::optional<Tensor>
Resizing::atRunTime(const Tensor &x, ArrayRef<int64_t> axes,
                    const List &regions, const List &scales, const List &sizes,
                    StringRef policy, const Shape &shape) const {
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  int64_t count = int64_t(axes.size());
  if (scales.size() != (sizes.size() == 0 ? count : 0) ||
      (sizes.size() != 0 && sizes.size() != count) ||
      (crops() && regions.size() != 2 * count)) {
    (void)node.error(Twine(scales.size()) + " scales, " + Twine(sizes.size()) +
                     " sizes and " + Twine(regions.size()) +
                     " ends of regions for " + Twine(count) + " axes");
    return std::nullopt;
  }
  SmallVector<bool> isListed(x.rank(), false);
  for (int64_t axis : axes)
    isListed[node.axis(axis, x.rank())] = true;
  for (auto [from, to, listed] : llvm::zip_equal(x.shape, shape, isListed))
    if ((from != to && (!listed || from.isDynamic() || to.isDynamic())) ||
        (from.is(0) && !to.is(0))) {
      (void)node.error("resizes " + str(x.shape) + " to " + str(shape) +
                       ", which the model declares");
      return std::nullopt;
    }
  auto sizeOf = [&](int64_t axis) {
    return x.shape[node.axis(axis, x.rank())];
  };
  // One scale for all, if the aspect stays.
  Value common;
  for (int64_t i = 0; sizes.size() != 0 && policy != "stretch" && i < count;
       ++i) {
    Value scale =
        div(b, sizes.real(b, i), real(b, double(sizeOf(axes[i]).count)));
    common = !common                   ? scale
             : policy == "not_smaller" ? max(b, common, scale)
                                       : min(b, common, scale);
  }
  Tensor current = x;
  for (int64_t i = 0; i < count; ++i) {
    int64_t axis = node.axis(axes[i], x.rank());
    Dim size = x.shape[axis], result = shape[axis];
    Value one = real(b, 1);
    if (size.isDynamic()) {
      Value scale = scales.size() ? scales.real(b, i) : common;
      if (!scale)
        require(node,
                compare(b, Order::Equal, sizes.index(b, i), emit.size(size)),
                "resizes the batch");
      else
        require(node, compare(b, Order::Equal, scale, one),
                "resizes the batch");
      continue;
    }
    if (result.is(0))
      continue;
    Value length = real(b, double(size.count)), scale;
    if (scales.size()) {
      scale = scales.real(b, i);
      requireSize(node, toIndex(b, floor(b, mul(b, length, scale))), result);
    } else if (common) {
      scale = common;
      Value rounded = floor(b, add(b, mul(b, common, length), real(b, 0.5)));
      requireSize(node, toIndex(b, rounded), result);
    } else {
      scale = real(b, double(result.count) / double(size.count));
      requireSize(node, sizes.index(b, i), result);
    }
    Side side{size.count, result.count, scale,
              crops() ? regions.real(b, i) : real(b, 0),
              crops() ? regions.real(b, count + i) : one};
    bool isWhole = size == result && !scales.size() && !common && !crops();
    if (isWhole)
      continue;
    if (failed(node.checkFoldable({result})))
      return std::nullopt;
    Tensor resized = along(current, axis, side);
    if (size != result) {
      current = resized;
      continue;
    }
    // What is not resized has the same bits.
    Value isSame = compare(b, Order::Equal, scale, one);
    if (crops())
      isSame = both(b, isSame,
                    both(b, compare(b, Order::Equal, side.start, real(b, 0)),
                         compare(b, Order::Equal, side.end, one)));
    current = emit.map({&current, &resized}, current.shape,
                       [&](LocBuilder &b, ValueRange args) {
                         return select(b, isSame, args[0], args[1]);
                       });
  }
  return current;
}

} // namespace numera::importer
