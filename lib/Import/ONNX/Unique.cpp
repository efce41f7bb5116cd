//===- Unique.cpp - Elements or slices that differ ------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// All slices are compared with all. A slice is kept if none before it is the
// same; its place in a sorted result is the number of kept ones that are less.
// How many are kept is what the model declares, or is computed.
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

/// -1, 0 or 1 for each pair of rows of `x`: the order of their first elements
/// that differ. A NaN is greater than all numbers and the same as another one.
static Tensor compareRows(Emitter &emit, const Tensor &x) {
  Value source = emit.value(x);
  bool noSign = isUnsigned(x.dataType) || x.dataType == type::Bool;
  Type i64 = emit.b.getI64Type();
  return emit.generateReduced(
      {x.shape[0], x.shape[0]}, {x.shape[1].count}, emit.b.getI64IntegerAttr(0),
      type::Int64, [&](LocBuilder &b, ValueRange at) -> Value {
        Value one = Emitter::at(b, source, {at[0], at[2]});
        Value other = Emitter::at(b, source, {at[1], at[2]});
        Value isLess = compare(b, Order::Less, one, other, noSign);
        Value isMore = compare(b, Order::Less, other, one, noSign);
        if (!x.isIntegral()) {
          Value oneNaN = isNaN(b, one), otherNaN = isNaN(b, other);
          isLess = either(b, isLess, both(b, otherNaN, negation(b, oneNaN)));
          isMore = either(b, isMore, both(b, oneNaN, negation(b, otherNaN)));
        }
        Value order =
            select(b, isLess, constant(b, i64, -1),
                   select(b, isMore, constant(b, i64, 1), constant(b, i64, 0)));
        Value known = compare(b, Order::Equal, at.back(), constant(b, i64, 0));
        return select(b, known, order, at.back());
      });
}

/// Flags of the rows that no row before is the same as.
static Tensor firstRows(Emitter &emit, const Tensor &orders) {
  Value order = emit.value(orders);
  Shape rows = {orders.shape[0]};
  Type i64 = emit.b.getI64Type();
  Tensor before = emit.generateReduced(
      rows, {rows[0].count}, emit.b.getI64IntegerAttr(0), type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        Value zero = constant(b, i64, 0);
        Value isSame =
            both(b, compare(b, Order::Less, at[1], at[0]),
                 compare(b, Order::Equal, Emitter::at(b, order, {at[0], at[1]}),
                         zero));
        return add(b, at[2], arith::ExtUIOp::create(b, i64, isSame));
      });
  return emit.map(
      {&before}, rows,
      [&](LocBuilder &b, ValueRange args) {
        return compare(b, Order::Equal, args[0], constant(b, i64, 0));
      },
      type::Bool);
}

/// The places of the rows that are kept, in their order if `isSorted`.
static Tensor sortKept(Emitter &emit, const Tensor &orders, const Tensor &kept,
                       bool isSorted) {
  if (!isSorted || kept.isEmpty())
    return kept;
  Dim count = kept.shape[0];
  Value order = emit.value(orders), places = emit.value(kept);
  Type i64 = emit.b.getI64Type();
  TypedAttr none = emit.b.getI64IntegerAttr(0);
  auto place = [&](LocBuilder &b, Value i) {
    return toIndex(b, Emitter::at(b, places, i));
  };
  Tensor less = emit.generateReducedAlong(
      kept.shape, {count}, none, type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        Value found = Emitter::at(b, order, {place(b, at[1]), place(b, at[0])});
        Value isLess = compare(b, Order::Less, found, constant(b, i64, 0));
        return add(b, at[2], arith::ExtUIOp::create(b, i64, isLess));
      });
  Value ranks = emit.value(less);
  return emit.generateReducedAlong(
      kept.shape, {count}, none, type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        Value isHere = compare(b, Order::Equal, Emitter::at(b, ranks, at[1]),
                               fromIndex(b, at[0], i64));
        return select(b, isHere, Emitter::at(b, places, at[1]), at[2]);
      });
}

/// For each of `rows`, the sum over the others of `number` where both are the
/// same.
static Tensor
sumOfSame(Emitter &emit, Dim rows, Dim others, const Tensor &orders,
          const Tensor &kept, bool rowsAreKept,
          llvm::function_ref<Value(LocBuilder &, Value other)> number) {
  Value order = emit.value(orders), places = emit.value(kept);
  Type i64 = emit.b.getI64Type();
  return emit.generateReducedAlong(
      {rows}, {others}, emit.b.getI64IntegerAttr(0), type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        Value which = at[rowsAreKept ? 0 : 1], row = at[rowsAreKept ? 1 : 0];
        Value place = toIndex(b, Emitter::at(b, places, which));
        Value zero = constant(b, i64, 0);
        Value isSame =
            compare(b, Order::Equal, Emitter::at(b, order, {place, row}), zero);
        return add(b, at[2], select(b, isSame, number(b, at[1]), zero));
      });
}

LogicalResult importUnique(Node &node) {
  bool isSorted = node.integer("sorted", 1),
       isFlat = !node.hasAttribute("axis");
  Tensor x = node.input(0);
  if (llvm::any_of(x.shape, [](Dim dim) { return dim.isDynamic(); }))
    return node.error("of an open batch, in " + str(x.shape) +
                      "; expected fixed sizes");
  Emitter &emit = node.emit;
  if (isFlat)
    x = emit.reshape(x, {product(x.shape)});
  int64_t axis = isFlat ? 0 : node.axis(node.integer("axis", 0), x.rank());
  if (node.failed())
    return failure();
  // Any result says how many there are.
  std::optional<int64_t> count;
  for (unsigned i : {0, 1, 3}) {
    std::optional<Shape> shape = node.declared(i);
    size_t at = i == 0 ? axis : 0;
    if (!count && shape && at < shape->size() && !(*shape)[at].isDynamic())
      count = (*shape)[at].count;
  }
  if (!count)
    count = declaredSize(node, 0, axis);
  if (node.failed())
    return failure();
  Dim rows = x.shape[axis];
  if (x.isEmpty() || count == 0 || count.value_or(0) > rows.count)
    return node.error("of " + str(x.shape) + ", of which the model declares " +
                      Twine(count.value_or(0)));
  SmallVector<int64_t> order = {axis};
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis)
      order.push_back(i);
  Tensor table =
      emit.reshape(emit.transpose(x, order),
                   {rows, Dim::fixed(product(x.shape).count / rows.count)});
  if (failed(node.checkSize({rows, rows, table.shape[1]})))
    return failure();
  Tensor orders = compareRows(emit, table);
  Tensor places = placesOf(node, firstRows(emit, orders), count);
  Dim most = places.shape[0];
  Tensor kept = sortKept(emit, orders, places, isSorted);
  auto chosen = node.compute("y = Gather<axis = " + std::to_string(axis) +
                                 ">(x, places)\n",
                             {{"x", &x}, {"places", &kept}}, {"y"});
  if (!chosen || failed(node.finish(chosen->front())))
    return failure();
  Type i64 = emit.b.getI64Type();
  Tensor inverse = sumOfSame(
      emit, rows, most, orders, kept, /*rowsAreKept=*/false,
      [&](LocBuilder &b, Value other) { return fromIndex(b, other, i64); });
  Tensor counts =
      sumOfSame(emit, most, rows, orders, kept, /*rowsAreKept=*/true,
                [&](LocBuilder &b, Value) { return constant(b, i64, 1); });
  for (Tensor *result : {&kept, &inverse, &counts})
    if (failed(node.finish(*result)))
      return failure();
  return success();
}

} // namespace numera::importer
