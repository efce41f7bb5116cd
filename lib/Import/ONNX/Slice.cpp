//===- Slice.cpp - Concat, Slice, Split, Expand ---------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "List.h"
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
    bool fits = x.shape.size() == shape.size() && x.dataType == first.dataType;
    for (unsigned dim = 0; fits && dim < shape.size(); ++dim) {
      std::optional<Dim> same =
          dim == axis ? shape[dim]
                      : requireSame(node, shape[dim], x.shape[dim]);
      fits = same.has_value();
      shape[dim] = same.value_or(shape[dim]);
    }
    if (!fits)
      return node.error(node.inputName(i) + " has shape " + str(x.shape) +
                        "; expected the elements and, but for dimension " +
                        Twine(axis) + ", the shape of " + str(first.shape));
    if (i == 0)
      continue;
    std::optional<Dim> sum = node.emit.sum(shape[axis], x.shape[axis]);
    if (!sum)
      return node.error("concatenates " + str(shape) + " and " + str(x.shape) +
                        ", which is too much");
    shape[axis] = *sum;
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
  Shape starts, ends;
  SmallVector<int64_t> axes, steps;
};
} // namespace

static LogicalResult readBounds(Node &node, Bounds &bounds) {
  auto read = [&](StringRef name, unsigned i, Shape &list) {
    if (node.opset < 10) {
      std::optional<SmallVector<int64_t>> found = node.integers(name);
      list = found ? fixedShape(*found) : Shape();
      return found.has_value();
    }
    std::optional<SmallVector<Dim>> found;
    if (node.has(i))
      found = node.dims(i);
    list = found ? Shape(found->begin(), found->end()) : Shape();
    return found.has_value();
  };
  auto readConstants = [&](StringRef name, unsigned i,
                           SmallVector<int64_t> &list) {
    std::optional<SmallVector<int64_t>> found;
    if (node.opset < 10)
      found = name == "steps" ? found : node.integers(name);
    else if (node.has(i))
      found = node.constants(i);
    if (found)
      list = *found;
  };
  bool hasStarts = read("starts", 1, bounds.starts);
  bool hasEnds = read("ends", 2, bounds.ends);
  size_t count = bounds.starts.size();
  bounds.axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  bounds.steps.assign(count, 1);
  readConstants("axes", 3, bounds.axes);
  readConstants("steps", 4, bounds.steps);
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

/// numpy's slice of a dimension by indices that are known when the model runs:
/// where it starts, and how many elements it has.
static std::pair<Value, Value> resolve(LocBuilder &b, Value start, Value end,
                                       Value step, Value size) {
  Value zero = index(b, 0), one = index(b, 1);
  Value isBack = compare(b, Order::Less, step, zero);
  Value low = select(b, isBack, index(b, -1), zero);
  Value high = select(b, isBack, sub(b, size, one), size);
  auto place = [&](Value at) {
    // Far below, the sum stays below.
    at = max(b, at, index(b, -kMaxElements - 1));
    at = select(b, compare(b, Order::Less, at, zero), add(b, at, size), at);
    return max(b, low, min(b, at, high));
  };
  Value first = place(start), last = place(end);
  Value span = select(b, isBack, sub(b, first, last), sub(b, last, first));
  Value length = select(b, isBack, neg(b, step), step);
  Value count = add(b, div(b, sub(b, span, one), length), one);
  return {first, select(b, compare(b, Order::Less, zero, span), count, zero)};
}

/// Starts, ends, axes or steps that are known when the model runs: they give
/// the sizes that the model declares.
static LogicalResult sliceAtRunTime(Node &node, const Shape &shape) {
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  const Tensor &x = node.input(0);
  List starts(node, 1), ends(node, 2), axes(node, 3), steps(node, 4);
  if (node.failed())
    return failure();
  int64_t count = starts.size(), rank = x.rank();
  if (int64_t(shape.size()) != rank || ends.size() != count || count > rank ||
      (node.has(3) && axes.size() != count) ||
      (node.has(4) && steps.size() != count))
    return node.error(Twine(count) + " starts, " + Twine(ends.size()) +
                      " ends, " + Twine(axes.size()) + " axes, " +
                      Twine(steps.size()) + " steps of " + str(x.shape) +
                      ", to the declared " + str(shape));
  Value zero = index(b, 0), one = index(b, 1);
  SmallVector<Value> firsts(rank, zero), strides(rank, one), sizes;
  for (Dim dim : x.shape)
    sizes.push_back(emit.extent(dim));
  SmallVector<Value> counts = sizes, times(rank, zero);
  for (int64_t i = 0; i < count; ++i) {
    Value axis = node.has(3) ? axes.index(b, i) : index(b, i);
    axis = select(b, compare(b, Order::Less, axis, zero),
                  add(b, axis, index(b, rank)), axis);
    Value step = node.has(4) ? steps.index(b, i) : one;
    require(node, negation(b, compare(b, Order::Equal, step, zero)),
            "has a step of 0");
    Value isAny = constant(b, b.getI1Type(), 0);
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value isThis = compare(b, Order::Equal, axis, index(b, dim));
      auto [first, size] =
          resolve(b, starts.index(b, i), ends.index(b, i), step, sizes[dim]);
      firsts[dim] = select(b, isThis, first, firsts[dim]);
      strides[dim] = select(b, isThis, step, strides[dim]);
      counts[dim] = select(b, isThis, size, counts[dim]);
      times[dim] = select(b, isThis, add(b, times[dim], one), times[dim]);
      isAny = either(b, isAny, isThis);
    }
    require(node, isAny, "slices an axis that is out of range");
  }
  for (auto [dim, size] : llvm::enumerate(shape)) {
    require(node, compare(b, Order::Less, times[dim], index(b, 2)),
            "slices an axis twice");
    requireSize(node, counts[dim], size);
  }
  Value source = emit.value(x);
  return node.finish(emit.generate(
      shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from;
        for (int64_t dim = 0; dim < rank; ++dim)
          from.push_back(add(b, firsts[dim], mul(b, at[dim], strides[dim])));
        return Emitter::at(b, source, from);
      }));
}

