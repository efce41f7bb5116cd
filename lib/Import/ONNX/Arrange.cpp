//===- Arrange.cpp - Elements in other places -----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

LogicalResult importTile(Node &node) {
  const Tensor &x = node.input(0);
  Shape shape = x.shape;
  if (!node.input(1).host && node.declared(0) &&
      node.declared(0)->size() == shape.size()) {
    shape = *node.declared(0);
    List repeats(node, 1);
    if (node.failed())
      return failure();
    if (repeats.size() != x.rank())
      return node.error(Twine(repeats.size()) + " repeats of " + str(x.shape) +
                        "; expected one for each dimension");
    LocBuilder &b = node.emit.b;
    for (auto [i, from, to] : llvm::enumerate(x.shape, shape)) {
      if (from.isDynamic() != to.isDynamic() || (from.is(0) && !to.is(0)))
        return node.error("repeats " + str(x.shape) + " to " + str(shape));
      Value size = node.emit.extent(from);
      requireSize(node, mul(b, size, repeats.index(b, int64_t(i))), to);
    }
  } else {
    std::optional<SmallVector<Dim>> repeats = node.dims(1);
    if (!repeats)
      return failure();
    if (repeats->size() != shape.size())
      return node.error(Twine(repeats->size()) + " repeats of " + str(x.shape) +
                        "; expected one for each dimension");
    for (auto [dim, times] : llvm::zip_equal(shape, *repeats)) {
      if (times.count < 0 || times.count > kMaxElements)
        return node.error("repeats a dimension " + Twine(times.count) +
                          " times; expected 0 to 2^40");
      // An element's place is its index modulo the dimension's fixed size.
      if (dim.isDynamic() && !times.is(1))
        return node.error("repeats a size that is not known, of " +
                          str(x.shape));
      dim = {dim.count * times.count, dim.sizes | times.sizes};
    }
  }
  if (failed(node.checkSize(shape)))
    return failure();
  if (shape == x.shape)
    return node.finish(x);
  Value source = node.emit.value(x);
  return node.finish(node.emit.generate(
      shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from(at);
        for (auto [i, dim] : llvm::enumerate(x.shape))
          if (dim != shape[i])
            from[i] = dim.is(1) ? index(b, 0)
                                : arith::RemUIOp::create(b, at[i],
                                                         index(b, dim.count));
        return Emitter::at(b, source, from);
      }));
}

/// Splits channels into blocks or blocks into channels, by a transpose between
/// two reshapes.
LogicalResult importDepthToSpace(Node &node) {
  const Tensor &x = node.input(0);
  int64_t block = node.integer("blocksize", 0);
  std::string mode = node.text("mode", "DCR");
  if (node.failed() || failed(node.checkRank(0, 4)))
    return failure();
  if (mode != "DCR" && mode != "CRD")
    return node.error("attribute 'mode' is " + quote(mode) +
                      "; expected DCR or CRD");
  Dim n = x.shape[0], c = x.shape[1], h = x.shape[2], w = x.shape[3];
  bool toSpace = node.op() == "DepthToSpace";
  int64_t area = block * block;
  if (block < 1 || block > (1 << 20) ||
      (toSpace ? c.count % area != 0
               : h.count % block != 0 || w.count % block != 0))
    return node.error("blocks of " + Twine(block) + " do not divide " +
                      str(x.shape));
  auto fixed = [](int64_t count) { return Dim::fixed(count); };
  Emitter &emit = node.emit;
  if (toSpace) {
    Dim depth = fixed(c.count / area), b = fixed(block);
    Shape result = {n, depth, fixed(h.count * block), fixed(w.count * block)};
    bool isDcr = mode == "DCR";
    Tensor split = emit.reshape(x, isDcr ? Shape{n, b, b, depth, h, w}
                                         : Shape{n, depth, b, b, h, w});
    Tensor moved =
        emit.transpose(split, isDcr ? ArrayRef<int64_t>{0, 3, 4, 1, 5, 2}
                                    : ArrayRef<int64_t>{0, 1, 4, 2, 5, 3});
    return node.finish(emit.reshape(moved, result));
  }
  Dim rows = fixed(h.count / block), columns = fixed(w.count / block);
  Dim b = fixed(block);
  Tensor split = emit.reshape(x, {n, c, rows, b, columns, b});
  bool isDcr = mode == "DCR";
  Tensor moved =
      emit.transpose(split, isDcr ? ArrayRef<int64_t>{0, 3, 5, 1, 2, 4}
                                  : ArrayRef<int64_t>{0, 1, 3, 5, 2, 4});
  return node.finish(
      emit.reshape(moved, {n, fixed(c.count * area), rows, columns}));
}

