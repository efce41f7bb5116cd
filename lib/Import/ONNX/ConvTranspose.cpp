//===- ConvTranspose.cpp - ConvTranspose ----------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Element o of a dimension is the sum of x[i] w[k] over o + pad = i s + k d.
// Its phase p is (o + pad) mod s: the taps k of a phase are every (s / g)-th,
// where g = gcd(s, d), and the elements i that they meet are d / g apart. So
// each phase is a convolution of stride 1 with its taps in reverse, and no
// product is with a zero between elements. Neighbouring phases with equally
// many taps are one convolution whose channels are those of all of them: two a
// dimension without dilation, one if s divides the kernel.
//
//===----------------------------------------------------------------------===//
#include "Convolution.h"
#include "Operators.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace numera::importer {

/// Beyond these, a model would not be compiled in reasonable time.
constexpr int64_t kMaxConvolutions = 1024;

namespace {
/// Neighbouring phases of a dimension: x[q + offset - t * dilation] meets tap
/// k = p - first + firstTap + t * tapStep of phase p, for 0 <= t < taps.
struct Phases {
  int64_t first, count, taps, firstTap, tapStep, offset, dilation;
};

/// A dimension of the image, of the kernel and of the result, which lies within
/// `stride` phases of each of `places` places, from `skipped` on.
struct Side {
  int64_t input, kernel, stride = 1, dilation = 1, output = 0, pad = 0;
  int64_t firstPlace = 0, places = 0, skipped = 0;
  SmallVector<Phases, 2> phases = {};

  bool isWhole() const {
    return phases.size() == 1 && phases[0].count == stride;
  }
};

struct Transposed {
  Node &node;
  Emitter &emit;
  int64_t groups;
  SmallVector<Side, 3> sides;

  LogicalResult read();
  LogicalResult readSizes(const std::string &mode);
  Tensor crop(ArrayRef<const Phases *> chosen) const;
  Tensor split(Tensor weights, unsigned axis, const Phases &phases) const;
  Tensor taps(ArrayRef<const Phases *> chosen) const;
  Tensor compute(ArrayRef<const Phases *> chosen) const;
  Shape channelsAnd(llvm::function_ref<void(unsigned, Shape &)> append) const;
  Tensor assemble() const;
};
} // namespace

/// The phases that have a tap.
static SmallVector<Phases, 2> phasesOf(const Side &side) {
  int64_t s = side.stride, d = side.dilation, k = side.kernel;
  if (d == 1) {
    int64_t most = k / s, longer = k % s;
    SmallVector<Phases, 2> list;
    if (longer > 0)
      list.push_back({0, longer, most + 1, 0, s, 0, 1});
    if (most > 0)
      list.push_back({longer, s - longer, most, longer, s, 0, 1});
    return list;
  }
  // The first taps that meet each phase, of which no two are neighbours.
  int64_t step = s / std::gcd(s, d);
  SmallVector<Phases, 2> list;
  for (int64_t tap = 0; tap < std::min(step, k); ++tap)
    list.push_back({tap * d % s, 1, (k - tap + step - 1) / step, tap, step,
                    -(tap * d / s), d / std::gcd(s, d)});
  return list;
}

