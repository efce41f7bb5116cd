// SPDX-License-Identifier: MIT
//
// The parts of scaled tensors in other shapes, and as values of the program.

#include "ExpandScales.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/ViewLikeInterfaceUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace numera {

//===----------------------------------------------------------------------===//
// Blocks as a dimension
//===----------------------------------------------------------------------===//

/// (dimensions before) (axis → blocks, place) (dimensions after).
static SmallVector<ReassociationIndices> splitting(int64_t rank, int64_t axis) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t first = i + (i > axis);
    groups.push_back(i == axis ? ReassociationIndices{i, i + 1}
                               : ReassociationIndices{first});
  }
  return groups;
}

static Value padAxis(OpBuilder &builder, Location loc, Value value,
                     int64_t axis, OpFoldResult high) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> none(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> highs(none);
  highs[axis] = high;
  Type element = type.getElementType();
  TypedAttr code = constantOfCode(element, 0);
  Value zero = isa<NumType>(element)
                   ? ConstantOp::create(builder, loc, element, code).getResult()
                   : arith::ConstantOp::create(builder, loc, code).getResult();
  return tensor::PadOp::create(builder, loc, Type(), value, none, highs, zero);
}

Value Expander::split(Location loc, Value value, int64_t axis, int64_t block) {
  auto type = cast<RankedTensorType>(value.getType());
  // A block that is all of the axis needs no filling up.
  if (!type.isDynamicDim(axis))
    block = std::min(block, std::max<int64_t>(type.getDimSize(axis), 1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  AffineExpr size = builder.getAffineSymbolExpr(0);
  OpFoldResult blocks = affine::makeComposedFoldedAffineApply(
      builder, loc, size.ceilDiv(block), {sizes[axis]});
  if (type.isDynamicDim(axis) || type.getDimSize(axis) % block != 0) {
    OpFoldResult high = affine::makeComposedFoldedAffineApply(
        builder, loc, size.ceilDiv(block) * block - size, {sizes[axis]});
    value = padAxis(builder, loc, value, axis, high);
    type = cast<RankedTensorType>(value.getType());
  }
  sizes[axis] = blocks;
  sizes.insert(sizes.begin() + axis + 1, builder.getIndexAttr(block));
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), value,
      splitting(type.getRank(), axis), sizes);
}

/// The tensor of which `blocks` are the blocks along `axis`; its sizes are
/// `sizes`.
Value Expander::join(Location loc, Value blocks, int64_t axis,
                     ArrayRef<OpFoldResult> sizes, RankedTensorType type) {
  auto element = cast<RankedTensorType>(blocks.getType()).getElementType();
  Value joined = tensor::CollapseShapeOp::create(
      builder, loc, blocks, splitting(type.getRank(), axis));
  auto plain = RankedTensorType::get(type.getShape(), element);
  // Of a dynamic size it is not known here that the last block is full.
  if (!type.isDynamicDim(axis) && joined.getType() == plain)
    return joined;
  SmallVector<OpFoldResult> zeros(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, plain, joined, zeros,
                                        sizes, ones);
}

Loops Expander::loopsOf(RankedTensorType type) {
  ScalingAttr scaling = scalingOf(type);
  int64_t axis = scaling.getAxis();
  bool hasBlocks = scaling.getScaling().block != 0;
  Loops loops;
  loops.rank = unsigned(type.getRank()) + hasBlocks;
  SmallVector<AffineExpr> scaleLoops;
  for (unsigned i = 0; i < loops.rank; ++i) {
    bool isKept = axis >= 0 && (hasBlocks ? i != axis + 1 : i == axis);
    loops.kept.push_back(isKept);
    if (isKept)
      scaleLoops.push_back(builder.getAffineDimExpr(i));
  }
  loops.elements = builder.getMultiDimIdentityMap(loops.rank);
  loops.scales =
      AffineMap::get(loops.rank, 0, scaleLoops, builder.getContext());
  loops.none = AffineMap::get(loops.rank, 0, {}, builder.getContext());
  return loops;
}

//===----------------------------------------------------------------------===//
// Parts that stand in the program
//===----------------------------------------------------------------------===//

void Expander::expand(ScaledFromPartsOp op) {
  Location loc = op.getLoc();
  Parts &parts = expanded[op.getResult()];
  ScaledFormat format = scaledFormatOf(op.getType());
  Value data = op.getParts()[0];
  if (isPacked(data.getType()))
    data =
        UnpackOp::create(builder, loc,
                         RankedTensorType::get(op.getType().getShape(),
                                               op.getType().getElementType()),
                         data, ValueRange(), IntegerAttr());
  parts.data = data;
  parts.sizes = tensor::getMixedSizes(builder, loc, data);
  parts.scales = op.getParts()[1];
  if (format.hasZeroPoint())
    parts.zeros = op.getParts()[2];
  if (format.scaling.hasTensorScale)
    parts.tensorScale = op.getParts()[2];
}

void Expander::expand(ScaledPartsOp op) {
  Location loc = op.getLoc();
  const Parts &parts = partsOf(op.getOperand());
  SmallVector<Value> values = {parts.data, parts.scales};
  if (parts.zeros)
    values.push_back(parts.zeros);
  if (parts.tensorScale)
    values.push_back(parts.tensorScale);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), values)) {
    Type type = result.getType();
    if (isPacked(type))
      value = PackOp::create(builder, loc, type, value, IntegerAttr());
    else if (value.getType() != type) // sizes that only the value knows
      value = tensor::CastOp::create(builder, loc, type, value);
    result.replaceAllUsesWith(value);
  }
}

} // namespace numera
