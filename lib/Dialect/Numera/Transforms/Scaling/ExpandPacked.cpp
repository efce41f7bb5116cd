// SPDX-License-Identifier: MIT
//
// Packing and unpacking become linalg on bytes. A code of an unpacked tensor is
// read where it is used, by numera.load_packed, so that it fuses with later
// operations:
//
//   codes[i, j] = load_packed bytes[i · columns + j]
//   bytes[b] = the bits of codes ⌊8b / width⌋ and on that lie in byte b
//
// A GPU, whose threads read one code each, computes the former from bytes.

#include "ExpandPacked.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "numera/Dialect/Numera/Transforms/ReadBuffers.h"
#include <numeric>

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAEXPANDPACKED
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

Value throughPacked(OpBuilder &builder, Location loc, Value codes) {
  auto type = cast<RankedTensorType>(codes.getType());
  auto num = dyn_cast<NumType>(type.getElementType());
  if (!num ||
      unsigned(num.getFormat().width()) == num.getStorageType().getWidth())
    return codes;
  auto packed = RankedTensorType::get(type.getShape(), num,
                                      PackedAttr::get(builder.getContext()));
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(builder, loc, codes, i));
  Value bytes = PackOp::create(builder, loc, packed, codes, IntegerAttr());
  return UnpackOp::create(builder, loc, type, bytes, sizes, IntegerAttr());
}

//===----------------------------------------------------------------------===//
// Bytes of constants
//===----------------------------------------------------------------------===//

static DenseElementsAttr packConstant(DenseElementsAttr codes, unsigned width) {
  int64_t bytes = packedBytes(codes.getNumElements(), width);
  std::vector<uint8_t> packed(bytes, 0);
  int64_t bit = 0;
  for (const APInt &code : codes.getValues<APInt>()) {
    for (unsigned i = 0; i < width; ++i, ++bit)
      packed[bit / 8] |= uint8_t(code[i]) << (bit % 8);
  }
  auto type =
      RankedTensorType::get(bytes, IntegerType::get(codes.getContext(), 8));
  return DenseElementsAttr::get(type, ArrayRef(packed));
}

namespace {

class Unfolder {
public:
  Unfolder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value pack(PackOp op);
  Value unpack(Value bytes, RankedTensorType type, ValueRange sizes,
               unsigned width, Target target);

private:
  Value apply(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return getValueOrCreateConstantIndexOp(
        builder, loc,
        affine::makeComposedFoldedAffineApply(builder, loc, expr, operands));
  }
  Value integer(Type type, int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  }
  Value place(ArrayRef<OpFoldResult> sizes);
  Value readBits(Value bytes, Value index, Type result, unsigned width);
  Value generic(ArrayRef<OpFoldResult> sizes, Type element,
                llvm::function_ref<Value()> body);

  OpBuilder &builder;
  Location loc;
};

} // namespace

/// linalg.generic without operands; `body` computes an element.
Value Unfolder::generic(ArrayRef<OpFoldResult> sizes, Type element,
                        llvm::function_ref<Value()> body) {
  auto rank = unsigned(sizes.size());
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(
      builder, loc, empty.getType(), ValueRange(), ValueRange(empty),
      builder.getMultiDimIdentityMap(rank), loops,
      [&](OpBuilder &, Location, ValueRange) {
        Value result = body();
        linalg::YieldOp::create(builder, loc, result);
      });
  return made.getResult(0);
}

/// The number of the element, counted along rows.
Value Unfolder::place(ArrayRef<OpFoldResult> sizes) {
  AffineExpr d0, d1, s0;
  bindDims(builder.getContext(), d0, d1);
  bindSymbols(builder.getContext(), s0);
  OpFoldResult place = builder.getIndexAttr(0);
  for (auto [i, size] : llvm::enumerate(sizes)) {
    Value index = linalg::IndexOp::create(builder, loc, i);
    place = affine::makeComposedFoldedAffineApply(builder, loc, d0 * s0 + d1,
                                                  {place, index, size});
  }
  return getValueOrCreateConstantIndexOp(builder, loc, place);
}

