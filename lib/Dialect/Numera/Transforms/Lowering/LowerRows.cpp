// SPDX-License-Identifier: MIT
//
// A layer's row becomes a call of the host runtime, which knows the program's
// caller.

#include "LowerTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Runtime/numera.h"

using namespace mlir;

namespace numera {

/// How many elements a buffer has, an i64.
static Value countElements(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.hasStaticShape())
    return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                        type.getNumElements());
  Value count = arith::ConstantIndexOp::create(builder, loc, 1);
  for (int64_t i = 0; i < type.getRank(); ++i)
    count = arith::MulIOp::create(
        builder, loc, count,
        memref::DimOp::create(builder, loc, buffer, i).getResult());
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), count);
}

static Value pointerTo(OpBuilder &builder, Location loc, Value buffer) {
  Value index =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

static LLVM::LLVMFuncOp declareShowRow(OpBuilder &builder, ModuleOp module) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  Type i32 = builder.getI32Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(module.getContext()),
      {i32, builder.getI64Type(), i32, pointer, pointer, i32, pointer});
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(),
                                  "numera_host_show_row", type);
}

LogicalResult lowerRows(ModuleOp module) {
  SmallVector<ShowRowOp> rows;
  module.walk([&](ShowRowOp op) { rows.push_back(op); });
  if (rows.empty())
    return success();
  OpBuilder builder(module.getContext());
  LLVM::LLVMFuncOp host = declareShowRow(builder, module);
  for (ShowRowOp op : rows) {
    if (!isa<MemRefType>(op.getValue().getType()))
      return op.emitError("shows tensors; bufferize it first");
    builder.setInsertionPoint(op);
    Location loc = op.getLoc();
    auto number = [&](uint32_t value) -> Value {
      return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                          int32_t(value));
    };
    auto dtypeOf = [&](Value buffer) {
      return number(getElementTypeOrSelf(buffer).isF64() ? NUMERA_F64
                                                         : NUMERA_F32);
    };
    auto at = [&](Value buffer) { return pointerTo(builder, loc, buffer); };
    LLVM::CallOp::create(builder, loc, host,
                         ValueRange{number(op.getRow()),
                                    countElements(builder, loc, op.getValue()),
                                    dtypeOf(op.getValue()), at(op.getValue()),
                                    at(op.getOwn()), dtypeOf(op.getReference()),
                                    at(op.getReference())});
    op->erase();
  }
  return success();
}

} // namespace numera
