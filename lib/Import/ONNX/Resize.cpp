//===- Resize.cpp - Resize and Upsample -----------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// One dimension after the other: the weights of the neighbours of each place
// are computed when the model is imported, in f64, and rounded once. A
// dimension whose size stays is left alone.
//
//===----------------------------------------------------------------------===//
#include "Resize.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

/// Where place i of the result is in the dimension.
double Resizing::source(int64_t i, int64_t size, int64_t result, double scale,
                        double start, double end) const {
  double x = double(i), length = double(result);
  if (place == "align_corners")
    return result == 1 ? 0 : x * double(size - 1) / (length - 1);
  if (place == "asymmetric")
    return x / scale;
  if (place == "tf_half_pixel_for_nn")
    return (x + 0.5) / scale;
  if (place == "tf_crop_and_resize")
    return result > 1 ? start * double(size - 1) +
                            x * (end - start) * double(size - 1) / (length - 1)
                      : 0.5 * (start + end) * double(size - 1);
  if (place == "pytorch_half_pixel")
    return result > 1 ? (x + 0.5) / scale - 0.5 : 0;
  if (place == "half_pixel_symmetric") {
    double adjustment = length / (scale * double(size));
    double offset = double(size) / 2 * (1 - adjustment);
    return offset + (x + 0.5) / scale - 0.5;
  }
  return (x + 0.5) / scale - 0.5;
}

int64_t Resizing::nearestOf(double x) const {
  if (nearest == "floor")
    return int64_t(std::floor(x));
  if (nearest == "ceil")
    return int64_t(std::ceil(x));
  if (nearest == "round_prefer_ceil")
    return int64_t(std::floor(x + 0.5));
  return int64_t(std::ceil(x - 0.5));
}

Resizing::Taps Resizing::tapsAt(int64_t i, int64_t size, int64_t result,
                                double scale, double start, double end) const {
  double x = source(i, size, result, scale, start, end);
  Taps taps;
  taps.isOutside =
      place == "tf_crop_and_resize" && (x < 0 || x > double(size - 1));
  if (mode == "nearest") {
    taps.from.push_back(std::clamp<int64_t>(nearestOf(x), 0, size - 1));
    taps.weights.push_back(1);
    return taps;
  }
  bool isCubic = mode == "cubic";
  // Where it shrinks, an antialiasing kernel is as wide as the step.
  double width = antialiases ? std::min(scale, 1.0) : 1.0;
  double reach = (isCubic ? 2.0 : 1.0) / width;
  int64_t first = int64_t(std::floor(x - reach)) + 1;
  int64_t last = int64_t(std::ceil(x + reach)) - 1;
  // At a whole place the neighbours are it and those behind.
  if (!antialiases) {
    first = int64_t(std::floor(x)) - (isCubic ? 1 : 0);
    last = first + (isCubic ? 3 : 1);
  }
  double sum = 0;
  for (int64_t at = first; at <= last; ++at) {
    double d = std::fabs(x - double(at)) * width, weight = 0;
    if (!isCubic)
      weight = std::max(0.0, 1 - d);
    else if (d <= 1)
      weight = (cubic + 2) * d * d * d - (cubic + 3) * d * d + 1;
    else if (d < 2)
      weight =
          cubic * d * d * d - 5 * cubic * d * d + 8 * cubic * d - 4 * cubic;
    bool isInside = at >= 0 && at < size;
    if (excludesOutside && !isInside)
      continue;
    taps.from.push_back(std::clamp<int64_t>(at, 0, size - 1));
    taps.weights.push_back(weight);
    sum += weight;
  }
  if ((excludesOutside || antialiases) && sum != 0)
    for (double &weight : taps.weights)
      weight /= sum;
  return taps;
}

Tensor Resizing::along(const Tensor &x, int64_t axis, int64_t result,
                       double scale, double start, double end) const {
  int64_t size = x.shape[axis].count;
  SmallVector<Taps> all;
  size_t most = 1;
  for (int64_t i = 0; i < result; ++i) {
    all.push_back(tapsAt(i, size, result, scale, start, end));
    most = std::max(most, all.back().from.size());
  }
  std::vector<Dim> places, flags;
  std::vector<double> weights;
  bool hasOutside = false;
  for (Taps &taps : all) {
    hasOutside |= taps.isOutside;
    flags.push_back(Dim::fixed(taps.isOutside));
    taps.from.resize(most, 0);
    taps.weights.resize(most, 0);
    for (auto [from, weight] : llvm::zip_equal(taps.from, taps.weights)) {
      places.push_back(Dim::fixed(from));
      weights.push_back(weight);
    }
  }
  Shape table = {Dim::fixed(result), Dim::fixed(int64_t(most))};
  Tensor from = Tensor::ofInts(places, table);
  Tensor factors =
      x.isDouble() ? Tensor::ofDoubles(weights, table)
                   : Tensor::ofFloats({weights.begin(), weights.end()}, table);
  Tensor isOutside = Tensor::ofInts(flags, {Dim::fixed(result)}, type::Bool);
  return apply(x, axis, result, from, mode == "nearest" ? nullptr : &factors,
               hasOutside ? &isOutside : nullptr);
}

