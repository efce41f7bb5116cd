//===- RoiAlign.cpp - Regions of an image, in a fixed number of bins ------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// The positions of the samples of each region are computed first. What the
// samples read is then summed, or its maximum taken, for each bin.
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

namespace {
/// Where a sample is in a dimension: the elements around it and their weights.
struct SamplePosition {
  Value low, high, atLow, atHigh, isOutside;
};

struct Regions {
  Node &node;
  Emitter &emit;
  int64_t height, width, samples;
  double scale;
  bool isHalfPixel, isMaximum;

  LogicalResult check() const;
  std::optional<Tensor> positions(StringRef first, StringRef last,
                                  int64_t bins) const;
  SamplePosition position(LocBuilder &b, Value place, int64_t size) const;
  Value read(LocBuilder &b, Value source, ValueRange channel,
             const SamplePosition &y, const SamplePosition &x) const;
  Tensor bins(const Tensor &ys, const Tensor &xs) const;
};
} // namespace

LogicalResult Regions::check() const {
  const Tensor &x = node.input(0), &boxes = node.input(1);
  if (failed(node.checkFloat(0)) || failed(node.checkFloat(1)) ||
      failed(node.checkRank(0, 4)) || failed(node.checkRank(1, 2)) ||
      failed(node.checkRank(2, 1)))
    return failure();
  if (boxes.dataType != x.dataType)
    return node.error(node.inputName(1) + " has elements of " +
                      dataTypeName(boxes.dataType) + "; expected " +
                      dataTypeName(x.dataType));
  if (node.input(2).dataType != type::Int64)
    return node.error(node.inputName(2) + " has elements of " +
                      dataTypeName(node.input(2).dataType) +
                      "; expected INT64");
  if (!boxes.shape[1].is(4) || node.input(2).shape[0] != boxes.shape[0])
    return node.error("boxes of " + str(boxes.shape) + " in images " +
                      str(node.input(2).shape) +
                      "; expected boxes x 4 and one image for each");
  if (failed(node.checkImageSizes(0)))
    return failure();
  // Their places are constants of the program.
  constexpr int64_t most = 1 << 16;
  if (height < 1 || width < 1 || height > most || width > most)
    return node.error("bins of " + Twine(height) + "x" + Twine(width) +
                      "; expected 1x1 to 65536x65536");
  if (samples > most)
    return node.error("attribute 'sampling_ratio' is " + Twine(samples) +
                      "; expected at most 65536");
  if (samples < 1)
    return node.error("attribute 'sampling_ratio' is " + Twine(samples) +
                      ", with which boxes say how many samples there are; "
                      "expected at least 1");
  return node.checkSize({boxes.shape[0], x.shape[1], Dim::fixed(height),
                         Dim::fixed(width), Dim::fixed(samples),
                         Dim::fixed(samples)});
}

/// The positions of the samples in one dimension: boxes x bins x samples.
std::optional<Tensor> Regions::positions(StringRef first, StringRef last,
                                         int64_t bins) const {
  const Tensor &boxes = node.input(1);
  auto numbers = [&](ArrayRef<double> list, const Shape &shape) {
    return boxes.isDouble()
               ? Tensor::ofDoubles({list.begin(), list.end()}, shape)
               : Tensor::ofFloats({list.begin(), list.end()}, shape);
  };
  SmallVector<double> places, middles;
  for (int64_t i = 0; i < bins; ++i)
    places.push_back(double(i));
  for (int64_t i = 0; i < samples; ++i)
    middles.push_back(double(i) + 0.5);
  Tensor factor = numbers({scale}, {}), half = numbers({0.5}, {}),
         one = numbers({1}, {}), count = numbers({double(bins)}, {}),
         each = numbers({double(samples)}, {});
  Tensor bin = numbers(places, {Dim::fixed(bins), Dim::fixed(1)});
  Tensor middle = numbers(middles, {Dim::fixed(samples)});
  std::string text = "x1, y1, x2, y2 = Split<axis = 1>(boxes, [1, 1, 1, 1])\n"
                     "low = Mul(" +
                     first.str() + ", factor)\nhigh = Mul(" + last.str() +
                     ", factor)\n";
  if (isHalfPixel)
    text += "start = Sub(low, half)\nend = Sub(high, half)\n"
            "length = Sub(end, start)\n";
  else
    text += "start = Identity(low)\nall = Sub(high, low)\n"
            "length = Max(all, one)\n";
  text += "size = Div(length, count)\nsizes = Unsqueeze(size, [2])\n"
          "starts = Unsqueeze(start, [2])\nskipped = Mul(bin, sizes)\n"
          "begin = Add(starts, skipped)\nscaled = Mul(middle, sizes)\n"
          "within = Div(scaled, each)\nplaces = Add(begin, within)\n";
  auto found = node.compute(text,
                            {{"boxes", &boxes},
                             {"factor", &factor},
                             {"half", &half},
                             {"one", &one},
                             {"count", &count},
                             {"each", &each},
                             {"bin", &bin},
                             {"middle", &middle}},
                            {"places"});
  if (!found)
    return std::nullopt;
  return found->front();
}