/// The code at `index`, from the bytes that it lies in.
Value Unfolder::readBits(Value bytes, Value index, Type result,
                         unsigned width) {
  AffineExpr d0 = builder.getAffineDimExpr(0);
  Type wide = builder.getIntegerType(width <= 24 ? 32 : 128);
  Value last = apply((d0 * width + (width - 1)).floorDiv(8), {index});
  Value first = apply((d0 * width).floorDiv(8), {index});
  Value bits;
  for (unsigned i = 0; i <= (width + 6) / 8; ++i) {
    // Bytes behind the last one say nothing: any other will do.
    Value at =
        arith::MinUIOp::create(builder, loc, apply(d0 + i, {first}), last);
    Value byte = tensor::ExtractOp::create(builder, loc, bytes, at);
    byte = arith::ExtUIOp::create(builder, loc, wide, byte);
    byte = arith::ShLIOp::create(builder, loc, byte, integer(wide, 8 * i));
    bits = bits ? arith::OrIOp::create(builder, loc, bits, byte).getResult()
                : byte;
  }
  Value shift = arith::IndexCastUIOp::create(builder, loc, builder.getI64Type(),
                                             apply((d0 * width) % 8, {index}));
  shift = wide.getIntOrFloatBitWidth() < 64
              ? arith::TruncIOp::create(builder, loc, wide, shift).getResult()
              : arith::ExtUIOp::create(builder, loc, wide, shift).getResult();
  bits = arith::ShRUIOp::create(builder, loc, bits, shift);
  APInt mask = APInt::getLowBitsSet(wide.getIntOrFloatBitWidth(), width);
  bits = arith::AndIOp::create(
      builder, loc, bits,
      arith::ConstantOp::create(builder, loc, IntegerAttr::get(wide, mask)));
  return wide == result
             ? bits
             : arith::TruncIOp::create(builder, loc, result, bits).getResult();
}

Value Unfolder::unpack(Value bytes, RankedTensorType type, ValueRange sizes,
                       unsigned width, Target target) {
  SmallVector<OpFoldResult> shape =
      getMixedValues(type.getShape(), sizes, builder);
  Type element = type.getElementType();
  return generic(shape, element, [&]() -> Value {
    Value index = place(shape);
    if (target == Target::CPU)
      return LoadPackedOp::create(builder, loc, element, bytes, index, width);
    return readBits(bytes, index, element, width);
  });
}

