//===- Slice.cpp - Concat, Slice, Split, Pad, Expand ----------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace numera::importer {

static SmallVector<OpFoldResult> indices(Emitter &emit,
                                         ArrayRef<int64_t> list) {
  return llvm::map_to_vector(list, [&](int64_t index) -> OpFoldResult {
    return emit.b.getIndexAttr(index);
  });
}

/// The part of `x` that starts at `starts` and takes every steps[i]-th element.
static Tensor slice(Node &node, const Tensor &x, const Shape &shape,
                    ArrayRef<int64_t> starts, ArrayRef<int64_t> steps) {
  Emitter &emit = node.emit;
  if (x.host) {
    int64_t origin = 0;
    SmallVector<int64_t> strides = stridesOf(x.shape);
    for (auto [stride, start, step] : llvm::zip_equal(strides, starts, steps)) {
      origin += stride * start;
      stride *= step;
    }
    return gatherStrided(x, shape, strides, origin);
  }
  Value source = emit.value(x);
  return emit.result(
      tensor::ExtractSliceOp::create(emit.b, emit.type(shape), source,
                                     indices(emit, starts), emit.sizes(shape),
                                     indices(emit, steps)),
      shape);
}

/// Concatenates compile-time tensors, seen as matrices split at `axis`.
template <typename Element>
static std::vector<Element>
concatenate(ArrayRef<const Tensor *> inputs, unsigned axis, const Shape &shape,
            std::vector<Element> HostData::*elements) {
  int64_t rows = product(ArrayRef(shape).take_front(axis)).count;
  std::vector<Element> joined;
  joined.reserve(product(shape).count);
  for (int64_t row = 0; row < rows; ++row)
    for (const Tensor *input : inputs) {
      int64_t columns = product(ArrayRef(input->shape).drop_front(axis)).count;
      auto first = ((*input->host).*elements).begin() + row * columns;
      joined.insert(joined.end(), first, first + columns);
    }
  return joined;
}

static Tensor insertAll(Node &node, unsigned axis, const Shape &shape) {
  Emitter &emit = node.emit;
  Value current = emit.empty(shape);
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  for (const Tensor *input : node.inputs) {
    if (input->shape[axis].is(0))
      continue;
    Value source = emit.value(*input);
    current = tensor::InsertSliceOp::create(
        emit.b, source, current, indices(emit, starts),
        emit.sizes(input->shape), indices(emit, steps));
    starts[axis] += input->shape[axis].count;
  }
  return emit.result(current, shape);
}

LogicalResult importConcat(Node &node) {
  const Tensor &first = node.input(0);
  if (!node.hasAttribute("axis"))
    return node.error("attribute 'axis' is missing");
  int64_t axis = node.axis(node.integer("axis", 0), first.rank());
  if (node.failed())
    return failure();
  Shape shape = first.shape;
  bool known = true;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    const Tensor &x = node.input(i);
    Shape same = x.shape;
    if (same.size() == shape.size())
      same[axis] = first.shape[axis];
    if (same != first.shape || x.integral != first.integral)
      return node.error(node.inputName(i) + " has shape " + str(x.shape) +
                        "; expected the elements and, but for dimension " +
                        Twine(axis) + ", the shape of " + str(first.shape));
    if (node.numInputs() > 1 && x.shape[axis].batched)
      return node.error("concatenates the batch, dimension " + Twine(axis) +
                        " of " + str(x.shape) + "; expected a fixed size");
    shape[axis].count += i == 0 ? 0 : x.shape[axis].count;
    known &= x.host != nullptr;
    if (failed(node.checkData(i)))
      return failure();
  }
  if (node.numInputs() == 1)
    return node.finish(first);
  if (!known)
    return failed(node.checkSize(shape))
               ? failure()
               : node.finish(insertAll(node, axis, shape));
  if (failed(node.checkFoldable(shape)))
    return failure();
  if (first.integral)
    return node.finish(Tensor::ofInts(
        concatenate(node.inputs, axis, shape, &HostData::ints), shape));
  return node.finish(Tensor::ofFloats(
      concatenate(node.inputs, axis, shape, &HostData::floats), shape));
}

