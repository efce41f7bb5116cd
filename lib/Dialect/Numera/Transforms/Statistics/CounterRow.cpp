// SPDX-License-Identifier: MIT

#include "CounterRow.h"
#include "SharedLoops.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Statistics/LayerRows.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace numera {

Value createCount(OpBuilder &builder, Location loc,
                  ArrayRef<OpFoldResult> sizes) {
  Value count = arith::ConstantIndexOp::create(builder, loc, 1);
  for (OpFoldResult size : sizes)
    count = builder.createOrFold<arith::MulIOp>(
        loc, count, getValueOrCreateConstantIndexOp(builder, loc, size));
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(),
                                                  count);
}

void returnCounterRows(func::FuncOp function, ArrayRef<CounterRow> rows) {
  if (rows.empty())
    return;
  auto exit = cast<func::ReturnOp>(function.front().getTerminator());
  unsigned own = countOwnResults(function);
  SmallVector<FlagCounts> descriptions = flagCountsOf(function);
  SmallVector<Value> numbers;
  bool hasSome = !descriptions.empty();
  if (hasSome)
    llvm::append_range(numbers, exit.getOperand(own - 1)
                                    .getDefiningOp<tensor::FromElementsOp>()
                                    .getElements());
  for (const CounterRow &row : rows) {
    descriptions.push_back(row.description);
    llvm::append_range(numbers, row.numbers);
  }
  OpBuilder builder(exit);
  Value all = tensor::FromElementsOp::create(builder, exit.getLoc(), numbers);
  if (hasSome) {
    exit->setOperand(--own, Value(all));
    FunctionType type = function.getFunctionType();
    SmallVector<Type> results(type.getResults());
    results[own] = all.getType();
    function.setFunctionType(
        builder.getFunctionType(type.getInputs(), results));
  } else {
    (void)function.insertResult(own, all.getType(), DictionaryAttr());
    exit->insertOperands(own, all);
  }
  function.setResultAttr(own, flagCountsAttribute,
                         attributeOf(function.getContext(), descriptions));
}

llvm::DenseSet<Operation *> computedForOwnResults(func::FuncOp function) {
  llvm::SetVector<Operation *> found;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == &function.front())
      found.insert(op);
  };
  Operation *exit = function.front().getTerminator();
  for (Value result : exit->getOperands().take_front(countOwnResults(function)))
    add(result);
  for (unsigned i = 0; i < found.size(); ++i)
    found[i]->walk([&](Operation *op) {
      for (Value value : op->getOperands())
        add(value);
    });
  return llvm::DenseSet<Operation *>(found.begin(), found.end());
}

/// The bits of a magnitude as f32, as i64: they are ordered as the values are.
static Value bitsOf(OpBuilder &at, Location loc, Value element) {
  if (!element.getType().isF32())
    element = CastOp::create(at, loc, at.getF32Type(), element);
  Type i32 = at.getI32Type();
  Value bits = arith::BitcastOp::create(at, loc, i32, element);
  Value mask = arith::ConstantIntOp::create(at, loc, i32, 0x7fffffff);
  bits = arith::AndIOp::create(at, loc, bits, mask);
  return arith::ExtUIOp::create(at, loc, at.getI64Type(), bits);
}

CounterRow countScales(OpBuilder &builder, Operation *op, Value numbers,
                       Value read, Value elements, Value divisors) {
  Location loc = op->getLoc();
  Type i64 = builder.getI64Type();
  IntegerAttr none = builder.getI64IntegerAttr(0);
  Value count =
      createCount(builder, loc, tensor::getMixedSizes(builder, loc, elements));
  SmallVector<Value> scales =
      foldAll(builder, loc, "least_and_largest", divisors, {},
              {Fold::by<arith::MinSIOp>(builder.getI64IntegerAttr(INT64_MAX)),
               Fold::by<arith::MaxSIOp>(none)},
              [&](OpBuilder &at, ValueRange divisor, ValueRange) {
                return SmallVector<Value>(2, bitsOf(at, loc, divisor[0]));
              });
  Value largest = foldAll(
      builder, loc, "largest", elements, {}, Fold::by<arith::MaxSIOp>(none),
      [&](OpBuilder &at, ValueRange element, ValueRange) {
        return SmallVector<Value>{bitsOf(at, loc, element[0])};
      })[0];
  Value zeros = arith::ConstantOp::create(builder, loc, none);
  if (numbers)
    zeros = foldAll(
        builder, loc, "count_zeros", {numbers, read}, {},
        Fold::by<arith::AddIOp>(none),
        [&](OpBuilder &at, ValueRange pair, ValueRange) {
          Value zero = arith::ConstantIntOp::create(at, loc, i64, 0);
          auto compare = [&](Value number, arith::CmpIPredicate how) -> Value {
            return arith::CmpIOp::create(at, loc, how, bitsOf(at, loc, number),
                                         zero);
          };
          Value becomesZero = arith::AndIOp::create(
              at, loc, compare(pair[0], arith::CmpIPredicate::ne),
              compare(pair[1], arith::CmpIPredicate::eq));
          return SmallVector<Value>{
              arith::ExtUIOp::create(at, loc, i64, becomesZero)};
        })[0];

  auto *dialect = op->getContext()->getLoadedDialect<NumeraDialect>();
  ScaledFormat format =
      scaledFormatOf(cast<RankedTensorType>(op->getResult(0).getType()));
  CounterRow row;
  row.description.name = nodeNameOf(loc);
  row.description.operation = op->getName().stripDialect().str();
  row.description.format = dialect->getRegistry().nameOrSpelling(format);
  row.description.isTensor = true;
  row.numbers = {count, zeros, scales[0], scales[1], largest};
  return row;
}

} // namespace numera