SamplePosition Regions::position(LocBuilder &b, Value place,
                                 int64_t size) const {
  int64_t element = node.input(0).dataType;
  auto whole = [&](Value x) {
    return toIndex(b, convert(b, x, element, type::Int64));
  };
  Value floor = math::FloorOp::create(b, place);
  Value ceil = math::CeilOp::create(b, place);
  Value isBefore = compare(b, Order::Less, whole(floor), index(b, -1));
  Value isBehind = compare(b, Order::Less, index(b, size), whole(ceil));
  Value zero = constant(b, place.getType(), 0);
  Value inside = max(b, place, zero);
  Value start = max(b, floor, zero);
  Value low = whole(start), last = index(b, size - 1);
  Value isLast = compare(b, Order::LessOrEqual, last, low);
  low = select(b, isLast, last, low);
  Value high = select(b, isLast, last, add(b, low, index(b, 1)));
  Value atHigh = select(b, isLast, zero, sub(b, inside, start));
  Value atLow = sub(b, constant(b, place.getType(), 1), atHigh);
  return {low, high, atLow, atHigh, either(b, isBefore, isBehind)};
}

/// What a sample reads: 0 if it is outside of the image.
Value Regions::read(LocBuilder &b, Value source, ValueRange channel,
                    const SamplePosition &y, const SamplePosition &x) const {
  auto term = [&](Value row, Value atRow, Value column, Value atColumn) {
    SmallVector<Value> from(channel);
    from.append({row, column});
    return mul(b, mul(b, atRow, atColumn), Emitter::at(b, source, from));
  };
  Value terms[] = {term(y.low, y.atLow, x.low, x.atLow),
                   term(y.low, y.atLow, x.high, x.atHigh),
                   term(y.high, y.atHigh, x.low, x.atLow),
                   term(y.high, y.atHigh, x.high, x.atHigh)};
  Value all = terms[0];
  for (Value next : ArrayRef(terms).drop_front())
    all = isMaximum ? max(b, all, next) : add(b, all, next);
  return select(b, either(b, y.isOutside, x.isOutside),
                constant(b, all.getType(), 0), all);
}

Tensor Regions::bins(const Tensor &ys, const Tensor &xs) const {
  const Tensor &x = node.input(0);
  Dim each = Dim::fixed(samples);
  Shape shape = {ys.shape[0],       x.shape[1], Dim::fixed(height),
                 Dim::fixed(width), each,       each};
  Value source = emit.value(x), images = emit.value(node.input(2));
  Value rows = emit.value(ys), columns = emit.value(xs);
  Dim batch = x.shape[0];
  Value count = batch.isDynamic() ? emit.size(batch) : Value();
  Tensor read =
      emit.generate(shape, x.dataType, [&](LocBuilder &b, ValueRange at) {
        Value image = toIndex(b, Emitter::at(b, images, at[0]));
        image = clampIndex(b, image, count ? count : index(b, batch.count));
        SamplePosition y = position(
            b, Emitter::at(b, rows, {at[0], at[2], at[4]}), x.shape[2].count);
        SamplePosition place =
            position(b, Emitter::at(b, columns, {at[0], at[3], at[5]}),
                     x.shape[3].count);
        return this->read(b, source, {image, at[1]}, y, place);
      });
  SmallVector<bool> reduced = {false, false, false, false, true, true};
  if (isMaximum)
    return emit.maximum(read, reduced);
  Tensor sums = emit.sum(read, reduced);
  Tensor divisor = x.isDouble()
                       ? Tensor::ofDoubles({double(samples * samples)}, {})
                       : Tensor::ofFloats({float(samples * samples)}, {});
  return emit.map(
      {&sums, &divisor}, sums.shape,
      [](LocBuilder &b, ValueRange args) { return div(b, args[0], args[1]); });
}

LogicalResult importRoiAlign(Node &node) {
  std::string mode = node.text("mode", "avg");
  // Before opset 16, boxes were not moved by half an element.
  std::string place =
      node.text("coordinate_transformation_mode",
                node.opset < 16 ? "output_half_pixel" : "half_pixel");
  Regions regions{node,
                  node.emit,
                  node.integer("output_height", 1),
                  node.integer("output_width", 1),
                  node.integer("sampling_ratio", 0),
                  node.real("spatial_scale", 1.0f),
                  place == "half_pixel",
                  mode == "max"};
  if (node.failed())
    return failure();
  if (mode != "avg" && mode != "max")
    return node.error("attribute 'mode' is " + quote(mode) +
                      "; expected avg or max");
  if (place != "half_pixel" && place != "output_half_pixel")
    return node.error("attribute 'coordinate_transformation_mode' is " +
                      quote(place) +
                      "; expected half_pixel or output_half_pixel");
  if (failed(regions.check()))
    return failure();
  auto ys = regions.positions("y1", "y2", regions.height);
  auto xs = regions.positions("x1", "x2", regions.width);
  if (!ys || !xs)
    return failure();
  return node.finish(regions.bins(*ys, *xs));
}

} // namespace numera::importer
