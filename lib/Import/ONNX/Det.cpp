//===- Det.cpp - Determinants ---------------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Gaussian elimination with the greatest pivot of a column, all matrices of a
// batch at once.
//
//===----------------------------------------------------------------------===//
#include "Loops.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace numera::importer {

LogicalResult importDet(Node &node) {
  const Tensor &x = node.input(0);
  int64_t rank = x.rank();
  if (rank < 2 || x.shape[rank - 1] != x.shape[rank - 2] ||
      x.shape[rank - 1].isDynamic())
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected square matrices");
  Emitter &emit = node.emit;
  Shape others(x.shape.begin(), x.shape.end() - 2);
  int64_t size = x.shape.back().count;
  Type element = emit.element(x.dataType), i64 = emit.b.getI64Type();
  Tensor product = emit.result(emit.filled(others, emit.number(1, x.dataType)),
                               others, x.dataType);
  auto step = [&](Value k, ArrayRef<Tensor> states, ArrayRef<Tensor>) {
    Value matrix = states[1].value;
    auto at = [&](LocBuilder &b, ValueRange where, Value row, Value column) {
      SmallVector<Value> place(where.take_front(rank - 2));
      place.append({row, column});
      return Emitter::at(b, matrix, place);
    };
    // The greatest of the column from k on, then the first row that has it.
    Tensor greatest = emit.generateReduced(
        others, {size}, emit.number(-1, x.dataType), x.dataType,
        [&](LocBuilder &b, ValueRange where) -> Value {
          Value row = where[rank - 2];
          Value size = math::AbsFOp::create(b, at(b, where, row, k));
          return select(b, compare(b, Order::Less, row, k), where.back(),
                        max(b, where.back(), size));
        });
    Value best = emit.value(greatest);
    Tensor first = emit.generateReduced(
        others, {size}, emit.b.getI64IntegerAttr(size), type::Int64,
        [&](LocBuilder &b, ValueRange where) -> Value {
          Value row = where[rank - 2];
          Value found = math::AbsFOp::create(b, at(b, where, row, k));
          Value isIt =
              both(b, compare(b, Order::LessOrEqual, k, row),
                   compare(b, Order::Equal, found,
                           Emitter::at(b, best, where.take_front(rank - 2))));
          return select(b, isIt, min(b, where.back(), fromIndex(b, row, i64)),
                        where.back());
        });
    Value pivots = emit.value(first);
    auto pivotOf = [&](LocBuilder &b, ValueRange where) {
      Value row =
          toIndex(b, Emitter::at(b, pivots, where.take_front(rank - 2)));
      // A NaN equals nothing: any row does.
      return select(b, compare(b, Order::Less, row, index(b, size)), row, k);
    };
    Tensor next = emit.generate(
        x.shape, x.dataType, [&](LocBuilder &b, ValueRange where) -> Value {
          Value i = where[rank - 2], j = where[rank - 1];
          Value pivot = pivotOf(b, where);
          Value row =
              select(b, compare(b, Order::Equal, i, k), pivot,
                     select(b, compare(b, Order::Equal, i, pivot), k, i));
          Value mine = at(b, where, row, j), top = at(b, where, pivot, k);
          Value factor = div(b, at(b, where, row, k), top);
          Value less = sub(b, mine, mul(b, factor, at(b, where, pivot, j)));
          // Nothing is left of a column of zeros.
          Value zero = constant(b, element, 0);
          Value isBelow =
              both(b, compare(b, Order::Less, k, i),
                   negation(b, compare(b, Order::Equal, top, zero)));
          return select(b, isBelow, less, mine);
        });
    Value before = states[0].value;
    Tensor after = emit.generate(
        others, x.dataType, [&](LocBuilder &b, ValueRange where) -> Value {
          Value pivot = pivotOf(b, where);
          Value factor = at(b, where, pivot, k);
          factor = select(b, compare(b, Order::Equal, pivot, k), factor,
                          neg(b, factor));
          return mul(b, Emitter::at(b, before, where), factor);
        });
    return std::optional(SmallVector<Tensor>{after, next});
  };
  Tensor matrix = emit.result(emit.value(x), x.shape, x.dataType);
  auto results = loop(node, Dim::fixed(size), {product, matrix}, {}, step);
  return results ? node.finish(results->states[0]) : failure();
}

} // namespace numera::importer