/// Output sizes and what is cut off at the front.
LogicalResult Transposed::readSizes(const std::string &mode) {
  size_t rank = sides.size();
  bool hasSizes = node.hasAttribute("output_shape");
  SmallVector<int64_t> strides, dilations, padding, pads, sizes;
  if (failed(readList(node, "strides", rank, 1, 1, strides)) ||
      failed(readList(node, "dilations", rank, 1, 1, dilations)) ||
      failed(readList(node, "output_padding", rank, 0, 0, padding)) ||
      failed(readPads(node, rank, hasSizes ? "NOTSET" : mode, pads)) ||
      failed(readList(node, "output_shape", rank, 1, 1, sizes)))
    return failure();
  bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  for (auto [i, side] : llvm::enumerate(sides)) {
    side.stride = strides[i];
    side.dilation = dilations[i];
    int64_t extent, full;
    if (llvm::MulOverflow(side.kernel - 1, side.dilation, extent) ||
        llvm::MulOverflow(side.input - 1, side.stride, full) ||
        extent > kMaxElements || full > kMaxElements)
      return node.error("spatial dimension " + Twine(i) + " of size " +
                        Twine(side.input) + " with a kernel of " +
                        Twine(side.kernel) + " has more than 2^40 elements");
    full += extent + 1 + padding[i];
    side.pad = mode == "NOTSET" ? pads[i] : 0;
    side.output = full - side.pad - (mode == "NOTSET" ? pads[rank + i] : 0);
    if (hasSizes || isSame) {
      side.output = hasSizes ? sizes[i] : side.input * side.stride;
      int64_t total = std::max<int64_t>(0, full - side.output);
      side.pad = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    if (side.input < 1 || side.kernel < 1 || side.output < 1)
      return node.error("spatial dimension " + Twine(i) + " of size " +
                        Twine(side.input) + " with a kernel of " +
                        Twine(side.kernel) + " becomes " + Twine(side.output) +
                        " elements; expected at least one");
    side.firstPlace = side.pad / side.stride;
    side.skipped = side.pad % side.stride;
    side.places = llvm::divideCeil(side.skipped + side.output, side.stride);
  }
  return success();
}

LogicalResult Transposed::read() {
  const Tensor &image = node.input(0), &weights = node.input(1);
  const Shape &x = image.shape, &w = weights.shape;
  if (x.size() < 3)
    return node.error(node.inputName(0) + " has shape " + str(x) +
                      "; expected batch, channels and spatial dimensions");
  if (failed(node.checkRank(1, x.size())))
    return failure();
  if (llvm::any_of(ArrayRef(x).drop_front(),
                   [](Dim dim) { return dim.isDynamic(); }) ||
      llvm::any_of(w, [](Dim dim) { return dim.isDynamic(); }))
    return node.error("image " + str(x) + " and weights " + str(w) +
                      "; expected fixed sizes but for the batch");
  if (image.dataType != weights.dataType)
    return node.error("multiplies " + dataTypeName(image.dataType) + " and " +
                      dataTypeName(weights.dataType) + "; expected one type");
  if (w[0] != x[1] || groups < 1 || x[1].count % groups != 0)
    return node.error("image of " + Twine(x[1].count) + " channels, weights " +
                      str(w) + " and group = " + Twine(groups) +
                      "; expected channels = " + Twine(w[0].count) +
                      ", a multiple of the groups");
  if (failed(node.checkSize({Dim::fixed(groups), w[1]})))
    return failure();
  Dim channels = Dim::fixed(w[1].count * groups);
  if (failed(checkBias(node, channels)) || failed(checkKernel(node)))
    return failure();
  for (size_t i = 2; i < x.size(); ++i)
    sides.push_back({x[i].count, w[i].count});
  std::optional<std::string> mode = readPadMode(node);
  if (!mode || failed(readSizes(*mode)))
    return failure();
  // Shapes of all that is computed on the way.
  Shape padded = {x[0], x[1]}, result = {x[0], channels};
  for (const Side &side : sides) {
    padded.push_back(
        Dim::fixed(side.places + (side.kernel - 1) * side.dilation));
    result.push_back(Dim::fixed(side.places * side.stride));
  }
  if (failed(node.checkSize(padded)) || failed(node.checkSize(result)))
    return failure();
  int64_t count = 1;
  for (Side &side : sides) {
    int64_t step = side.stride / std::gcd(side.stride, side.dilation);
    count *= side.dilation == 1 ? 2 : std::min(step, side.kernel);
    if (count > kMaxConvolutions)
      return node.error("strides and dilations make more than " +
                        Twine(kMaxConvolutions) +
                        " convolutions; expected smaller strides, or no "
                        "dilation");
    side.phases = phasesOf(side);
  }
  return success();
}

/// The part of the image that the phases meet, with zeros around it; zeros
/// alone where they meet none.
Tensor Transposed::crop(ArrayRef<const Phases *> chosen) const {
  const Tensor &image = node.input(0);
  SmallVector<int64_t> low(2, 0), high(2, 0), starts(2, 0);
  Shape part = {image.shape[0], image.shape[1]}, whole = part;
  bool isEmpty = false;
  for (auto [side, phases] : llvm::zip_equal(sides, chosen)) {
    int64_t last = side.firstPlace + side.places - 1 + phases->offset;
    int64_t first = side.firstPlace + phases->offset -
                    (phases->taps - 1) * phases->dilation;
    int64_t start = std::max<int64_t>(first, 0);
    int64_t end = std::min(last, side.input - 1) + 1;
    isEmpty |= start >= end;
    starts.push_back(start);
    part.push_back(Dim::fixed(end - start));
    whole.push_back(Dim::fixed(last + 1 - first));
    low.push_back(start - first);
    high.push_back(last + 1 - end);
  }
  TypedAttr zero = emit.number(0, image.dataType);
  if (isEmpty)
    return emit.result(emit.filled(whole, zero), whole, image.dataType);
  Tensor cropped = image;
  if (part != image.shape)
    cropped =
        emit.slice(image, part, starts, SmallVector<int64_t>(part.size(), 1));
  return emit.pad(cropped, low, high, zero);
}

/// Dimension `axis` of the weights as (the phases' taps in reverse, phases).
Tensor Transposed::split(Tensor weights, unsigned axis,
                         const Phases &phases) const {
  // The part of `tensor` from `start` on, as many of each step as there are.
  auto slice = [&](const Tensor &tensor, unsigned dim, int64_t start,
                   int64_t count, int64_t step) {
    Shape shape = tensor.shape;
    shape[dim] = Dim::fixed(count);
    SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
    starts[dim] = start;
    steps[dim] = count == 1 ? 1 : step;
    return shape == tensor.shape && steps[dim] == 1
               ? tensor
               : emit.slice(tensor, shape, starts, steps);
  };
  auto rows = [&](const Tensor &tensor, int64_t count, int64_t columns) {
    Shape shape = tensor.shape;
    shape[axis] = Dim::fixed(count);
    shape.insert(shape.begin() + axis + 1, Dim::fixed(columns));
    return emit.reshape(tensor, shape);
  };
  int64_t step = phases.tapStep, first = phases.firstTap;
  if (phases.count == 1)
    return rows(slice(weights, axis, first + (phases.taps - 1) * step,
                      phases.taps, -step),
                phases.taps, 1);
  // Rows of one tap of each phase of the stride; the last may be short.
  int64_t full = std::min(phases.taps, weights.shape[axis].count / step);
  Tensor last = rows(
      slice(weights, axis, (phases.taps - 1) * step + first, phases.count, 1),
      1, phases.count);
  if (phases.taps == 1)
    return last;
  Tensor matrix = rows(slice(weights, axis, 0, full * step, 1), full, step);
  matrix = slice(slice(matrix, axis + 1, first, phases.count, 1), axis,
                 full - 1, full, -1);
  if (full == phases.taps)
    return matrix;
  Shape joined = matrix.shape;
  joined[axis] = Dim::fixed(phases.taps);
  return emit.concat({&last, &matrix}, axis, joined);
}

/// The phases' taps as the weights of a convolution: (groups · outputs ·
/// phases…, inputs of a group, taps in reverse…).
Tensor Transposed::taps(ArrayRef<const Phases *> chosen) const {
  Tensor weights = node.input(1);
  for (auto [i, phases] : llvm::enumerate(chosen))
    weights = split(weights, 2 + 2 * i, *phases);
  weights.name = node.input(1).name;
  // (inputs, outputs, (taps, phases)…), and its first dimension in groups.
  Shape grouped = weights.shape;
  grouped[0] = Dim::fixed(grouped[0].count / groups);
  grouped.insert(grouped.begin(), Dim::fixed(groups));
  SmallVector<int64_t> order = {0, 2};
  Shape shape = {Dim::fixed(groups * grouped[2].count), grouped[1]};
  for (size_t i = 0; i < sides.size(); ++i) {
    order.push_back(4 + 2 * i);
    shape[0].count *= chosen[i]->count;
  }
  order.push_back(1);
  for (size_t i = 0; i < sides.size(); ++i) {
    order.push_back(3 + 2 * i);
    shape.push_back(Dim::fixed(chosen[i]->taps));
  }
  return emit.reshape(emit.transpose(emit.reshape(weights, grouped), order),
                      shape);
}

/// Batch, channels, and what `append` says of each dimension.
Shape Transposed::channelsAnd(
    llvm::function_ref<void(unsigned, Shape &)> append) const {
  Shape shape = {node.input(0).shape[0],
                 Dim::fixed(node.input(1).shape[1].count * groups)};
  for (unsigned i = 0; i < sides.size(); ++i)
    append(i, shape);
  return shape;
}

/// (batch, channels, (places, phases)…) of the chosen phases.
Tensor Transposed::compute(ArrayRef<const Phases *> chosen) const {
  Tensor padded = crop(chosen), weights = taps(chosen);
  Window window;
  for (const Phases *phases : chosen) {
    window.kernel.push_back(phases->taps);
    window.strides.push_back(1);
    window.dilations.push_back(phases->taps == 1 ? 1 : phases->dilation);
  }
  Shape sums = {padded.shape[0], weights.shape[0]};
  for (const Side &side : sides)
    sums.push_back(Dim::fixed(side.places));
  Tensor result = convolve(emit, window, padded, weights, sums, groups);
  Shape shape = channelsAnd([&](unsigned i, Shape &list) {
    list.push_back(Dim::fixed(sides[i].places));
    list.push_back(Dim::fixed(chosen[i]->count));
  });
  if (llvm::all_of(chosen, [](const Phases *one) { return one->count == 1; }))
    return emit.reshape(result, shape);
  Shape split = channelsAnd([&](unsigned i, Shape &list) {
    list.push_back(Dim::fixed(chosen[i]->count));
  });
  SmallVector<int64_t> order = {0, 1};
  for (const Side &side : sides) {
    int64_t i = &side - sides.begin(), rank = sides.size();
    split.push_back(Dim::fixed(side.places));
    order.append({2 + rank + i, 2 + i});
  }
  return emit.transpose(emit.reshape(result, split), order);
}

/// All phases beside each other, cut to the output's size.
Tensor Transposed::assemble() const {
  int64_t element = node.input(0).dataType;
  Shape shape = channelsAnd([&](unsigned i, Shape &list) {
    list.push_back(Dim::fixed(sides[i].places));
    list.push_back(Dim::fixed(sides[i].stride));
  });
  SmallVector<SmallVector<const Phases *>> choices(1);
  for (const Side &side : sides) {
    SmallVector<SmallVector<const Phases *>> longer;
    for (const auto &choice : choices)
      for (const Phases &phases : side.phases) {
        longer.push_back(choice);
        longer.back().push_back(&phases);
      }
    choices = std::move(longer);
  }
  Tensor all;
  if (llvm::all_of(sides, [](const Side &side) { return side.isWhole(); })) {
    all = compute(choices.front());
  } else {
    auto indices = [&](ArrayRef<int64_t> list) {
      return llvm::map_to_vector(list, [&](int64_t index) -> OpFoldResult {
        return emit.b.getIndexAttr(index);
      });
    };
    Value parts = emit.filled(shape, emit.number(0, element));
    for (ArrayRef<const Phases *> chosen : choices) {
      Tensor part = compute(chosen);
      SmallVector<int64_t> starts(2, 0), steps(shape.size(), 1);
      for (const Phases *phases : chosen)
        starts.append({0, phases->first});
      parts = tensor::InsertSliceOp::create(
          emit.b, part.value, parts, indices(starts), emit.sizes(part.shape),
          indices(steps));
    }
    all = emit.result(parts, shape, element);
  }
  SmallVector<int64_t> starts(2, 0);
  Shape joined = channelsAnd([&](unsigned i, Shape &list) {
    list.push_back(Dim::fixed(sides[i].places * sides[i].stride));
    starts.push_back(sides[i].skipped);
  });
  Shape result = channelsAnd([&](unsigned i, Shape &list) {
    list.push_back(Dim::fixed(sides[i].output));
  });
  Tensor flat = emit.reshape(all, joined);
  return result == joined ? flat
                          : emit.slice(flat, result, starts,
                                       SmallVector<int64_t>(result.size(), 1));
}

LogicalResult importConvTranspose(Node &node) {
  Transposed transposed{node, node.emit, node.integer("group", 1), {}};
  if (node.failed() || failed(transposed.read()))
    return failure();
  Tensor result = transposed.assemble();
  return node.finish(node.has(2) ? addBias(node.emit, result, node.input(2))
                                 : result);
}

} // namespace numera::importer