LogicalResult importReverseSequence(Node &node) {
  const Tensor &x = node.input(0), &lengths = node.input(1);
  int64_t time = node.axis(node.integer("time_axis", 0), x.rank());
  int64_t batch = node.axis(node.integer("batch_axis", 1), x.rank());
  if (node.failed() || failed(node.checkInteger(1)) ||
      failed(node.checkRank(1, 1)))
    return failure();
  if (time == batch || lengths.shape[0] != x.shape[batch] ||
      x.shape[time].isDynamic())
    return node.error("lengths of shape " + str(lengths.shape) + " for " +
                      str(x.shape) + " along axes " + Twine(time) + " and " +
                      Twine(batch));
  Value source = node.emit.value(x), counts = node.emit.value(lengths);
  int64_t size = x.shape[time].count;
  return node.finish(node.emit.generate(
      x.shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        Value count = toIndex(b, Emitter::at(b, counts, at[batch]));
        Value mirrored = sub(b, sub(b, count, index(b, 1)), at[time]);
        SmallVector<Value> from(at);
        from[time] =
            clampIndex(b,
                       select(b, compare(b, Order::Less, at[time], count),
                              mirrored, at[time]),
                       index(b, size));
        return Emitter::at(b, source, from);
      }));
}

LogicalResult importTrilu(Node &node) {
  const Tensor &x = node.input(0);
  bool isUpper = node.integer("upper", 1);
  if (node.failed() || x.rank() < 2)
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected 2 dimensions or more");
  Tensor zero = Tensor::ofInts({Dim::fixed(0)}, {});
  Tensor diagonal = node.has(1) && !node.input(1).isEmpty()
                        ? node.emit.reshape(node.input(1), {})
                        : zero;
  unsigned row = x.rank() - 2, column = x.rank() - 1;
  return node.finish(node.emit.map(
      {&x, &diagonal}, x.shape,
      [&](LocBuilder &b, ValueRange args) -> Value {
        Value i = linalg::IndexOp::create(b, row);
        Value j = linalg::IndexOp::create(b, column);
        Value edge = add(b, i, toIndex(b, args[1]));
        Value keep = isUpper ? compare(b, Order::LessOrEqual, edge, j)
                             : compare(b, Order::LessOrEqual, j, edge);
        return select(b, keep, args[0], constant(b, args[0].getType(), 0));
      },
      x.dataType));
}

/// How many numbers a range has, as an index; less than 0 for a step of 0.
static Value countOf(Node &node) {
  LocBuilder &b = node.emit.b;
  if (!node.input(0).isIntegral()) {
    Value start = List(node, 0).real(b, 0), limit = List(node, 1).real(b, 0);
    Value steps = div(b, sub(b, limit, start), List(node, 2).real(b, 0));
    Value count = math::CeilOp::create(b, steps);
    Value zero = constant(b, b.getF64Type(), 0);
    return toIndex(
        b, select(b, compare(b, Order::Less, zero, count), count, zero));
  }
  Value start = List(node, 0).index(b, 0), limit = List(node, 1).index(b, 0);
  Value step = List(node, 2).index(b, 0), zero = index(b, 0);
  Value isBack = compare(b, Order::Less, step, zero);
  Value span = select(b, isBack, sub(b, start, limit), sub(b, limit, start));
  Value size = select(b, isBack, neg(b, step), step);
  Value count = div(b, add(b, span, sub(b, size, index(b, 1))), size);
  count = select(b, compare(b, Order::Less, zero, span), count, zero);
  return select(b, compare(b, Order::Equal, step, zero), index(b, -1), count);
}

/// How many numbers a range by 1 between sizes has: their difference.
static std::optional<Dim> sizeOfCount(Node &node) {
  auto number = [&](unsigned i) -> std::optional<Dim> {
    const Tensor &tensor = node.input(i);
    if (!tensor.host || !tensor.isIntegral() || tensor.host->ints.size() != 1)
      return std::nullopt;
    return tensor.host->ints[0];
  };
  std::optional<Dim> start = number(0), limit = number(1), step = number(2);
  if (!start || !limit || !step || !step->is(1))
    return std::nullopt;
  std::optional<Dim> count = node.emit.sum(*limit, *start, -1);
  return count && count->count >= 0 ? count : std::nullopt;
}

