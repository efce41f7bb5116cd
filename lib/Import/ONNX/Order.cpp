//===- Order.cpp - Sorting, counting and running sums ---------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// An element's rank is the number of elements that come before it. All ranks
// are independent sums, and an element of a sorted result is the one with its
// rank.
//
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

LogicalResult importTopK(Node &node) {
  const Tensor &x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  bool largest = node.integer("largest", 1);
  node.ignore("sorted"); // which a sorted result is, too
  if (node.failed())
    return failure();
  int64_t k = 0;
  if (node.opset < 10) {
    k = node.integer("k", 0);
  } else if (node.input(1).host) {
    std::optional<SmallVector<int64_t>> list = node.constants(1);
    if (!list || list->size() != 1)
      return node.error("expected one number k");
    k = list->front();
  } else if (node.declared(0) &&
             int64_t(node.declared(0)->size()) == x.rank()) {
    k = (*node.declared(0))[axis].count;
    if (failed(requireSizes(node, 1, {Dim::fixed(k)})))
      return failure();
  } else {
    return failure(!node.constants(1));
  }
  Dim size = x.shape[axis];
  if (size.isDynamic() || k < 0 || k > size.count)
    return node.error("the " + Twine(k) + " first of dimension " + Twine(axis) +
                      " of " + str(x.shape));
  Emitter &emit = node.emit;
  Value source = emit.value(x);
  bool noSign = isUnsigned(x.dataType);
  Type i64 = emit.b.getI64Type();
  Tensor ranks = emit.generateReduced(
      x.shape, {size.count}, emit.b.getI64IntegerAttr(0), type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> here(at.take_front(x.rank())), there(here);
        there[axis] = at[x.rank()];
        Value mine = Emitter::at(b, source, here);
        Value other = Emitter::at(b, source, there);
        Value isEqual = compare(b, Order::Equal, other, mine);
        Value first = largest ? compare(b, Order::Less, mine, other, noSign)
                              : compare(b, Order::Less, other, mine, noSign);
        if (!x.isIntegral()) {
          // NaN is larger than all numbers, as in NumPy.
          Value mineNaN = isNaN(b, mine), otherNaN = isNaN(b, other);
          isEqual = either(b, isEqual, both(b, mineNaN, otherNaN));
          first = either(b, first,
                         largest ? both(b, otherNaN, negation(b, mineNaN))
                                 : both(b, mineNaN, negation(b, otherNaN)));
        }
        Value isEarlier = compare(b, Order::Less, there[axis], here[axis]);
        Value before = either(b, first, both(b, isEqual, isEarlier));
        return add(b, at.back(), arith::ExtUIOp::create(b, i64, before));
      });
  Shape shape = x.shape;
  shape[axis] = Dim::fixed(k);
  Value rankValues = emit.value(ranks);
  Tensor places = emit.generateReduced(
      shape, {size.count}, emit.b.getI64IntegerAttr(0), type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> there(at.take_front(x.rank()));
        there[axis] = at[x.rank()];
        Value rank = Emitter::at(b, rankValues, there);
        Value found =
            compare(b, Order::Equal, rank, fromIndex(b, at[axis], i64));
        return select(b, found, fromIndex(b, at[x.rank()], i64), at.back());
      });
  Value placeValues = emit.value(places);
  Tensor values = emit.generate(
      shape, x.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> from(at);
        from[axis] = wrapIndex(b, toIndex(b, Emitter::at(b, placeValues, at)),
                               index(b, size.count));
        return Emitter::at(b, source, from);
      });
  if (failed(node.finish(values)))
    return failure();
  return node.finish(places);
}

/// The slice of dimension `axis` at `place`, without the dimension.
static Value sliceAt(Emitter &emit, LocBuilder &b, Value source,
                     const Tensor &x, int64_t axis, Value place) {
  SmallVector<OpFoldResult> offsets(x.rank(), b.getIndexAttr(0)),
      sizes = emit.sizes(x.shape), strides(x.rank(), b.getIndexAttr(1));
  offsets[axis] = place;
  sizes[axis] = b.getIndexAttr(1);
  Shape kept = x.shape;
  kept.erase(kept.begin() + axis);
  return tensor::ExtractSliceOp::create(b, emit.type(kept, x.dataType), source,
                                        offsets, sizes, strides);
}