Tensor Resizing::apply(const Tensor &x, int64_t axis, int64_t result,
                       const Tensor &from, const Tensor *weights,
                       const Tensor *flags) const {
  Emitter &emit = node.emit;
  Shape shape = x.shape;
  shape[axis] = Dim::fixed(result);
  Value source = emit.value(x), places = emit.value(from);
  Value factor = weights ? emit.value(*weights) : Value();
  auto lookUp = [&](LocBuilder &b, ValueRange at, Value tap) {
    SmallVector<Value> where(at);
    where[axis] = toIndex(b, Emitter::at(b, places, {at[axis], tap}));
    return Emitter::at(b, source, where);
  };
  Tensor resized =
      emit.generate(shape, x.dataType, [&](LocBuilder &b, ValueRange at) {
        if (!factor)
          return lookUp(b, at, index(b, 0));
        Value sum;
        for (int64_t tap = 0; tap < from.shape[1].count; ++tap) {
          Value t = index(b, tap);
          Value part =
              mul(b, lookUp(b, at, t), Emitter::at(b, factor, {at[axis], t}));
          sum = sum ? add(b, sum, part) : part;
        }
        return sum;
      });
  if (!flags)
    return resized;
  Value isOutside = emit.value(*flags);
  return emit.map({&resized}, shape, [&](LocBuilder &b, ValueRange args) {
    Value i = linalg::IndexOp::create(b, axis);
    return select(b, Emitter::at(b, isOutside, i),
                  constant(b, args[0].getType(), outside), args[0]);
  });
}

/// The sizes in input 3, where those that are not known are those of the input,
/// which stay.
static std::optional<SmallVector<float>> staysUnknown(Node &node,
                                                      ArrayRef<int64_t> axes) {
  const Tensor &x = node.input(0);
  if (!node.has(3) || !node.input(3).isDynamic() ||
      node.input(3).host->ints.size() != axes.size())
    return std::nullopt;
  SmallVector<float> sizes;
  for (auto [size, axis] : llvm::zip_equal(node.input(3).host->ints, axes)) {
    if (size.isDynamic() && size != x.shape[node.axis(axis, x.rank())])
      return std::nullopt;
    sizes.push_back(float(size.count));
  }
  return sizes;
}

/// Fails for an attribute that is none of the words.
static LogicalResult isOneOf(Node &node, StringRef attribute, StringRef word,
                             ArrayRef<StringRef> words) {
  if (llvm::is_contained(words, word))
    return success();
  std::string listed = llvm::join(words.drop_back(), ", ");
  return node.error("attribute '" + attribute + "' is " + quote(word) +
                    "; expected " + listed + " or " + words.back());
}

/// Rounded to the nearest, ties to even, and saturated.
static Tensor toNearestIntegers(Emitter &emit, const Tensor &x, int64_t to) {
  return emit.map(
      {&x}, x.shape,
      [&](LocBuilder &b, ValueRange args) {
        Value whole = math::RoundEvenOp::create(b, args[0]);
        return convert(b, whole, type::Double, to);
      },
      to);
}

