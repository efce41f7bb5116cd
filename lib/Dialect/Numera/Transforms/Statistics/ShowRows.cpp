// SPDX-License-Identifier: MIT
//
// Rows of layers as results take as much memory as the model has numbers, three
// times, and are read again when all of them have left the cache.

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/ReadBuffers.h"
#include "numera/Dialect/Numera/Transforms/Statistics/LayerRows.h"
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERASHOWROWS
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h.inc"

/// The place behind what makes all of `values`.
static void setInsertionPointBehind(OpBuilder &builder, Block &block,
                                    ValueRange values) {
  Operation *last = nullptr;
  for (Value value : values)
    if (Operation *op = value.getDefiningOp();
        op && (!last || last->isBeforeInBlock(op)))
      last = op;
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&block);
}

static LogicalResult showRows(func::FuncOp function) {
  auto rows = unsigned(countLayerRows(function));
  if (rows == 0) {
    dropLayerRows(function);
    return success();
  }
  if (!function.getBody().hasOneBlock() ||
      function.getNumResults() < rows * LayerRow::results)
    return function.emitError("has ")
           << rows << " rows of layers; expected one block that returns "
           << unsigned(LayerRow::results) << " tensors for each";
  Block &block = function.front();
  Operation *exit = block.getTerminator();
  unsigned own = countOwnResults(function);
  for (Value row : exit->getOperands().drop_front(own))
    if (!isa<RankedTensorType>(row.getType()) ||
        !isa<Float32Type, Float64Type>(elementType(row.getType())))
      return function.emitError("has a row of ")
             << row.getType() << "; expected tensors of f32 or f64";
  OpBuilder builder(function.getContext());
  for (unsigned row = 0; row < rows; ++row) {
    OperandRange shown = exit->getOperands().slice(
        own + row * LayerRow::results, LayerRow::results);
    setInsertionPointBehind(builder, block, shown);
    ShowRowOp::create(builder, shown[LayerRow::Value].getLoc(), row,
                      shown[LayerRow::Value], shown[LayerRow::Own],
                      shown[LayerRow::Reference]);
  }
  eraseLayerRows(function);
  return success();
}

namespace {
struct ShowRowsPass : impl::NumeraShowRowsBase<ShowRowsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(showRows(function)))
        return signalPassFailure();
  }
};

/// Its tensors become buffers whose elements lie one behind the other.
struct ShowRowBuffers : ReadsBuffers<ShowRowBuffers, ShowRowOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value tensor : op->getOperands()) {
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, tensor, options, state);
      if (failed(buffer))
        return failure();
      auto type = cast<MemRefType>(buffer->getType());
      if (!type.getLayout().isIdentity()) {
        SmallVector<Value> sizes;
        for (int64_t i = 0; i < type.getRank(); ++i)
          if (type.isDynamicDim(i))
            sizes.push_back(
                memref::DimOp::create(rewriter, op->getLoc(), *buffer, i));
        Value dense = memref::AllocOp::create(
            rewriter, op->getLoc(),
            MemRefType::get(type.getShape(), type.getElementType()), sizes);
        memref::CopyOp::create(rewriter, op->getLoc(), *buffer, dense);
        buffer = dense;
      }
      buffers.push_back(*buffer);
    }
    bufferization::replaceOpWithNewBufferizedOp<ShowRowOp>(
        rewriter, op, cast<ShowRowOp>(op).getRow(), buffers[LayerRow::Value],
        buffers[LayerRow::Own], buffers[LayerRow::Reference]);
    return success();
  }
};
} // namespace

void registerShowRowBufferization(DialectRegistry &dialects) {
  dialects.addExtension(+[](MLIRContext *context, NumeraDialect *) {
    ShowRowOp::attachInterface<ShowRowBuffers>(*context);
  });
}

} // namespace numera
