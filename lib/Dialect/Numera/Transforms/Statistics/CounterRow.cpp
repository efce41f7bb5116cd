// SPDX-License-Identifier: MIT

#include "CounterRow.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace numera {

void returnCounterRows(func::FuncOp function, ArrayRef<CounterRow> rows) {
  if (rows.empty())
    return;
  auto exit = cast<func::ReturnOp>(function.front().getTerminator());
  SmallVector<FlagCounts> descriptions = flagCountsOf(function);
  SmallVector<Value> numbers;
  bool hasSome = !descriptions.empty();
  if (hasSome)
    llvm::append_range(numbers, exit->getOperands()
                                    .back()
                                    .getDefiningOp<tensor::FromElementsOp>()
                                    .getElements());
  for (const CounterRow &row : rows) {
    descriptions.push_back(row.description);
    llvm::append_range(numbers, row.numbers);
  }
  OpBuilder builder(exit);
  Value all = tensor::FromElementsOp::create(builder, exit.getLoc(), numbers);
  if (hasSome) {
    exit->setOperand(exit->getNumOperands() - 1, Value(all));
    FunctionType type = function.getFunctionType();
    SmallVector<Type> results(type.getResults());
    results.back() = all.getType();
    function.setFunctionType(
        builder.getFunctionType(type.getInputs(), results));
  } else {
    (void)function.insertResult(function.getNumResults(), all.getType(),
                                DictionaryAttr());
    exit.getOperandsMutable().append(all);
  }
  function.setResultAttr(function.getNumResults() - 1, flagCountsAttribute,
                         attributeOf(function.getContext(), descriptions));
}

namespace {

/// Loops for one row.
class ScaleCounter {
public:
  ScaleCounter(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  /// A function of corresponding elements, of type `element`.
  using Body = llvm::function_ref<Value(OpBuilder &, ValueRange)>;
  Value map(ValueRange operands, Type element, Body body);
  /// All elements, i64, combined by `combine`, as one.
  Value reduce(Value values, int64_t start,
               llvm::function_ref<Value(OpBuilder &, Value, Value)> combine);
  /// The bits of a magnitude, f32, as i64: they are ordered as the values are.
  Value bitsOf(OpBuilder &at, Value number);
  Value least(Value bits) {
    return reduce(bits, INT64_MAX, [&](OpBuilder &at, Value x, Value y) {
      return arith::MinSIOp::create(at, loc, x, y).getResult();
    });
  }
  Value greatest(Value bits) {
    return reduce(bits, 0, [&](OpBuilder &at, Value x, Value y) {
      return arith::MaxSIOp::create(at, loc, x, y).getResult();
    });
  }
  Value sum(Value counts) {
    return reduce(counts, 0, [&](OpBuilder &at, Value x, Value y) {
      return arith::AddIOp::create(at, loc, x, y).getResult();
    });
  }
  Value inF32(OpBuilder &at, Value element) {
    if (element.getType().isF32())
      return element;
    return CastOp::create(at, loc, at.getF32Type(), element);
  }

private:
  OpBuilder &builder;
  Location loc;
};

} // namespace

Value ScaleCounter::map(ValueRange operands, Type element, Body body) {
  auto sizes = tensor::getMixedSizes(builder, loc, operands.front());
  Value init = tensor::EmptyOp::create(builder, loc, sizes, element);
  SmallVector<AffineMap> maps(operands.size() + 1,
                              builder.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> loops(sizes.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, init.getType(), operands, init, maps, loops,
             [&](OpBuilder &at, Location, ValueRange values) {
               linalg::YieldOp::create(at, loc, body(at, values.drop_back()));
             })
      .getResult(0);
}

/// An axis at a time, the last first, so that the others stay parallel.
Value ScaleCounter::reduce(
    Value values, int64_t start,
    llvm::function_ref<Value(OpBuilder &, Value, Value)> combine) {
  Value first =
      arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), start);
  for (int64_t rank = cast<RankedTensorType>(values.getType()).getRank();
       rank > 0; --rank) {
    auto sizes = tensor::getMixedSizes(builder, loc, values);
    Value empty = tensor::EmptyOp::create(
        builder, loc, ArrayRef(sizes).drop_back(), builder.getI64Type());
    Value init =
        linalg::FillOp::create(builder, loc, first, empty).getResult(0);
    AffineMap all = builder.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    loops.back() = utils::IteratorType::reduction;
    values =
        linalg::GenericOp::create(
            builder, loc, init.getType(), values, init,
            ArrayRef<AffineMap>{all, all.dropResult(rank - 1)}, loops,
            [&](OpBuilder &at, Location, ValueRange terms) {
              linalg::YieldOp::create(at, loc, combine(at, terms[0], terms[1]));
            })
            .getResult(0);
  }
  return tensor::ExtractOp::create(builder, loc, values, ValueRange());
}