namespace {
/// The slice of a dimension.
struct Cut {
  Dim size;
  int64_t start = 0, step = 1;
  Value first = {}; ///< null where `start` says it
};
} // namespace

/// The slice of a dimension that is not known, or by bounds that are not.
static std::optional<Cut> cutUnknown(Node &node, Dim size, Dim start, Dim end,
                                     int64_t step) {
  LocBuilder &b = node.emit.b;
  // Exporters write the largest number of 32 bits for an open end, too.
  bool isWhole = end == size || (!end.isDynamic() && end.count >= INT32_MAX);
  if (start.is(0) && step == 1 && isWhole)
    return Cut{size};
  if (!node.emit.isOutside()) {
    (void)node.error("slices a dimension of " + str({size}) +
                     " in a body; expected all of it");
    return std::nullopt;
  }
  auto value = [&](Dim dim) { return node.emit.extent(dim); };
  if (start.is(0) && step == 1 && end.isDynamic() && end.count > 0) {
    require(node, compare(b, Order::LessOrEqual, value(end), value(size)),
            "has an end beyond the " + str({size}) + " elements there are");
    return Cut{end};
  }
  // The last one.
  if (start.is(-1) && step == 1 && isWhole) {
    Value one = index(b, 1);
    require(node, compare(b, Order::LessOrEqual, one, value(size)),
            "has no last element");
    return Cut{Dim::fixed(1), 0, 1, sub(b, value(size), one)};
  }
  // A part whose size is known, such as the positions behind the past.
  if (start.count >= 0 && step == 1)
    if (std::optional<Dim> part = node.emit.sum(end, start, -1);
        part && part->isDynamic() && part->count > 0) {
      require(node, compare(b, Order::LessOrEqual, value(end), value(size)),
              "has an end beyond the " + str({size}) + " elements there are");
      return Cut{*part, 0, 1, value(start)};
    }
  auto [first, count] =
      resolve(b, value(start), value(end), index(b, step), value(size));
  return Cut{node.emit.computed(count), 0, step, first};
}