Value Unfolder::pack(PackOp op) {
  auto width = int64_t(*op.getWidth());
  auto type = cast<RankedTensorType>(op.getInput().getType());
  Value codes = op.getInput();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, codes);
  AffineExpr d0 = builder.getAffineDimExpr(0),
             s0 = builder.getAffineSymbolExpr(0);
  OpFoldResult count = builder.getIndexAttr(1);
  for (OpFoldResult size : sizes)
    count = affine::makeComposedFoldedAffineApply(builder, loc, d0 * s0,
                                                  {count, size});
  if (type.getRank() != 1) {
    SmallVector<ReassociationIndices> all(type.getRank() > 0);
    for (int64_t i = 0; i < type.getRank(); ++i)
      all.front().push_back(i);
    codes =
        type.getRank() > 0
            ? tensor::CollapseShapeOp::create(builder, loc, codes, all)
                  .getResult()
            : tensor::ExpandShapeOp::create(
                  builder, loc, RankedTensorType::get(1, type.getElementType()),
                  codes, all)
                  .getResult();
  }
  OpFoldResult bytes = affine::makeComposedFoldedAffineApply(
      builder, loc, (s0 * width).ceilDiv(8), {count});
  Type wide = builder.getIntegerType(width <= 24 ? 64 : 128);
  return generic({bytes}, builder.getI8Type(), [&] {
    Value byte = linalg::IndexOp::create(builder, loc, 0);
    Value last = apply(s0 - 1, {count});
    Value first = apply((d0 * 8).floorDiv(width), {byte});
    // How far into the first code the byte begins.
    Value begin = arith::IndexCastUIOp::create(
        builder, loc, builder.getI64Type(), apply((d0 * 8) % width, {byte}));
    if (wide != builder.getI64Type())
      begin = arith::ExtUIOp::create(builder, loc, wide, begin);
    Value bits;
    int64_t mostBegun = width - std::gcd(width, int64_t(8));
    for (int64_t i = 0; i * width < 8 + mostBegun; ++i) {
      Value at = apply(d0 + i, {first});
      Value inside = arith::CmpIOp::create(builder, loc,
                                           arith::CmpIPredicate::ule, at, last);
      at = arith::MinUIOp::create(builder, loc, at, last);
      Value code = tensor::ExtractOp::create(builder, loc, codes, at);
      if (code.getType() != wide)
        code = arith::ExtUIOp::create(builder, loc, wide, code);
      code =
          arith::SelectOp::create(builder, loc, inside, code, integer(wide, 0));
      code =
          arith::ShLIOp::create(builder, loc, code, integer(wide, i * width));
      bits = bits ? arith::OrIOp::create(builder, loc, bits, code).getResult()
                  : code;
    }
    bits = arith::ShRUIOp::create(builder, loc, bits, begin);
    return arith::TruncIOp::create(builder, loc, builder.getI8Type(), bits)
        .getResult();
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Codes that are read in another shape are unpacked in it.
static bool unpackReshaped(OpBuilder &builder, UnpackOp op, Target target) {
  if (!op->hasOneUse())
    return false;
  auto expand = dyn_cast<tensor::ExpandShapeOp>(*op->user_begin());
  if (!expand || !expand.getResultType().hasStaticShape())
    return false;
  builder.setInsertionPoint(op);
  expand.replaceAllUsesWith(Unfolder(builder, op.getLoc())
                                .unpack(op.getInput(), expand.getResultType(),
                                        {}, *op.getWidth(), target));
  expand.erase();
  return true;
}

namespace {
struct ExpandPackedPass : impl::NumeraExpandPackedBase<ExpandPackedPass> {
  using NumeraExpandPackedBase::NumeraExpandPackedBase;
  void runOnOperation() override {
    FailureOr<Target> parsed = parseTarget(getOperation(), target);
    if (failed(parsed))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    SmallVector<Operation *> work;
    getOperation()->walk([&](Operation *op) {
      if (isa<PackOp, UnpackOp>(op))
        work.push_back(op);
    });
    for (Operation *op : work) {
      builder.setInsertionPoint(op);
      if (auto unpack = dyn_cast<UnpackOp>(op)) {
        if (!unpackReshaped(builder, unpack, *parsed))
          unpack.replaceAllUsesWith(
              Unfolder(builder, op->getLoc())
                  .unpack(unpack.getInput(),
                          cast<RankedTensorType>(unpack.getType()),
                          unpack.getSizes(), *unpack.getWidth(), *parsed));
      } else if (auto pack = cast<PackOp>(op);
                 auto constant = dyn_cast_or_null<DenseElementsAttr>(
                     valueOfConstant(pack.getInput()))) {
        pack.replaceAllUsesWith(
            arith::ConstantOp::create(builder, op->getLoc(),
                                      packConstant(constant, *pack.getWidth()))
                .getResult());
      } else {
        pack.replaceAllUsesWith(Unfolder(builder, op->getLoc()).pack(pack));
      }
      op->erase();
    }
  }
};

/// A read of a tensor becomes one of its buffer.
struct LoadPackedBuffer : ReadsBuffers<LoadPackedBuffer, LoadPackedOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto load = cast<LoadPackedOp>(op);
    FailureOr<Value> buffer =
        bufferization::getBuffer(rewriter, load.getBytes(), options, state);
    if (failed(buffer))
      return failure();
    bufferization::replaceOpWithNewBufferizedOp<LoadPackedOp>(
        rewriter, op, load.getType(), *buffer, load.getIndex(),
        load.getWidth());
    return success();
  }
};
} // namespace

void registerNumeraBufferization(DialectRegistry &dialects) {
  dialects.addExtension(+[](MLIRContext *context, NumeraDialect *) {
    LoadPackedOp::attachInterface<LoadPackedBuffer>(*context);
  });
}

} // namespace numera
