//===- MaxRoiPool.cpp - The maxima of regions of an image -----------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Where each bin of each region begins and ends is computed first, by operators
// of ONNX. A bin's maximum goes through all elements of its image and takes
// those that are in it.
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

/// The ends of bins along a dimension of `size` elements: two tensors of
/// regions x bins.
static std::optional<SmallVector<Tensor>> binsAlong(Node &node, StringRef first,
                                                    StringRef last,
                                                    int64_t bins, int64_t size,
                                                    float scale) {
  const Tensor &regions = node.input(1);
  std::vector<float> places;
  for (int64_t i = 0; i <= bins; ++i)
    places.push_back(float(i));
  auto number = [](float value) { return Tensor::ofFloats({value}, {}); };
  Tensor factor = number(scale), one = number(1), zero = number(0),
         half = number(0.5f), count = number(float(bins)),
         most = number(float(size));
  Tensor low =
      Tensor::ofFloats({places.begin(), places.end() - 1}, {Dim::fixed(bins)});
  Tensor high =
      Tensor::ofFloats({places.begin() + 1, places.end()}, {Dim::fixed(bins)});
  // Halves go up, as those of C's round do from 0 on.
  std::string text =
      "image, x1, y1, x2, y2 = Split<axis = 1>(regions, [1, 1, 1, 1, 1])\n"
      "from = Mul(" +
      first.str() + ", factor)\nto = Mul(" + last.str() +
      ", factor)\n"
      "from_half = Add(from, half)\nstart = Floor(from_half)\n"
      "to_half = Add(to, half)\nend = Floor(to_half)\n"
      "reach = Sub(end, start)\nelements = Add(reach, one)\n"
      "length = Max(elements, one)\nbin = Div(length, count)\n"
      "low_part = Mul(low, bin)\nlow_whole = Floor(low_part)\n"
      "low_place = Add(low_whole, start)\n"
      "high_part = Mul(high, bin)\nhigh_whole = Ceil(high_part)\n"
      "high_place = Add(high_whole, start)\n"
      "begins = Clip(low_place, zero, most)\n"
      "ends = Clip(high_place, zero, most)\n";
  return node.compute(text,
                      {{"regions", &regions},
                       {"factor", &factor},
                       {"half", &half},
                       {"one", &one},
                       {"zero", &zero},
                       {"count", &count},
                       {"most", &most},
                       {"low", &low},
                       {"high", &high}},
                      {"begins", "ends"});
}

static LogicalResult checkRegions(Node &node, ArrayRef<int64_t> bins) {
  const Tensor &x = node.input(0), &regions = node.input(1);
  if (failed(node.checkFloat(0)) || failed(node.checkFloat(1)) ||
      failed(node.checkRank(0, 4)) || failed(node.checkRank(1, 2)))
    return failure();
  if (x.isDouble() || regions.isDouble())
    return node.error("has elements of DOUBLE; expected FLOAT or FLOAT16");
  if (!regions.shape[1].is(5))
    return node.error(node.inputName(1) + " has shape " + str(regions.shape) +
                      "; expected regions x 5: the image, x1, y1, x2, y2");
  if (failed(node.checkImageSizes(0)))
    return failure();
  constexpr int64_t most = 1 << 16;
  if (bins.size() != 2 || llvm::any_of(bins, [](int64_t count) {
        return count < 1 || count > most;
      }))
    return node.error("attribute 'pooled_shape' is " + str(fixedShape(bins)) +
                      "; expected 1x1 to 65536x65536");
  return node.checkSize({regions.shape[0], x.shape[1], Dim::fixed(bins[0]),
                         Dim::fixed(bins[1]), x.shape[2], x.shape[3]});
}

LogicalResult importMaxRoiPool(Node &node) {
  SmallVector<int64_t> bins =
      node.integers("pooled_shape").value_or(SmallVector<int64_t>());
  float scale = node.real("spatial_scale", 1.0f);
  if (node.failed() || failed(checkRegions(node, bins)))
    return failure();
  const Tensor &x = node.input(0), &regions = node.input(1);
  auto rows = binsAlong(node, "y1", "y2", bins[0], x.shape[2].count, scale);
  auto columns = binsAlong(node, "x1", "x2", bins[1], x.shape[3].count, scale);
  if (!rows || !columns)
    return failure();
  Emitter &emit = node.emit;
  Value source = emit.value(x), images = emit.value(regions);
  Value ends[] = {emit.value((*rows)[0]), emit.value((*rows)[1]),
                  emit.value((*columns)[0]), emit.value((*columns)[1])};
  Dim batch = x.shape[0];
  Value count = batch.isDynamic() ? emit.size(batch) : Value();
  Shape shape = {regions.shape[0], x.shape[1], Dim::fixed(bins[0]),
                 Dim::fixed(bins[1])};
  auto whole = [&](LocBuilder &b, Value number) {
    return toIndex(b, convert(b, number, type::Float, type::Int64));
  };
  Tensor maxima = emit.generateReduced(
      shape, {x.shape[2].count, x.shape[3].count},
      emit.number(-INFINITY, x.dataType), x.dataType,
      [&](LocBuilder &b, ValueRange at) -> Value {
        // Region, channel, bin and bin; row and column; the maximum so far.
        auto isIn = [&](Value place, Value bin, unsigned first) {
          Value begin = whole(b, Emitter::at(b, ends[first], {at[0], bin}));
          Value end = whole(b, Emitter::at(b, ends[first + 1], {at[0], bin}));
          return both(b, compare(b, Order::LessOrEqual, begin, place),
                      compare(b, Order::Less, place, end));
        };
        Value isInside = both(b, isIn(at[4], at[2], 0), isIn(at[5], at[3], 2));
        Value image = whole(b, Emitter::at(b, images, {at[0], index(b, 0)}));
        image = clampIndex(b, image, count ? count : index(b, batch.count));
        Value element = Emitter::at(b, source, {image, at[1], at[4], at[5]});
        return select(b, isInside, max(b, at[6], element), at[6]);
      });
  // Bins without elements are 0.
  Value pooled = emit.value(maxima);
  return node.finish(emit.generate(
      shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        auto isEmpty = [&](Value bin, unsigned first) {
          return compare(
              b, Order::LessOrEqual,
              whole(b, Emitter::at(b, ends[first + 1], {at[0], bin})),
              whole(b, Emitter::at(b, ends[first], {at[0], bin})));
        };
        Value maximum = Emitter::at(b, pooled, at);
        return select(b, either(b, isEmpty(at[2], 0), isEmpty(at[3], 2)),
                      constant(b, maximum.getType(), 0), maximum);
      }));
}

} // namespace numera::importer
