// SPDX-License-Identifier: MIT
//
// Every operation of `numera` becomes its lowering: a call on scalars, or the
// same call on vectors.

#include "KernelBytes.h"
#include "LowerTypes.h"
#include "Lowerings.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "numera/Dialect/Numera/IR/StatusFlags.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERALOWEROPS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// What lowers an operation on these values, scalars or vectors of one
/// dimension, at the builder's place; null after an error.
using LowerOn =
    llvm::function_ref<Value(OpBuilder &builder, Operation *op, ValueRange)>;

/// A vector operation as one operation an element.
static Value unroll(OpBuilder &builder, Operation *op, LowerOn lower) {
  Location loc = op->getLoc();
  auto type = cast<VectorType>(op->getResult(0).getType());
  SmallVector<SmallVector<Value>> columns;
  for (Value operand : op->getOperands()) {
    auto elements = vector::ToElementsOp::create(builder, loc, operand);
    columns.emplace_back(elements.getResults());
  }
  SmallVector<Value> results;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<Value> row;
    for (auto &column : columns)
      row.push_back(column[i]);
    Value lowered = lower(builder, op, row);
    if (!lowered)
      return {};
    results.push_back(lowered);
  }
  return vector::FromElementsOp::create(builder, loc, type, results);
}

/// A vector operation as one on vectors of one dimension.
static Value lowerWhole(OpBuilder &builder, Operation *op, LowerOn lower) {
  Location loc = op->getLoc();
  auto cast = [&](Value value, ArrayRef<int64_t> shape) -> Value {
    Type type = VectorType::get(shape, getElementTypeOrSelf(value));
    return type == value.getType()
               ? value
               : vector::ShapeCastOp::create(builder, loc, type, value);
  };
  auto type = mlir::cast<VectorType>(op->getResult(0).getType());
  SmallVector<Value> values;
  for (Value operand : op->getOperands())
    values.push_back(cast(operand, type.getNumElements()));
  Value lowered = lower(builder, op, values);
  return lowered ? cast(lowered, type.getShape()) : Value();
}

/// Replaces an operation by its lowering. GPUs have few vectors: all others are
/// taken apart.
static LogicalResult replace(Operation *op, LowerOn lower, Target target) {
  Type type = op->getResult(0).getType();
  if (isa<TensorType>(type) ||
      (isa<VectorType>(type) && cast<VectorType>(type).isScalable()))
    return op->emitError("an operation on ")
           << type
           << " cannot become calls; turn it into linalg on scalars first "
              "(numera-lower does)";
  SmallVector<Type> types(op->getOperandTypes());
  types.push_back(type);
  for (Type each : types)
    if (isa<NumType>(getElementTypeOrSelf(each)))
      return op->emitError("an operation on ")
             << each
             << " cannot become calls; lower its type first "
                "(numera-lower-types)";
  OpBuilder builder(op);
  // What computes on machine numbers returns them where codes are wanted.
  auto lowerToCodes = [&](OpBuilder &builder, Operation *op,
                          ValueRange values) {
    Value lowered = lower(builder, op, values);
    bool isCode = isa<IntegerType>(getElementTypeOrSelf(type));
    return lowered && isCode ? toBits(builder, op->getLoc(), lowered) : lowered;
  };
  Value lowered;
  if (!isa<VectorType>(type))
    lowered = lowerToCodes(builder, op, op->getOperands());
  else if (target == Target::NVPTX && !isOnBytes(op))
    lowered = unroll(builder, op, lowerToCodes);
  else
    lowered = lowerWhole(builder, op, lowerToCodes);
  if (!lowered)
    return failure();
  op->getResult(0).replaceAllUsesWith(lowered);
  op->erase();
  return success();
}

LogicalResult lowerOps(ModuleOp module, Target target) {
  auto *dialect = module.getContext()->getOrLoadDialect<NumeraDialect>();
  Lowerings lowerings(module, dialect->getRegistry(), target);
  SmallVector<RandomOp> draws;
  module.walk([&](RandomOp op) { draws.push_back(op); });
  for (RandomOp op : draws) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(lowerings.lower(builder, op));
    op->erase();
  }
  SmallVector<RandomFillOp> fills;
  module.walk([&](RandomFillOp op) { fills.push_back(op); });
  for (RandomFillOp op : fills) {
    OpBuilder builder(op);
    lowerings.lower(builder, op);
    op->erase();
  }
  SmallVector<LoadPackedOp> loads;
  module.walk([&](LoadPackedOp op) { loads.push_back(op); });
  for (LoadPackedOp op : loads) {
    OpBuilder builder(op);
    if (!isa<MemRefType>(op.getBytes().getType()))
      return op.emitError("reads a tensor; bufferize it first");
    op.replaceAllUsesWith(lowerings.lower(builder, op));
    op->erase();
  }
  if (failed(lowerQuires(module, lowerings)) || failed(lowerRows(module)))
    return failure();
  SmallVector<Operation *> work;
  module.walk([&](Operation *op) {
    if (isa<FormatOpInterface, DecodeOp, RoundToOp, EncodeOp, StatusFlagsOp,
            LookupOp>(op))
      work.push_back(op);
  });
  auto lower = [&](OpBuilder &builder, Operation *op, ValueRange values) {
    if (auto interface = dyn_cast<FormatOpInterface>(op))
      return lowerings.lower(builder, interface, values);
    if (auto flags = dyn_cast<StatusFlagsOp>(op))
      return lowerings.lower(builder, flags, values);
    if (auto lookup = dyn_cast<LookupOp>(op))
      return lowerings.lower(builder, lookup, values);
    return lowerings.lowerCarrierOp(builder, op, values);
  };
  for (Operation *op : work)
    if (failed(replace(op, lower, target)))
      return failure();
  return success();
}

namespace {
struct LowerOpsPass : impl::NumeraLowerOpsBase<LowerOpsPass> {
  using NumeraLowerOpsBase::NumeraLowerOpsBase;
  void runOnOperation() override {
    FailureOr<Target> parsed = parseTarget(getOperation(), target);
    if (failed(parsed) || failed(lowerOps(getOperation(), *parsed)))
      signalPassFailure();
  }
};
} // namespace

} // namespace numera