namespace {
/// What Slice takes, from attributes before opset 10 and inputs since.
struct Bounds {
  SmallVector<int64_t> starts, ends, axes, steps;
};
} // namespace

static LogicalResult readBounds(Node &node, Bounds &bounds) {
  auto read = [&](StringRef name, unsigned i, SmallVector<int64_t> &list) {
    std::optional<SmallVector<int64_t>> found;
    if (node.opset < 10)
      found = name == "steps" ? found : node.integers(name);
    else if (node.has(i))
      found = node.constants(i);
    if (found)
      list = *found;
    return found.has_value();
  };
  bool hasStarts = read("starts", 1, bounds.starts);
  bool hasEnds = read("ends", 2, bounds.ends);
  size_t count = bounds.starts.size();
  bounds.axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  bounds.steps.assign(count, 1);
  read("axes", 3, bounds.axes);
  read("steps", 4, bounds.steps);
  if (node.failed())
    return failure();
  if (!hasStarts || !hasEnds)
    return node.error("starts or ends are missing");
  if (bounds.ends.size() != count || bounds.axes.size() != count ||
      bounds.steps.size() != count)
    return node.error(Twine(count) + " starts, " + Twine(bounds.ends.size()) +
                      " ends, " + Twine(bounds.axes.size()) + " axes, " +
                      Twine(bounds.steps.size()) +
                      " steps; expected as many of each");
  return success();
}

/// numpy's slice of a dimension of size `size`: where it starts, and how many
/// elements it has.
static int64_t resolve(int64_t &start, int64_t end, int64_t step,
                       int64_t size) {
  bool backward = step < 0;
  auto clamp = [&](int64_t index) {
    if (index < 0)
      index = std::max(index, -size - 1) + size;
    return std::clamp<int64_t>(index, backward ? -1 : 0,
                               backward ? size - 1 : size);
  };
  start = clamp(start);
  end = clamp(end);
  int64_t span = backward ? start - end : end - start;
  return span <= 0 ? 0 : (span - 1) / std::abs(step) + 1;
}

LogicalResult importSlice(Node &node) {
  Bounds bounds;
  if (failed(node.checkData(0)) || failed(readBounds(node, bounds)))
    return failure();
  const Tensor &x = node.input(0);
  Shape shape = x.shape;
  SmallVector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  (void)node.axes(bounds.axes, x.rank());
  if (node.failed())
    return failure();
  for (auto [start, end, given, step] :
       llvm::zip_equal(bounds.starts, bounds.ends, bounds.axes, bounds.steps)) {
    int64_t axis = node.axis(given, x.rank());
    if (step == 0 || std::abs(step) > kMaxElements || (step < 0 && !x.host))
      return node.error("a step of " + Twine(step) +
                        "; expected a positive one");
    if (x.shape[axis].batched) {
      if (start == 0 && end >= kMaxElements && step == 1)
        continue;
      return node.error("slices the batch, dimension " + Twine(axis) + " of " +
                        str(x.shape) + "; expected all of it");
    }
    starts[axis] = start;
    steps[axis] = step;
    shape[axis].count = resolve(starts[axis], end, step, x.shape[axis].count);
    if (shape[axis].is(0) && !x.host)
      return node.error("the slice of dimension " + Twine(axis) + " of " +
                        str(x.shape) + " is empty");
  }
  return node.finish(slice(node, x, shape, starts, steps));
}

/// The sizes that Split makes of `total`.
static LogicalResult readSplit(Node &node, int64_t total,
                               SmallVector<int64_t> &sizes) {
  std::optional<SmallVector<int64_t>> given;
  if (node.opset < 13)
    given = node.integers("split");
  else if (node.has(1))
    given = node.constants(1);
  int64_t count = node.numOutputs();
  if (node.integer("num_outputs", count) != count)
    return node.error("attribute 'num_outputs' differs from the " +
                      Twine(count) + " outputs");
  if (node.failed())
    return failure();
  if (!given) {
    int64_t chunk = llvm::divideCeil(total, std::max<int64_t>(count, 1));
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::min(chunk, total - i * chunk));
  } else {
    sizes = *given;
  }
  int64_t sum = 0;
  for (int64_t size : sizes)
    sum = size < 1 || size > total ? -1 : sum < 0 ? sum : sum + size;
  if (sum != total || int64_t(sizes.size()) != count)
    return node.error("cannot split a dimension of " + Twine(total) +
                      " into sizes " + str(fixedShape(sizes)) + " for " +
                      Twine(count) + " outputs");
  return success();
}