Value ScaleCounter::bitsOf(OpBuilder &at, Value number) {
  Type i32 = at.getI32Type();
  Value bits = arith::BitcastOp::create(at, loc, i32, number);
  Value mask = arith::ConstantIntOp::create(at, loc, i32, 0x7fffffff);
  bits = arith::AndIOp::create(at, loc, bits, mask);
  return arith::ExtUIOp::create(at, loc, at.getI64Type(), bits);
}

/// How many nonzero numbers are 0 as `read`.
static Value countZeros(ScaleCounter &counter, OpBuilder &builder, Location loc,
                        Value numbers, Value read) {
  Type i64 = builder.getI64Type();
  if (!numbers)
    return arith::ConstantIntOp::create(builder, loc, i64, 0);
  Value zeros =
      counter.map({numbers, read}, i64, [&](OpBuilder &at, ValueRange v) {
        Value none = arith::ConstantIntOp::create(at, loc, i64, 0);
        auto compare = [&](Value number, arith::CmpIPredicate how) -> Value {
          return arith::CmpIOp::create(at, loc, how, counter.bitsOf(at, number),
                                       none);
        };
        Value becomesZero = arith::AndIOp::create(
            at, loc, compare(v[0], arith::CmpIPredicate::ne),
            compare(counter.inF32(at, v[1]), arith::CmpIPredicate::eq));
        return arith::ExtUIOp::create(at, loc, i64, becomesZero).getResult();
      });
  return counter.sum(zeros);
}

CounterRow countScales(OpBuilder &builder, Operation *op, Value numbers,
                       Value read, Value elements, Value divisors) {
  Location loc = op->getLoc();
  ScaleCounter counter(builder, loc);
  Type i64 = builder.getI64Type();
  auto bits = [&](Value values) {
    return counter.map(values, i64, [&](OpBuilder &at, ValueRange v) {
      return counter.bitsOf(at, counter.inF32(at, v[0]));
    });
  };
  Value count = arith::ConstantIndexOp::create(builder, loc, 1);
  for (OpFoldResult size : tensor::getMixedSizes(builder, loc, elements))
    count = builder.createOrFold<arith::MulIOp>(
        loc, count, getValueOrCreateConstantIndexOp(builder, loc, size));
  count = arith::IndexCastOp::create(builder, loc, i64, count);
  Value divisorBits = bits(divisors);

  auto *dialect = op->getContext()->getLoadedDialect<NumeraDialect>();
  ScaledFormat format =
      scaledFormatOf(cast<RankedTensorType>(op->getResult(0).getType()));
  CounterRow row;
  row.description.name = nodeNameOf(loc);
  row.description.operation = op->getName().stripDialect().str();
  row.description.format = dialect->getRegistry().nameOrSpelling(format);
  row.description.isTensor = true;
  row.numbers = {count, countZeros(counter, builder, loc, numbers, read),
                 counter.least(divisorBits), counter.greatest(divisorBits),
                 counter.greatest(bits(elements))};
  return row;
}

} // namespace numera