/// Numbers from the start by the step.
LogicalResult importRange(Node &node) {
  const Tensor &start = node.input(0), &limit = node.input(1),
               &delta = node.input(2);
  if (start.dataType != limit.dataType || start.dataType != delta.dataType)
    return node.error("start, limit and delta differ in type");
  Shape shape;
  bool isKnown = start.host && limit.host && delta.host && !start.isDynamic() &&
                 !limit.isDynamic() && !delta.isDynamic();
  if (isKnown) {
    auto number = [](const Tensor &tensor) {
      return tensor.isIntegral() ? double(tensor.host->ints[0].count)
                                 : tensor.number(0);
    };
    for (const Tensor *one : {&start, &limit, &delta})
      if (elementCount(one->shape) != 1)
        return node.error("a scalar has shape " + str(one->shape));
    double step = number(delta);
    double count = std::ceil((number(limit) - number(start)) / step);
    if (!(step != 0) || !(count < double(kMaxElements)))
      return node.error("a step of " + std::to_string(step) + " to the limit");
    shape = {Dim::fixed(count > 0 ? int64_t(count) : 0)};
  } else if (std::optional<Dim> size = sizeOfCount(node)) {
    shape = {*size};
  } else if (std::optional<Shape> known = node.declared(0)) {
    if (known->size() != 1)
      return node.error("a range of shape " + str(*known));
    shape = *known;
    requireSize(node, countOf(node), shape[0]);
  } else if (node.emit.isOutside()) {
    // Memory for much more may not be there.
    LocBuilder &b = node.emit.b;
    Value count = countOf(node);
    require(node,
            both(b, compare(b, Order::LessOrEqual, index(b, 0), count),
                 compare(b, Order::LessOrEqual, count, index(b, kMaxFolded))),
            "has a step of 0 or more than 2^26 numbers");
    shape = {node.emit.computed(count)};
  } else {
    return node.error("a range whose length is computed when the model runs "
                      "and not declared");
  }
  Tensor first = node.emit.reshape(start, {}),
         step = node.emit.reshape(delta, {});
  Tensor numbers = node.emit.map(
      {&first, &step}, shape, [&](LocBuilder &b, ValueRange args) -> Value {
        Value i =
            fromIndex(b, linalg::IndexOp::create(b, 0), args[0].getType());
        return add(b, args[0], mul(b, i, args[1]));
      });
  return node.finish(numbers);
}

LogicalResult importOneHot(Node &node) {
  const Tensor &where = node.input(0), &depth = node.input(1),
               &values = node.input(2);
  int64_t axis = node.axis(node.integer("axis", -1), where.rank() + 1);
  if (node.failed())
    return failure();
  int64_t size = 0;
  bool isComputed = false;
  if (depth.host && !depth.isDynamic() && elementCount(depth.shape) == 1)
    size = depth.isIntegral() ? depth.host->ints[0].count
                              : int64_t(depth.number(0));
  else if (node.declared(0) &&
           int64_t(node.declared(0)->size()) == where.rank() + 1)
    size = (*node.declared(0))[axis].count, isComputed = true;
  else
    return node.error("a depth that is computed when the model runs and not "
                      "declared");
  if (size < 0 || size > kMaxElements || values.shape != fixedShape({2}))
    return node.error("a depth of " + Twine(size) + " with values of shape " +
                      str(values.shape) + "; expected two values");
  Shape shape = where.shape;
  shape.insert(shape.begin() + axis, Dim::fixed(size));
  if (failed(node.checkSize(shape)) ||
      (isComputed && failed(requireSizes(node, 1, {Dim::fixed(size)}))))
    return failure();
  SmallVector<unsigned, 4> along;
  for (unsigned i = 0; i < shape.size(); ++i)
    if (i != axis)
      along.push_back(i);
  Value both = node.emit.value(values);
  return node.finish(node.emit.mapAlong(
      {{&where, along}}, shape,
      [&](LocBuilder &b, ValueRange args) -> Value {
        Value wanted = toIndex(b, args[0]), zero = index(b, 0);
        wanted = select(b, compare(b, Order::Less, wanted, zero),
                        add(b, wanted, index(b, size)), wanted);
        Value here = linalg::IndexOp::create(b, axis);
        Value off = Emitter::at(b, both, zero);
        Value on = Emitter::at(b, both, index(b, 1));
        return select(b, compare(b, Order::Equal, wanted, here), on, off);
      },
      values.dataType));
}

LogicalResult importEyeLike(Node &node) {
  const Tensor &x = node.input(0);
  int64_t dataType = node.integer("dtype", x.dataType);
  int64_t k = node.integer("k", 0);
  if (node.failed() || failed(node.checkRank(0, 2)))
    return failure();
  if (!isNumeric(dataType))
    return node.error("gives type " + dataTypeName(dataType));
  int64_t wide = isNarrow(dataType) ? int64_t(type::Float) : dataType;
  Type element = node.emit.element(wide);
  return node.finish(convertTo(
      node.emit,
      node.emit.generate(x.shape, wide,
                         [&](LocBuilder &b, ValueRange at) -> Value {
                           Value isOne =
                               compare(b, Order::Equal,
                                       add(b, at[0], index(b, k)), at[1]);
                           return select(b, isOne, constant(b, element, 1),
                                         constant(b, element, 0));
                         }),
      dataType));
}

} // namespace numera::importer
