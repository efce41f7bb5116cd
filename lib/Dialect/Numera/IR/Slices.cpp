// SPDX-License-Identifier: MIT
//
// MLIR 22 canonicalises a slice of a tensor whose offsets or sizes are
// constants to one whose type drops the first dimensions of one element that it
// can. Where the slice drops others, as [0, 0, %zero] [1, 2, 1] to 1 x 2 does,
// a cast to the type that was comes behind it, from 2 x 1 here, and folds to a
// slice of other sizes. So such a slice is made static before, with the
// dimensions that it has.
//
// Nor can MLIR tell by strides which dimensions a view in memory drops where
// not all steps are 1. So the step of a single element becomes 1, and a slice
// with other steps is taken whole, and reshaped.

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;
using namespace numera;

namespace {
struct FoldConstantsOfSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  /// Before MLIR's own pattern.
  explicit FoldConstantsOfSlice(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
    SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
    SmallVector<OpFoldResult> strides = slice.getMixedStrides();
    bool isFolded = succeeded(foldDynamicIndexList(offsets, true));
    isFolded |= succeeded(foldDynamicIndexList(sizes, true));
    isFolded |= succeeded(foldDynamicIndexList(strides));
    RankedTensorType type = slice.getType(), source = slice.getSourceType();
    if (!isFolded || type.getRank() == source.getRank())
      return failure();
    if (!verifyInBoundsSlice(source.getShape(), offsets, sizes, strides)
             .isValid)
      return failure(); // an error as it runs
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<int64_t> shape;
    for (auto [i, size] : llvm::enumerate(sizes))
      if (!dropped.test(unsigned(i)))
        shape.push_back(
            getConstantIntValue(size).value_or(ShapedType::kDynamic));
    auto folded = tensor::ExtractSliceOp::create(
        rewriter, slice.getLoc(), type.clone(shape), slice.getSource(), offsets,
        sizes, strides);
    Value result = folded;
    if (folded.getType() != type)
      result = tensor::CastOp::create(rewriter, slice.getLoc(), type, folded);
    rewriter.replaceOp(slice, result);
    return success();
  }
};

/// The dimensions of a slice that make each of those that are left: dropped
/// ones go with the one before them, or with the first.
SmallVector<ReassociationIndices>
groupsWithout(const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> groups;
  for (int i = 0; i < int(dropped.size()); ++i) {
    bool isFirst = dropped.find_first_unset() == i;
    if (!dropped.test(unsigned(i)) && !isFirst)
      groups.emplace_back();
    else if (groups.empty())
      groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

struct TakeStepsWhole : OpRewritePattern<tensor::ExtractSliceOp> {
  explicit TakeStepsWhole(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = slice.getType();
    if (type.getRank() == slice.getSourceType().getRank())
      return failure();
    SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
    SmallVector<OpFoldResult> strides = slice.getMixedStrides();
    bool isChanged = false, hasSteps = false;
    for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
      if (isOneInteger(stride))
        continue;
      bool isSingle = isOneInteger(size);
      isChanged |= isSingle;
      hasSteps |= !isSingle;
      if (isSingle)
        stride = rewriter.getIndexAttr(1);
    }
    Location loc = slice.getLoc();
    if (hasSteps) {
      auto whole = tensor::ExtractSliceOp::create(
          rewriter, loc, slice.getSource(), slice.getMixedOffsets(), sizes,
          strides);
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
          slice, type, whole, groupsWithout(slice.getDroppedDims()));
      return success();
    }
    if (!isChanged)
      return failure();
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        slice, type, slice.getSource(), slice.getMixedOffsets(), sizes,
        strides);
    return success();
  }
};
} // namespace

void NumeraDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns.add<FoldConstantsOfSlice, TakeStepsWhole>(getContext());
}