LogicalResult importSplit(Node &node) {
  if (failed(node.checkData(0)))
    return failure();
  const Tensor &x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  if (node.failed())
    return failure();
  if (x.shape[axis].batched)
    return node.error("splits the batch, dimension " + Twine(axis) + " of " +
                      str(x.shape) + "; expected a fixed size");
  SmallVector<int64_t> sizes;
  if (failed(readSplit(node, x.shape[axis].count, sizes)))
    return failure();
  SmallVector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  for (int64_t size : sizes) {
    Shape shape = x.shape;
    shape[axis].count = size;
    if (failed(node.finish(slice(node, x, shape, starts, steps))))
      return failure();
    starts[axis] += size;
  }
  return success();
}

LogicalResult importExpand(Node &node) {
  if (failed(node.checkData(0)))
    return failure();
  const Tensor &x = node.input(0);
  std::optional<SmallVector<Dim>> wanted = node.dims(1);
  if (!wanted)
    return failure();
  std::optional<Shape> shape = broadcast(x.shape, *wanted);
  if (!shape)
    return node.error("cannot expand " + str(x.shape) + " to " + str(*wanted));
  bool constant =
      x.host && llvm::none_of(*shape, [](Dim dim) { return dim.batched; });
  if (failed(constant ? node.checkFoldable(*shape) : node.checkSize(*shape)))
    return failure();
  if (constant) {
    SmallVector<int64_t> strides(shape->size() - x.rank(), 0);
    for (auto [dim, stride] : llvm::zip_equal(x.shape, stridesOf(x.shape)))
      strides.push_back(dim.is(1) ? 0 : stride);
    return node.finish(gatherStrided(x, *shape, strides, 0));
  }
  if (failed(node.checkFloat(0)))
    return failure();
  return node.finish(node.emit.map(
      {&x}, *shape, [](LocBuilder &, ValueRange args) { return args[0]; }));
}

/// The amounts that Pad adds: low and high of every dimension.
static LogicalResult readPads(Node &node, int64_t rank,
                              SmallVector<int64_t> &low,
                              SmallVector<int64_t> &high) {
  std::optional<SmallVector<int64_t>> pads, axes;
  if (node.opset < 11)
    pads = node.integers("pads");
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
    if (amount < 0 || amount > kMaxElements)
      return node.error("padding of " + Twine(amount) +
                        "; expected at least 0 and at most 2^40");
    int64_t axis = node.axis((*axes)[i % axes->size()], rank);
    (i < axes->size() ? low : high)[axis] = amount;
  }
  return success();
}

LogicalResult importPad(Node &node) {
  if (failed(node.checkFloat(0)))
    return failure();
  Tensor x = node.input(0);
  std::string mode = node.text("mode", "constant");
  if (mode != "constant")
    return node.error("mode " + quote(mode) +
                      " is not supported; expected 'constant'");
  SmallVector<int64_t> low, high;
  if (failed(readPads(node, x.rank(), low, high)))
    return failure();
  std::optional<float> number = 0.0f;
  if (node.opset < 11)
    number = node.real("value", 0.0f);
  else if (node.has(2))
    number = node.input(2).scalar();
  if (!number)
    return node.error(node.inputName(2) + " is not a constant f32 scalar");
  Shape padded = x.shape;
  for (auto [i, dim] : llvm::enumerate(padded)) {
    if (dim.batched && low[i] + high[i] != 0)
      return node.error("pads the batch, dimension " + Twine(i) + " of " +
                        str(x.shape));
    dim.count += low[i] + high[i];
  }
  if (failed(node.checkSize(padded)))
    return failure();
  return node.finish(node.emit.pad(x, low, high, *number));
}

} // namespace numera::importer
