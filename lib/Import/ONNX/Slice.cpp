//===- Slice.cpp - Concat, Slice, Split, Expand ---------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace numera::importer {

LogicalResult importConcat(Node &node) {
  const Tensor &first = node.input(0);
  if (node.opset >= 4 && !node.hasAttribute("axis"))
    return node.error("attribute 'axis' is missing");
  int64_t axis = node.axis(node.integer("axis", 1), first.rank());
  if (node.failed())
    return failure();
  Shape shape = first.shape;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    const Tensor &x = node.input(i);
    Shape same = x.shape;
    if (same.size() == shape.size())
      same[axis] = first.shape[axis];
    if (same != first.shape || x.dataType != first.dataType)
      return node.error(node.inputName(i) + " has shape " + str(x.shape) +
                        "; expected the elements and, but for dimension " +
                        Twine(axis) + ", the shape of " + str(first.shape));
    if (node.numInputs() > 1 && x.shape[axis].batched)
      return node.error("concatenates the batch, dimension " + Twine(axis) +
                        " of " + str(x.shape) + "; expected a fixed size");
    shape[axis].count += i == 0 ? 0 : x.shape[axis].count;
  }
  if (node.numInputs() == 1)
    return node.finish(first);
  return failed(node.checkSize(shape))
             ? failure()
             : node.finish(node.emit.concat(node.inputs, axis, shape));
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

/// Axes that are known when the model runs, too: the start and the step of each
/// dimension are looked up in the lists.
static LogicalResult sliceAlongUnknownAxes(Node &node) {
  Emitter &emit = node.emit;
  const Tensor &x = node.input(0);
  std::optional<Shape> shape = node.declared(0);
  if (!shape || int64_t(shape->size()) != x.rank() || node.input(3).rank() != 1)
    return node.error("slices along axes that are computed when the model runs "
                      "to a size that the model does not declare");
  int64_t count = node.input(3).shape[0].count, rank = x.rank();
  Value source = emit.value(x), starts = emit.value(node.input(1));
  Value axes = emit.value(node.input(3));
  Value steps = node.has(4) ? emit.value(node.input(4)) : Value();
  return node.finish(emit.generate(
      *shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from(at);
        for (int64_t i = 0; i < count; ++i) {
          Value axis = wrapIndex(
              b, toIndex(b, Emitter::at(b, axes, index(b, i))), index(b, rank));
          Value start = toIndex(b, Emitter::at(b, starts, index(b, i)));
          Value step = steps ? toIndex(b, Emitter::at(b, steps, index(b, i)))
                             : index(b, 1);
          for (int64_t dim = 0; dim < rank; ++dim) {
            Value size = index(b, x.shape[dim].count);
            Value place = clampIndex(
                b, add(b, wrapIndex(b, start, size), mul(b, at[dim], step)),
                size);
            from[dim] = select(b, compare(b, Order::Equal, axis, index(b, dim)),
                               place, from[dim]);
          }
        }
        return Emitter::at(b, source, from);
      }));
}

/// Starts, ends or steps that are known when the model runs: their count is
/// that of the declared sizes.
static LogicalResult sliceAtRunTime(Node &node) {
  Emitter &emit = node.emit;
  const Tensor &x = node.input(0);
  std::optional<Shape> shape = node.declared(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  if (node.has(3)) {
    if (!node.input(3).host)
      return sliceAlongUnknownAxes(node);
    std::optional<SmallVector<int64_t>> given = node.constants(3);
    if (!given)
      return failure();
    axes = *given;
  }
  if (!shape || int64_t(shape->size()) != x.rank())
    return node.error("slices at bounds that are computed when the model runs "
                      "to a size that the model does not declare");
  (void)node.axes(axes, x.rank());
  if (node.failed())
    return failure();
  const Tensor &starts = node.input(1);
  Value source = emit.value(x), startValues = emit.value(starts);
  Value stepValues = node.has(4) ? emit.value(node.input(4)) : Value();
  return node.finish(emit.generate(
      *shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from(at);
        for (auto [i, axis] : llvm::enumerate(axes)) {
          int64_t dim = node.axis(axis, x.rank());
          Value start =
              toIndex(b, Emitter::at(b, startValues, index(b, int64_t(i))));
          Value step =
              stepValues
                  ? toIndex(b, Emitter::at(b, stepValues, index(b, int64_t(i))))
                  : index(b, 1);
          Value size = index(b, x.shape[dim].count);
          from[dim] = clampIndex(
              b, add(b, wrapIndex(b, start, size), mul(b, at[dim], step)),
              size);
        }
        return Emitter::at(b, source, from);
      }));
}

