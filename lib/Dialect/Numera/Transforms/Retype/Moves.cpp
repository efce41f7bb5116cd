// SPDX-License-Identifier: MIT
//
// What operations of other dialects may do with numbers of a format: move them.
// Those that are not known could compute on their codes, which are integers
// from numera-lower-types on.

#include "FloatTypes.h"
#include "Retype.h"
#include "RetypeRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

static bool movesVectors(Operation *op) {
  using namespace vector;
  return isa<BroadcastOp, ShuffleOp, ExtractOp, InsertOp, ExtractStridedSliceOp,
             InsertStridedSliceOp, ShapeCastOp, TransposeOp, FromElementsOp,
             ToElementsOp, InterleaveOp, DeinterleaveOp, TransferReadOp,
             TransferWriteOp, LoadOp, StoreOp, MaskedLoadOp, MaskedStoreOp,
             GatherOp, ScatterOp, ExpandLoadOp, CompressStoreOp, MaskOp,
             YieldOp>(op);
}

/// What their regions do is looked at by itself.
static bool onlyMovesNumbers(Operation *op) {
  Dialect *dialect = op->getDialect();
  if (isa_and_nonnull<vector::VectorDialect>(dialect))
    return movesVectors(op);
  if (isa_and_nonnull<arith::ArithDialect>(dialect))
    return isa<arith::SelectOp, arith::ConstantOp>(op);
  if (isa_and_nonnull<linalg::LinalgDialect>(dialect))
    return isa<linalg::LinalgOp, linalg::YieldOp, linalg::PackOp,
               linalg::UnPackOp>(op);
  if (auto loop = dyn_cast<affine::AffineParallelOp>(op))
    return loop.getReductions().empty();
  if (isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp, tensor::BitcastOp,
          UnrealizedConversionCastOp>(op))
    return false;
  return isa_and_nonnull<
      NumeraDialect, BuiltinDialect, func::FuncDialect, scf::SCFDialect,
      cf::ControlFlowDialect, tensor::TensorDialect, memref::MemRefDialect,
      bufferization::BufferizationDialect, affine::AffineDialect,
      shape::ShapeDialect, ub::UBDialect>(dialect);
}

LogicalResult checkElements(ModuleOp module, const Policies &policies) {
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    auto vector = dyn_cast<VectorType>(numera::elementType(type));
    if (!vector || isa<VectorType>(type) ||
        policies.floats().inside(vector, policies.of(op).format) == vector)
      return success();
    return op->emitError("'") << op->getName() << "' is on " << type
                              << ", whose elements are vectors, which cannot "
                                 "be retyped; expected elements of one number";
  };
  WalkResult result = module.walk([&](Operation *op) {
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Type type : types)
      if (failed(check(op, type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult checkMoves(ModuleOp module) {
  auto isNumber = [](Type type) {
    return isa<NumType>(numera::elementType(type));
  };
  WalkResult result = module.walk([&](Operation *op) {
    bool isOnNumbers = llvm::any_of(op->getOperandTypes(), isNumber) ||
                       llvm::any_of(op->getResultTypes(), isNumber);
    if (!isOnNumbers || onlyMovesNumbers(op))
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' on numbers has no counterpart in the numera "
                          "dialect; write it with operations of arith, math, "
                          "linalg and tensor";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace numera