LogicalResult importSlice(Node &node) {
  const Tensor &x = node.input(0);
  if (node.opset >= 10)
    for (unsigned i = 1; i < node.numInputs(); ++i)
      if (std::optional<Shape> shape = node.declared(0);
          shape && node.has(i) && !node.input(i).host)
        return sliceAtRunTime(node, *shape);
  Bounds bounds;
  if (failed(readBounds(node, bounds)))
    return failure();
  (void)node.axes(bounds.axes, x.rank());
  if (node.failed())
    return failure();
  SmallVector<Cut> cuts;
  for (Dim size : x.shape)
    cuts.push_back({size});
  for (auto [start, end, given, step] :
       llvm::zip_equal(bounds.starts, bounds.ends, bounds.axes, bounds.steps)) {
    int64_t axis = node.axis(given, x.rank());
    Cut &cut = cuts[axis];
    if (step == 0 || std::abs(step) > kMaxElements)
      return node.error("a step of " + Twine(step) +
                        "; expected one other than 0 of at most 2^40");
    if (cut.size.isDynamic() || start.isDynamic() || end.isDynamic()) {
      std::optional<Cut> made = cutUnknown(node, cut.size, start, end, step);
      if (!made)
        return failure();
      cut = *made;
      continue;
    }
    cut.start = start.count;
    cut.step = step;
    cut.size.count = resolve(cut.start, end.count, step, cut.size.count);
  }
  Shape shape;
  SmallVector<int64_t> starts, steps;
  for (const Cut &cut : cuts) {
    shape.push_back(cut.size);
    starts.push_back(cut.start);
    steps.push_back(cut.step);
  }
  if (failed(node.checkSize(shape)))
    return failure();
  if (llvm::none_of(cuts, [](const Cut &cut) { return bool(cut.first); }))
    return node.finish(node.emit.slice(x, shape, starts, steps));
  Value source = node.emit.value(x);
  return node.finish(node.emit.generate(
      shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from;
        for (auto [i, cut] : llvm::zip_equal(at, cuts)) {
          Value first = cut.first ? cut.first : index(b, cut.start);
          from.push_back(add(b, first, mul(b, i, index(b, cut.step))));
        }
        return Emitter::at(b, source, from);
      }));
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
  if (x.shape[axis].isDynamic())
    return node.error("splits a size that is not known, dimension " +
                      Twine(axis) + " of " + str(x.shape) +
                      "; expected a fixed size");
  SmallVector<int64_t> sizes;
  if (node.opset >= 13 && node.has(1) && !node.input(1).host) {
    // Sizes known when the model runs: those that it declares.
    for (unsigned i = 0; i < node.numOutputs(); ++i)
      if (auto shape = node.declared(i);
          shape && int64_t(shape->size()) == x.rank())
        sizes.push_back((*shape)[axis].count);
    if (sizes.size() != node.numOutputs())
      return failure(!node.constants(1));
    int64_t sum = 0;
    for (int64_t size : sizes)
      sum += size;
    if (sum != x.shape[axis].count)
      return node.error("splits " + str(x.shape) + " into declared sizes of " +
                        Twine(sum));
    if (failed(requireSizes(node, 1, fixedShape(sizes))))
      return failure();
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

/// The computed sizes of Expand give those that the model declares: each of
/// them is the size, or 1 where the tensor has it.
static LogicalResult requireExpanded(Node &node, ArrayRef<Dim> shape) {
  const Shape &from = node.input(0).shape;
  LocBuilder &b = node.emit.b;
  List list(node, 1);
  if (node.failed())
    return failure();
  size_t listed = size_t(list.size()), rank = shape.size();
  if (std::max(listed, from.size()) != rank)
    return node.error(Twine(list.size()) + " computed sizes for " + str(from) +
                      "; the model declares " + str(shape));
  auto sizeOf = [&](Dim size) { return node.emit.extent(size); };
  for (size_t i = rank - listed; i < rank; ++i) {
    Value given = list.index(b, int64_t(i - (rank - listed)));
    if (i + from.size() >= rank && from[i + from.size() - rank] == shape[i])
      given = select(b, compare(b, Order::Equal, given, index(b, 1)),
                     sizeOf(shape[i]), given);
    requireSize(node, given, shape[i]);
  }
  return success();
}

LogicalResult importExpand(Node &node) {
  const Tensor &x = node.input(0);
  std::optional<Shape> wanted = node.shapeFrom(1);
  if (!wanted)
    return failure();
  std::optional<Shape> shape = broadcast(node, x.shape, *wanted);
  if (!shape)
    return node.error("cannot expand " + str(x.shape) + " to " + str(*wanted));
  if (failed(node.checkSize(*shape)) ||
      (!node.input(1).host && failed(requireExpanded(node, *shape))))
    return failure();
  return node.finish(node.emit.expand(x, *shape));
}

} // namespace numera::importer