static Value insertAt(Emitter &emit, LocBuilder &b, Value part, Value into,
                      const Tensor &x, int64_t axis, Value place) {
  SmallVector<OpFoldResult> offsets(x.rank(), b.getIndexAttr(0)),
      sizes = emit.sizes(x.shape), strides(x.rank(), b.getIndexAttr(1));
  offsets[axis] = place;
  sizes[axis] = b.getIndexAttr(1);
  return tensor::InsertSliceOp::create(b, part, into, offsets, sizes, strides);
}

/// Running sums and products: a loop along the axis, whose steps are on slices.
static LogicalResult cumulate(Node &node, int64_t axis) {
  const Tensor &x = node.input(0);
  bool exclusive = node.integer("exclusive", 0);
  bool reverse = node.integer("reverse", 0);
  bool isProduct = node.op() == "CumProd";
  if (node.failed())
    return failure();
  if (llvm::any_of(x.shape, [](Dim size) { return size.is(0); }))
    return node.finish(x); // no place that a slice could begin at
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  Dim steps = x.shape[axis];
  Shape kept = x.shape;
  kept.erase(kept.begin() + axis);
  Value source = emit.value(x);
  Value start = emit.filled(kept, emit.number(isProduct, x.dataType));
  Value target = emit.empty(x.shape, x.dataType);
  Value zero = index(b, 0), one = index(b, 1);
  Value count = emit.extent(steps);
  auto loop =
      scf::ForOp::create(b, zero, count, one, ValueRange{start, target});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    Value place = reverse ? sub(b, sub(b, count, one), i) : i;
    Tensor part =
        emit.result(sliceAt(emit, b, source, x, axis, place), kept, x.dataType);
    Tensor before = emit.result(loop.getRegionIterArg(0), kept, x.dataType);
    Tensor after =
        emit.map({&before, &part}, kept, [&](LocBuilder &b, ValueRange args) {
          return isProduct ? mul(b, args[0], args[1])
                           : add(b, args[0], args[1]);
        });
    Value into = insertAt(emit, b, (exclusive ? before : after).value,
                          loop.getRegionIterArg(1), x, axis, place);
    scf::YieldOp::create(b, ValueRange{after.value, into});
  }
  return node.finish(emit.result(loop.getResult(1), x.shape, x.dataType));
}

LogicalResult importCumulate(Node &node) {
  const Tensor &x = node.input(0), &which = node.input(1);
  if (which.host) {
    if (!which.isIntegral() || elementCount(which.shape) != 1)
      return node.error("the axis has shape " + str(which.shape) +
                        "; expected one integer");
    int64_t axis = node.axis(which.host->ints[0].count, x.rank());
    return node.failed() ? failure() : cumulate(node, axis);
  }
  // The axis is known when the model runs: all of them are there to choose.
  Emitter &emit = node.emit;
  Tensor chosen = emit.reshape(which, {});
  std::optional<Tensor> result;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (failed(cumulate(node, axis)))
      return failure();
    Tensor one = node.results.pop_back_val();
    if (!result) {
      result = one;
      continue;
    }
    result = emit.map(
        {&chosen, &one, &*result}, x.shape,
        [&](LocBuilder &b, ValueRange args) {
          Value wanted = wrapIndex(b, toIndex(b, args[0]), index(b, x.rank()));
          return select(b, compare(b, Order::Equal, wanted, index(b, axis)),
                        args[1], args[2]);
        },
        x.dataType);
  }
  return result ? node.finish(*result) : node.error("of a scalar");
}

