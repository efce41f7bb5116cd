// SPDX-License-Identifier: MIT
//
// Fewer and longer loops. An inner loop is as long as memory is contiguous, and
// its last, partial vector comes once and not once for every row:
//
//   64x3x7x7, all alike                       9408
//   64x3x7x7 and a bias of 1x3x1x1            64 x 3 x 49
//   64x3x7x7, added up over the first one     64 x 147

#include "Loops.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace numera {

/// On buffers, and no step depends on its place.
static bool hasFreeLoops(linalg::GenericOp generic) {
  return generic.getNumLoops() > 0 && generic.hasPureBufferSemantics() &&
         !generic.hasIndexSemantics();
}

void sliceAtConstants(IRRewriter &rewriter, linalg::GenericOp generic) {
  if (!hasFreeLoops(generic))
    return;
  rewriter.setInsertionPoint(generic);
  Location loc = generic.getLoc();
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  bool hasChanged = false;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    AffineMap &map = maps[operand->getOperandNumber()];
    auto type = dyn_cast<MemRefType>(operand->get().getType());
    if (!type || !type.hasStaticShape() ||
        llvm::none_of(map.getResults(), llvm::IsaPred<AffineConstantExpr>))
      continue;
    SmallVector<OpFoldResult> offsets, sizes,
        strides(type.getRank(), rewriter.getIndexAttr(1));
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> indices;
    for (auto [expr, size] :
         llvm::zip_equal(map.getResults(), type.getShape())) {
      auto constant = dyn_cast<AffineConstantExpr>(expr);
      offsets.push_back(
          rewriter.getIndexAttr(constant ? constant.getValue() : 0));
      sizes.push_back(rewriter.getIndexAttr(constant ? 1 : size));
      if (constant)
        continue;
      shape.push_back(size);
      indices.push_back(expr);
    }
    auto view = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        shape, type, offsets, sizes, strides));
    operand->set(memref::SubViewOp::create(rewriter, loc, view, operand->get(),
                                           offsets, sizes, strides));
    map = AffineMap::get(map.getNumDims(), 0, indices, generic.getContext());
    hasChanged = true;
  }
  if (hasChanged)
    generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

/// True if operands say how long loops are without the loops of one step, too.
/// In a convolution with one result, `2 * i + k` becomes `k`: that loop is as
/// long as the kernel, not as the image.
static bool keepsLengths(linalg::GenericOp generic) {
  SmallVector<int64_t> lengths = generic.getStaticLoopRanges();
  MLIRContext *context = generic.getContext();
  SmallVector<AffineExpr> longer;
  for (auto [loop, length] : llvm::enumerate(lengths))
    longer.push_back(length == 1 ? getAffineConstantExpr(0, context)
                                 : getAffineDimExpr(loop, context));
  for (OpOperand &operand : generic->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    for (auto [expr, size] :
         llvm::zip_equal(map.getResults(), type.getShape())) {
      if (isa<AffineDimExpr>(expr))
        continue;
      auto loop = dyn_cast<AffineDimExpr>(expr.replaceDims(longer));
      if (loop &&
          (ShapedType::isDynamic(size) || lengths[loop.getPosition()] != size))
        return false;
    }
  }
  return true;
}

linalg::GenericOp dropUnitLoops(IRRewriter &rewriter,
                                linalg::GenericOp generic) {
  if (!hasFreeLoops(generic) || !keepsLengths(generic))
    return generic;
  linalg::ControlDropUnitDims options;
  options.collapseFn =
      [](RewriterBase &rewriter, Location loc, Value operand, ArrayRef<int64_t>,
         ArrayRef<ReassociationIndices> groups,
         const linalg::ControlDropUnitDims &) -> FailureOr<Value> {
    auto type = cast<MemRefType>(operand.getType());
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
      return failure();
    return memref::CollapseShapeOp::create(rewriter, loc, operand, groups)
        .getResult();
  };
  rewriter.setInsertionPoint(generic);
  FailureOr<linalg::DropUnitDimsResult> dropped =
      linalg::dropUnitDims(rewriter, generic, options);
  if (failed(dropped))
    return generic;
  rewriter.eraseOp(generic);
  return cast<linalg::GenericOp>(dropped->resultOp.getOperation());
}

/// The loops in the order of an elementwise result.
static linalg::GenericOp orderAsResult(IRRewriter &rewriter,
                                       linalg::GenericOp generic) {
  AffineMap order = generic.getIndexingMapsArray().back();
  if (generic.getNumReductionLoops() > 0 || !order.isPermutation() ||
      order.isIdentity())
    return generic;
  SmallVector<unsigned> loops;
  for (AffineExpr loop : order.getResults())
    loops.push_back(cast<AffineDimExpr>(loop).getPosition());
  // Cannot fail: a permutation of all loops.
  return *linalg::interchangeGenericOp(rewriter, generic, loops);
}

/// True if these loops, which stand together, go through each operand as one
/// loop would.
static bool areAsOne(linalg::GenericOp generic,
                     const ReassociationIndices &loops) {
  SmallVector<utils::IteratorType> kinds = generic.getIteratorTypesArray();
  if (!llvm::all_of(loops, [&](int64_t loop) {
        return kinds[loop] == kinds[loops.front()];
      }))
    return false;
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  if (!linalg::areDimSequencesPreserved(maps, loops))
    return false;
  for (auto [operand, map] : llvm::zip_equal(generic->getOperands(), maps)) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type)
      continue;
    SmallVector<ReassociationIndices> groups;
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      int64_t loop = cast<AffineDimExpr>(expr).getPosition();
      if (loop != loops.front() && llvm::is_contained(loops, loop))
        groups.back().push_back(int64_t(i));
      else
        groups.push_back({int64_t(i)});
    }
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
      return false;
  }
  return true;
}

void collapse(IRRewriter &rewriter, linalg::GenericOp generic) {
  if (!hasFreeLoops(generic) ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return;
  rewriter.setInsertionPoint(generic);
  generic = orderAsResult(rewriter, generic);
  SmallVector<ReassociationIndices> groups;
  for (int64_t loop = 0; loop < generic.getNumLoops(); ++loop) {
    if (!groups.empty()) {
      ReassociationIndices longer = groups.back();
      longer.push_back(loop);
      if (areAsOne(generic, longer)) {
        groups.back() = longer;
        continue;
      }
    }
    groups.push_back({loop});
  }
  if (groups.size() < generic.getNumLoops() &&
      succeeded(linalg::collapseOpIterationDims(generic, groups, rewriter)))
    rewriter.eraseOp(generic);
}

} // namespace numera