LogicalResult importSlice(Node &node) {
  const Tensor &x = node.input(0);
  if (node.opset >= 10)
    for (unsigned i = 1; i < node.numInputs(); ++i)
      if (node.has(i) && !node.input(i).host && node.declared(0))
        return sliceAtRunTime(node);
  Bounds bounds;
  if (failed(readBounds(node, bounds)))
    return failure();
  Shape shape = x.shape;
  SmallVector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  (void)node.axes(bounds.axes, x.rank());
  if (node.failed())
    return failure();
  for (auto [start, end, given, step] :
       llvm::zip_equal(bounds.starts, bounds.ends, bounds.axes, bounds.steps)) {
    int64_t axis = node.axis(given, x.rank());
    if (step == 0 || std::abs(step) > kMaxElements)
      return node.error("a step of " + Twine(step) +
                        "; expected one other than 0 of at most 2^40");
    if (x.shape[axis].batched) {
      if (start == 0 && end >= kMaxElements && step == 1)
        continue;
      return node.error("slices the batch, dimension " + Twine(axis) + " of " +
                        str(x.shape) + "; expected all of it");
    }
    starts[axis] = start;
    steps[axis] = step;
    shape[axis].count = resolve(starts[axis], end, step, x.shape[axis].count);
  }
  return node.finish(node.emit.slice(x, shape, starts, steps));
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
      sizes.push_back(std::clamp<int64_t>(total - i * chunk, 0, chunk));
  } else {
    sizes = *given;
  }
  int64_t sum = 0;
  for (int64_t size : sizes)
    sum = size < 0 || size > total ? -1 : sum < 0 ? sum : sum + size;
  if (sum != total || int64_t(sizes.size()) != count)
    return node.error("cannot split a dimension of " + Twine(total) +
                      " into sizes " + str(fixedShape(sizes)) + " for " +
                      Twine(count) + " outputs");
  return success();
}

LogicalResult importSplit(Node &node) {
  const Tensor &x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  if (node.failed())
    return failure();
  if (x.shape[axis].batched)
    return node.error("splits the batch, dimension " + Twine(axis) + " of " +
                      str(x.shape) + "; expected a fixed size");
  SmallVector<int64_t> sizes;
  if (node.opset >= 13 && node.has(1) && !node.input(1).host) {
    // Sizes known when the model runs: those that it declares.
    for (unsigned i = 0; i < node.numOutputs(); ++i)
      if (auto shape = node.declared(i);
          shape && int64_t(shape->size()) == x.rank())
        sizes.push_back((*shape)[axis].count);
    if (sizes.size() != node.numOutputs())
      return failure(!node.constants(1));
  } else if (failed(readSplit(node, x.shape[axis].count, sizes)))
    return failure();
  SmallVector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  for (int64_t size : sizes) {
    Shape shape = x.shape;
    shape[axis].count = size;
    if (failed(node.finish(node.emit.slice(x, shape, starts, steps))))
      return failure();
    starts[axis] += size;
  }
  return success();
}

LogicalResult importExpand(Node &node) {
  const Tensor &x = node.input(0);
  std::optional<Shape> wanted = node.shapeFrom(1);
  if (!wanted)
    return failure();
  std::optional<Shape> shape = broadcast(x.shape, *wanted);
  if (!shape)
    return node.error("cannot expand " + str(x.shape) + " to " + str(*wanted));
  if (failed(node.checkSize(*shape)))
    return failure();
  return node.finish(node.emit.expand(x, *shape));
}

} // namespace numera::importer