/// 1 at the first maximum, 0 elsewhere.
LogicalResult importHardmax(Node &node) {
  const Tensor &x = node.input(0);
  bool coerced = node.opset < 13;
  int64_t axis = node.axis(node.integer("axis", coerced ? 1 : -1), x.rank());
  if (node.failed())
    return failure();
  Shape rows = x.shape;
  Tensor flat = x;
  if (coerced) {
    flat = node.emit.reshape(x, {product(ArrayRef(x.shape).take_front(axis)),
                                 product(ArrayRef(x.shape).drop_front(axis))});
    axis = 1;
  }
  if (flat.isEmpty())
    return node.finish(x);
  if (flat.shape[axis].isDynamic())
    return node.error("dimension " + Twine(axis) + " of " + str(flat.shape) +
                      "; expected a fixed size");
  auto results = node.compute(("best = ArgMax<axis = " + Twine(axis) +
                               ", keepdims = 0>(x)\n"
                               "n = Shape<start = " +
                               Twine(axis) + ", end = " + Twine(axis + 1) +
                               ">(x)\n"
                               "one = Squeeze(n)\n"
                               "values = Cast<to = 1>([0, 1])\n"
                               "y = OneHot<axis = " +
                               Twine(axis) + ">(best, one, values)\n")
                                  .str(),
                              {{"x", &flat}}, {"y"});
  if (!results)
    return failure();
  return node.finish(node.emit.reshape(
      convertTo(node.emit, results->front(), x.dataType), rows));
}

/// The number of `flags` that are set before each, and all of them behind.
static Tensor countBefore(Emitter &emit, const Tensor &flags) {
  Type i64 = emit.b.getI64Type();
  int64_t size = flags.shape[0].count;
  Value values = emit.value(flags);
  LocBuilder &b = emit.b;
  Value target = emit.empty({Dim::fixed(size + 1)}, type::Int64);
  Value zero = index(b, 0), one = index(b, 1);
  Value none = constant(b, i64, 0);
  Value first = tensor::InsertOp::create(b, none, target, zero);
  auto loop = scf::ForOp::create(
      b, zero, index(b, size), one, first,
      [&](OpBuilder &nested, Location loc, Value i, ValueRange carried) {
        LocBuilder inner(loc, nested);
        Value before = Emitter::at(inner, carried[0], i);
        Value flag = Emitter::at(inner, values, i);
        Value after =
            add(inner, before, arith::ExtUIOp::create(inner, i64, flag));
        Value next = add(inner, i, index(inner, 1));
        scf::YieldOp::create(
            inner, tensor::InsertOp::create(inner, after, carried[0], next)
                       .getResult());
      });
  return emit.result(loop.getResult(0), {Dim::fixed(size + 1)}, type::Int64);
}

Tensor placesOf(Node &node, const Tensor &flags, std::optional<int64_t> count) {
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  Tensor counts = countBefore(emit, flags);
  int64_t size = flags.shape[0].count;
  Value values = emit.value(flags), before = emit.value(counts);
  Value found = toIndex(b, Emitter::at(b, before, index(b, size)));
  if (count)
    require(node, compare(b, Order::Equal, found, index(b, *count)),
            "finds another number of elements than the model declares");
  // Of all that there may be, the first are kept.
  int64_t most = count.value_or(size);
  Value target = emit.filled({Dim::fixed(most)}, b.getI64IntegerAttr(0));
  if (most == 0)
    return emit.result(target, {Dim::fixed(0)}, type::Int64);
  Value zero = index(b, 0), one = index(b, 1);
  auto loop = scf::ForOp::create(
      b, zero, index(b, size), one, target,
      [&](OpBuilder &nested, Location loc, Value i, ValueRange carried) {
        LocBuilder inner(loc, nested);
        Type i64 = inner.getI64Type();
        Value flag = Emitter::at(inner, values, i);
        // What is not set writes over a place that is written again, or its own
        // value where it is the last.
        Value place =
            clampIndex(inner, toIndex(inner, Emitter::at(inner, before, i)),
                       index(inner, most));
        Value old = Emitter::at(inner, carried[0], place);
        Value next = select(inner, flag, fromIndex(inner, i, i64), old);
        scf::YieldOp::create(
            inner, tensor::InsertOp::create(inner, next, carried[0], place)
                       .getResult());
      });
  if (count)
    return emit.result(loop.getResult(0), {Dim::fixed(most)}, type::Int64);
  Dim kept = emit.computed(found);
  SmallVector<OpFoldResult> starts = {b.getIndexAttr(0)},
                            steps = {b.getIndexAttr(1)};
  Value part = tensor::ExtractSliceOp::create(b, emit.type({kept}, type::Int64),
                                              loop.getResult(0), starts,
                                              emit.sizes({kept}), steps);
  return emit.result(part, {kept}, type::Int64);
}

