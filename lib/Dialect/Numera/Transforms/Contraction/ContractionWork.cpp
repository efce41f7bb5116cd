// SPDX-License-Identifier: MIT

#include "ContractionWork.h"
#include "Buffers/BufferUses.h"
#include "Lowering/Lowerings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace numera {

std::vector<ContractionWork> findContractions(ModuleOp module, Target target) {
  std::vector<ContractionWork> found;
  module.walk([&](linalg::GenericOp generic) {
    if (!generic.hasPureBufferSemantics())
      return;
    auto contraction = PackedContraction::of(generic, target);
    if (!contraction)
      return;
    // Quires are many words, which their kernel adds to in memory.
    linalg::FillOp fill;
    if (!contraction->quireStep)
      fill = fillBefore(generic, generic.getDpsInits().front());
    found.push_back({generic, std::move(*contraction), fill});
  });
  return found;
}

ContractionKinds::ContractionKinds(linalg::GenericOp generic,
                                   const PackedContraction &contraction)
    : step(contraction.step),
      rowsAreLeft(cast<BlockArgument>(step.getLhs()).getArgNumber() ==
                  contraction.rowsInput) {
  FormatOpInterface op = step;
  auto storageOf = [&](unsigned operand) {
    return cast<MemRefType>(generic->getOperand(operand).getType())
        .getElementType();
  };
  row = {storageOf(contraction.rowsInput),
         op.getOperandElement(rowsAreLeft ? 0 : 1)};
  column = {storageOf(contraction.columnsInput),
            op.getOperandElement(rowsAreLeft ? 1 : 0)};
  sum = {storageOf(2), op.getResultElement()};
  value = sum.kind;
  // A NaN's bits are all that hangs on the order of a float's factors, and the
  // cast that follows gives NaN its own.
  rowsAreLeft |= contraction.isDirect;
  if (contraction.carried)
    value.format = formatOfType(contraction.carrier);
}

std::string ContractionKinds::key() const {
  std::string key;
  llvm::raw_string_ostream(key)
      << MacOp(step)->getAttrDictionary() << MacOp(step)->getOperandTypes()
      << row.kind.format.spelling() << ' ' << column.kind.format.spelling()
      << ' ' << rowsAreLeft;
  return key;
}

/// How often `loop` goes into the linear `expr`.
static int64_t coefficientOf(AffineExpr expr, unsigned loop) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == loop;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return coefficientOf(binary.getLHS(), loop) +
           coefficientOf(binary.getRHS(), loop);
  return coefficientOf(binary.getLHS(), loop) *
         cast<AffineConstantExpr>(binary.getRHS()).getValue();
}

Value addressOf(OpBuilder &builder, Location loc, Value memref) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value bits =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return LLVM::IntToPtrOp::create(builder, loc, pointer, bits);
}

StaticAccess staticAccessOf(linalg::GenericOp generic, OpOperand &operand) {
  StaticAccess access;
  SmallVector<int64_t> strides;
  auto type = cast<MemRefType>(operand.get().getType());
  if (failed(type.getStridesAndOffset(strides, access.offset))) {
    access.offset = ShapedType::kDynamic;
    strides.assign(type.getRank(), ShapedType::kDynamic);
  }
  AffineMap map = generic.getMatchingIndexingMap(&operand);
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop) {
    int64_t sum = 0;
    for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides)) {
      int64_t times = coefficientOf(expr, loop);
      if (times != 0 && ShapedType::isDynamic(stride))
        sum = ShapedType::kDynamic;
      else if (times != 0 && !ShapedType::isDynamic(sum))
        sum += times * stride;
    }
    access.strides.push_back(sum);
  }
  return access;
}

/// Where offset and strides are known: constants.
static Access accessOf(OpBuilder &builder, Location loc, Value memref,
                       const StaticAccess &known) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  Access access = {addressOf(builder, loc, memref), {}};
  if (known.offset != 0)
    access.base = LLVM::GEPOp::create(
        builder, loc, pointer, element, access.base,
        ArrayRef<LLVM::GEPArg>{
            arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                         known.offset)
                .getResult()});
  for (int64_t stride : known.strides)
    access.strides.push_back(arith::ConstantIntOp::create(
        builder, loc, builder.getI64Type(), stride));
  return access;
}

