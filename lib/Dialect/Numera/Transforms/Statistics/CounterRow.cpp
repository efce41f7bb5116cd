// SPDX-License-Identifier: MIT

#include "CounterRow.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Statistics/LayerRows.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace numera {

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

namespace {
/// How terms are put together, i64.
struct Fold {
  int64_t start;
  Value (*combine)(OpBuilder &, Location, Value, Value);
};

/// Loops for one row.
class ScaleCounter {
public:
  ScaleCounter(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  /// What each fold makes of its term of all corresponding elements.
  using Terms =
      llvm::function_ref<SmallVector<Value>(OpBuilder &, ValueRange elements)>;
  SmallVector<Value> fold(ValueRange tensors, ArrayRef<Fold> folds,
                          Terms terms);
  /// The bits of a magnitude as f32, as i64: they are ordered as the values
  /// are.
  Value bitsOf(OpBuilder &at, Value element);

private:
  SmallVector<Value> foldAlong(ValueRange tensors, int64_t axes,
                               ArrayRef<Fold> folds, Terms terms);

  OpBuilder &builder;
  Location loc;
};
} // namespace

template <typename Op>
static Value combine(OpBuilder &builder, Location loc, Value x, Value y) {
  return Op::create(builder, loc, x, y).getResult();
}

/// Along the last axes.
SmallVector<Value> ScaleCounter::foldAlong(ValueRange tensors, int64_t axes,
                                           ArrayRef<Fold> folds, Terms terms) {
  auto sizes = tensor::getMixedSizes(builder, loc, tensors.front());
  auto rank = unsigned(sizes.size()), outer = rank - unsigned(axes);
  SmallVector<Value> inits;
  for (const Fold &fold : folds) {
    Value start = arith::ConstantIntOp::create(
        builder, loc, builder.getI64Type(), fold.start);
    Value empty = tensor::EmptyOp::create(
        builder, loc, ArrayRef(sizes).take_front(outer), builder.getI64Type());
    inits.push_back(
        linalg::FillOp::create(builder, loc, start, empty).getResult(0));
  }
  AffineMap all = builder.getMultiDimIdentityMap(rank);
  AffineMap kept = AffineMap::get(rank, 0, all.getResults().take_front(outer),
                                  builder.getContext());
  SmallVector<AffineMap> maps(tensors.size(), all);
  maps.append(inits.size(), kept);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
  std::fill_n(loops.begin(), outer, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, ValueRange(inits).getTypes(), tensors, inits, maps, loops,
      [&](OpBuilder &at, Location, ValueRange elements) {
        SmallVector<Value> made =
            terms(at, elements.take_front(tensors.size()));
        for (auto [fold, term, before] :
             llvm::zip_equal(folds, made, elements.take_back(folds.size())))
          term = fold.combine(at, loc, term, before);
        linalg::YieldOp::create(at, loc, made);
      });
  return SmallVector<Value>(generic.getResults());
}

/// The last axis first, so that the others stay parallel.
SmallVector<Value> ScaleCounter::fold(ValueRange tensors, ArrayRef<Fold> folds,
                                      Terms terms) {
  int64_t rank = cast<RankedTensorType>(tensors.front().getType()).getRank();
  SmallVector<Value> parts =
      foldAlong(tensors, std::min<int64_t>(rank, 1), folds, terms);
  if (rank > 1)
    parts =
        foldAlong(parts, rank - 1, folds, [](OpBuilder &, ValueRange elements) {
          return SmallVector<Value>(elements);
        });
  for (Value &part : parts)
    part = tensor::ExtractOp::create(builder, loc, part, ValueRange());
  return parts;
}

Value ScaleCounter::bitsOf(OpBuilder &at, Value element) {
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
  ScaleCounter counter(builder, loc);
  Type i64 = builder.getI64Type();
  const Fold sum = {0, combine<arith::AddIOp>},
             greatest = {0, combine<arith::MaxSIOp>},
             least = {INT64_MAX, combine<arith::MinSIOp>};
  Value count = arith::ConstantIndexOp::create(builder, loc, 1);
  for (OpFoldResult size : tensor::getMixedSizes(builder, loc, elements))
    count = builder.createOrFold<arith::MulIOp>(
        loc, count, getValueOrCreateConstantIndexOp(builder, loc, size));
  count = arith::IndexCastOp::create(builder, loc, i64, count);
  SmallVector<Value> scales = counter.fold(
      divisors, {least, greatest}, [&](OpBuilder &at, ValueRange divisor) {
        return SmallVector<Value>(2, counter.bitsOf(at, divisor[0]));
      });
  Value zeros = arith::ConstantIntOp::create(builder, loc, i64, 0);
  Value largest =
      counter.fold(elements, greatest, [&](OpBuilder &at, ValueRange element) {
        return SmallVector<Value>{counter.bitsOf(at, element[0])};
      })[0];
  if (numbers)
    zeros =
        counter.fold({numbers, read}, sum, [&](OpBuilder &at, ValueRange pair) {
          Value none = arith::ConstantIntOp::create(at, loc, i64, 0);
          auto compare = [&](Value number, arith::CmpIPredicate how) -> Value {
            return arith::CmpIOp::create(at, loc, how,
                                         counter.bitsOf(at, number), none);
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