std::optional<int64_t> declaredSize(Node &node, unsigned output, size_t axis) {
  std::optional<Shape> shape = node.declared(output);
  if (shape && axis < shape->size() && !(*shape)[axis].isDynamic())
    return (*shape)[axis].count;
  if (!node.emit.isOutside())
    (void)node.error("how many elements there are is known only when the model "
                     "runs, and the model does not declare it in a loop or a "
                     "branch");
  return std::nullopt;
}

LogicalResult importNonZero(Node &node) {
  const Tensor &x = node.input(0);
  std::optional<int64_t> count = declaredSize(node, 0, 1);
  if (node.failed())
    return failure();
  Emitter &emit = node.emit;
  if (llvm::any_of(x.shape, [](Dim dim) { return dim.isDynamic(); }))
    return node.error("of the batch, in " + str(x.shape));
  // A scalar has no indices.
  Shape shape = {Dim::fixed(x.rank()), Dim::fixed(count.value_or(0))};
  if (x.isEmpty() || count == 0)
    return node.finish(
        emit.result(emit.empty(shape, type::Int64), shape, type::Int64));
  Tensor flags = emit.reshape(convertTo(emit, x, type::Bool),
                              {Dim::fixed(*elementCount(x.shape))});
  Tensor places = placesOf(node, flags, count);
  shape[1] = places.shape[0];
  Value values = emit.value(places);
  SmallVector<int64_t> strides = stridesOf(x.shape);
  return node.finish(emit.generate(
      shape, type::Int64, [&](LocBuilder &b, ValueRange at) -> Value {
        Value flat = toIndex(b, Emitter::at(b, values, at[1]));
        Value result = index(b, 0);
        for (int64_t i = 0; i < x.rank(); ++i) {
          Value place = arith::RemUIOp::create(
              b, arith::DivUIOp::create(b, flat, index(b, strides[i])),
              index(b, x.shape[i].count));
          result = select(b, compare(b, Order::Equal, at[0], index(b, i)),
                          place, result);
        }
        return fromIndex(b, result, b.getI64Type());
      }));
}

LogicalResult importCompress(Node &node) {
  Tensor x = node.input(0);
  Tensor condition = node.input(1);
  Emitter &emit = node.emit;
  bool isFlat = !node.hasAttribute("axis");
  int64_t axis = 0;
  if (isFlat)
    x = emit.reshape(x, {product(x.shape)});
  else
    axis = node.axis(node.integer("axis", 0), x.rank());
  if (node.failed())
    return failure();
  if (condition.dataType != type::Bool || condition.rank() != 1 ||
      condition.shape[0].isDynamic() || x.shape[axis].isDynamic())
    return node.error("a condition of shape " + str(condition.shape) +
                      " for dimension " + Twine(axis) + " of " + str(x.shape) +
                      "; expected BOOL and fixed sizes");
  // Flags beyond the dimension do not count.
  if (condition.shape[0].count > x.shape[axis].count)
    condition = emit.slice(condition, {x.shape[axis]}, {0}, {1});
  SmallVector<int64_t> known;
  std::optional<int64_t> count;
  if (condition.host) {
    for (auto [i, flag] : llvm::enumerate(condition.host->ints))
      if (flag.count)
        known.push_back(int64_t(i));
    count = known.size();
  } else {
    count = declaredSize(node, 0, axis);
  }
  if (node.failed())
    return failure();
  Tensor places =
      condition.host ? Tensor::ofInts(known) : placesOf(node, condition, count);
  return node.expand(
      ("y = Gather<axis = " + Twine(axis) + ">(x, places)\n").str(),
      {{"x", &x}, {"places", &places}}, {"y"});
}

} // namespace numera::importer