LogicalResult importResize(Node &node) {
  const Tensor &given = node.input(0);
  bool isOld = node.op() == "Upsample" || node.opset < 11;
  Resizing resizing{node};
  resizing.mode = node.text("mode", "nearest");
  resizing.place = node.text("coordinate_transformation_mode",
                             isOld ? "asymmetric" : "half_pixel");
  resizing.nearest =
      node.text("nearest_mode", isOld ? "floor" : "round_prefer_floor");
  resizing.cubic = node.real("cubic_coeff_a", -0.75f);
  resizing.excludesOutside = node.integer("exclude_outside", 0);
  resizing.antialiases = node.integer("antialias", 0);
  resizing.outside = node.real("extrapolation_value", 0.0f);
  std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  auto axes = node.integers("axes");
  if (node.failed())
    return failure();
  if (node.op() == "Upsample" && resizing.mode == "bilinear")
    resizing.mode = "linear";
  if (failed(isOneOf(node, "mode", resizing.mode,
                     {"nearest", "linear", "cubic"})) ||
      failed(isOneOf(node, "coordinate_transformation_mode", resizing.place,
                     {"half_pixel", "half_pixel_symmetric",
                      "pytorch_half_pixel", "align_corners", "asymmetric",
                      "tf_half_pixel_for_nn", "tf_crop_and_resize"})) ||
      failed(isOneOf(
          node, "nearest_mode", resizing.nearest,
          {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})) ||
      failed(isOneOf(node, "keep_aspect_ratio_policy", policy,
                     {"stretch", "not_larger", "not_smaller"})))
    return failure();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, given.rank()));
  (void)node.axes(*axes, given.rank());
  if (node.failed())
    return failure();
  // Of integers, numbers of f64 are resized.
  bool isMixed = resizing.mode != "nearest" && given.isIntegral();
  Tensor x = isMixed ? convertTo(node.emit, given, type::Double) : given;
  auto finish = [&](const Tensor &resized) {
    return node.finish(
        isMixed ? toNearestIntegers(node.emit, resized, given.dataType)
                : resized);
  };
  // An attribute, then input 1, then input 2.
  bool isAttribute = node.op() == "Upsample" && node.opset < 9;
  List scaleList =
      isAttribute ? List::of(node.reals("scales")) : List(node, isOld ? 1 : 2);
  List regionList = isOld ? List() : List(node, 1);
  auto stays = isOld ? std::nullopt : staysUnknown(node, *axes);
  List sizeList = isOld ? List() : stays ? List::of(stays) : List(node, 3);
  if (node.failed())
    return failure();
  std::optional<Shape> declared = node.declared(0);
  if (declared && int64_t(declared->size()) == x.rank() &&
      !(scaleList.isKnown() && sizeList.isKnown() &&
        (regionList.isKnown() || !resizing.crops()))) {
    auto resized = resizing.atRunTime(x, *axes, regionList, scaleList, sizeList,
                                      policy, *declared);
    return resized ? finish(*resized) : failure();
  }
  auto regions = resizing.crops() ? regionList.numbers()
                                  : std::optional(SmallVector<double>());
  auto scales = scaleList.numbers(), sizes = sizeList.numbers();
  if (!regions || !scales || !sizes)
    return failure();
  size_t count = axes->size();
  if (scales->size() != (sizes->empty() ? count : 0) ||
      (!sizes->empty() && sizes->size() != count) ||
      (resizing.crops() && regions->size() != 2 * count))
    return node.error(Twine(scales->size()) + " scales, " +
                      Twine(sizes->size()) + " sizes and " +
                      Twine(regions->size()) + " ends of regions for " +
                      Twine(count) + " axes");
  if (!sizes->empty() && policy != "stretch") {
    bool isLarger = policy == "not_smaller";
    double chosen = 0;
    for (auto [i, axis] : llvm::enumerate(*axes)) {
      double scale =
          (*sizes)[i] / double(x.shape[node.axis(axis, x.rank())].count);
      chosen = i == 0     ? scale
               : isLarger ? std::max(chosen, scale)
                          : std::min(chosen, scale);
    }
    scales->assign(count, chosen);
    for (auto [i, axis] : llvm::enumerate(*axes))
      (*sizes)[i] = std::floor(
          chosen * double(x.shape[node.axis(axis, x.rank())].count) + 0.5);
  }
  Tensor current = x;
  for (auto [i, listed] : llvm::enumerate(*axes)) {
    int64_t axis = node.axis(listed, x.rank());
    Dim size = x.shape[axis];
    double scale = scales->empty() ? 0 : (*scales)[i];
    double result =
        sizes->empty() ? std::floor(double(size.count) * scale) : (*sizes)[i];
    if (scale == 0)
      scale = result / double(size.count);
    if (!(result >= 0) || result > double(kMaxElements) || size.is(0))
      return node.error("resizes dimension " + Twine(axis) + " of " +
                        str(x.shape) + " to " + std::to_string(result));
    bool crops = resizing.crops();
    double start = crops ? (*regions)[i] : 0;
    double end = crops ? (*regions)[count + i] : 1;
    bool isSame = int64_t(result) == size.count &&
                  (scale == 1 || size.isDynamic()) &&
                  (!crops || (start == 0 && end == 1));
    if (isSame)
      continue;
    if (size.isDynamic())
      return node.error("resizes the batch, of " + str(x.shape));
    Shape shape = current.shape;
    shape[axis] = Dim::fixed(int64_t(result));
    if (failed(node.checkFoldable({shape[axis]})) ||
        failed(node.checkSize(shape)))
      return failure();
    current = resizing.along(current, axis, int64_t(result), scale, start, end);
  }
  return finish(current);
}

} // namespace numera::importer