Access accessOf(OpBuilder &builder, linalg::GenericOp generic,
                OpOperand &operand) {
  Location loc = generic.getLoc();
  Value memref = operand.get();
  StaticAccess known = staticAccessOf(generic, operand);
  if (!ShapedType::isDynamic(known.offset) &&
      llvm::none_of(known.strides, ShapedType::isDynamic))
    return accessOf(builder, loc, memref, known);
  auto type = cast<MemRefType>(memref.getType());
  auto pointer = LLVM::LLVMPointerType::get(generic.getContext());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Type i64 = builder.getI64Type();
  Value buffer = addressOf(builder, loc, metadata.getBaseBuffer());
  Value offset =
      arith::IndexCastOp::create(builder, loc, i64, metadata.getOffset());
  Access access;
  access.base =
      LLVM::GEPOp::create(builder, loc, pointer, type.getElementType(), buffer,
                          ArrayRef<LLVM::GEPArg>{offset});
  AffineMap map = generic.getMatchingIndexingMap(&operand);
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop) {
    Value sum = arith::ConstantIndexOp::create(builder, loc, 0);
    for (auto [expr, stride] :
         llvm::zip_equal(map.getResults(), metadata.getStrides())) {
      int64_t times = coefficientOf(expr, loop);
      if (times == 0)
        continue;
      Value factor = arith::ConstantIndexOp::create(builder, loc, times);
      sum = arith::AddIOp::create(
          builder, loc, sum,
          arith::MulIOp::create(builder, loc, stride, factor));
    }
    access.strides.push_back(
        arith::IndexCastOp::create(builder, loc, i64, sum));
  }
  return access;
}

SmallVector<Value> extentsOf(OpBuilder &builder, linalg::GenericOp generic) {
  Location loc = generic.getLoc();
  SmallVector<Value> extents;
  auto op = cast<linalg::LinalgOp>(generic.getOperation());
  for (Range range : op.createLoopRanges(builder, loc))
    extents.push_back(
        getValueOrCreateConstantIndexOp(builder, loc, range.size));
  return extents;
}

/// The classes of loops in the order of kernel::LoopCounts.
static std::array<const SmallVector<unsigned> *, 4>
classesOf(const PackedContraction &contraction) {
  return {&contraction.batch, &contraction.rows, &contraction.columns,
          &contraction.steps};
}

SmallVector<Value> loopWords(OpBuilder &builder, const ContractionWork &work,
                             ArrayRef<Access> accesses) {
  linalg::GenericOp generic = work.generic;
  SmallVector<Value> extents = extentsOf(builder, generic), words;
  const PackedContraction &contraction = work.contraction;
  for (const SmallVector<unsigned> *loops : classesOf(contraction))
    for (unsigned loop : *loops) {
      words.push_back(builder.createOrFold<arith::IndexCastOp>(
          generic.getLoc(), builder.getI64Type(), extents[loop]));
      words.push_back(accesses[contraction.rowsInput].strides[loop]);
      words.push_back(accesses[contraction.columnsInput].strides[loop]);
      words.push_back(accesses[2].strides[loop]);
    }
  return words;
}

void storeWords(OpBuilder &builder, Location loc, ValueRange words,
                Value memory) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  for (auto [i, word] : llvm::enumerate(words)) {
    Value place =
        LLVM::GEPOp::create(builder, loc, pointer, word.getType(), memory,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, word, place);
  }
}

SmallVector<Value> loopCounts(OpBuilder &builder, Location loc,
                              const PackedContraction &contraction,
                              int64_t loopsOfColumn) {
  SmallVector<Value> counts;
  for (const SmallVector<unsigned> *loops : classesOf(contraction)) {
    int64_t each = loops == &contraction.columns ? loopsOfColumn : 1;
    counts.push_back(arith::ConstantIntOp::create(
        builder, loc, builder.getI32Type(), int64_t(loops->size()) * each));
  }
  return counts;
}

} // namespace numera
