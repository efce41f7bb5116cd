// SPDX-License-Identifier: MIT
//
// Contractions that read scaled tensors (docs/Semantics/Scaling.md, Z7).

#include "ExpandScales.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace numera {

/// The operation that brings the sums of a contraction to the model's format.
static Operation *roundingOf(linalg::GenericOp generic) {
  Value result = generic.getResult(0);
  if (!result.hasOneUse())
    return nullptr;
  Operation *user = *result.user_begin();
  return isa<CastOp, QuireRoundOp>(user) ? user : nullptr;
}

/// Where a scale of `type`, read by `map`, is found from the result's indices;
/// null if it changes along a reduction, or has a zero point beside it.
static AffineMap scaleOfResult(linalg::GenericOp generic, AffineMap map,
                               RankedTensorType type) {
  ScalingAttr scaling = scalingOf(type);
  AffineMap result = generic.getIndexingMapsArray().back();
  unsigned rank = result.getNumResults();
  MLIRContext *context = generic.getContext();
  if (scaledFormatOf(type).hasZeroPoint())
    return {};
  if (scaling.getAxis() < 0)
    return AffineMap::get(rank, 0, {}, context);
  if (scaling.getScaling().block)
    return {};
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(scaling.getAxis()));
  for (auto [i, expr] : llvm::enumerate(result.getResults()))
    if (loop && expr == loop)
      return AffineMap::get(rank, 0, getAffineDimExpr(unsigned(i), context),
                            context);
  return {};
}

static bool isContraction(linalg::GenericOp generic) {
  Operation *first = &generic.getBody()->front();
  return generic.getBody()->getOperations().size() == 2 &&
         isa<MacOp, QuireMacOp>(first);
}

/// Where the values of an operand are computed: beside its scales if nothing
/// else reads it, so that numera-fuse-rows finds them together.
static Operation *placeOfValues(linalg::GenericOp generic, Value scaled) {
  auto quantize = scaled.getDefiningOp<QuantizeOp>();
  bool isOwn = quantize && scaled.hasOneUse() &&
               quantize->getBlock() == generic->getBlock();
  return isOwn ? quantize.getOperation() : generic.getOperation();
}

LogicalResult Expander::expand(linalg::GenericOp generic) {
  Operation *rounding = roundingOf(generic);
  bool takesElements =
      isContraction(generic) && rounding &&
      numera::elementType(rounding->getResult(0).getType()).isF32();
  SmallVector<std::pair<Value, AffineMap>> factors;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    if (!scalingOf(type))
      continue;
    Value scaled = operand->get();
    builder.setInsertionPoint(placeOfValues(generic, scaled));
    AffineMap map = generic.getMatchingIndexingMap(operand);
    AffineMap place =
        takesElements ? scaleOfResult(generic, map, type) : AffineMap();
    if (!isContraction(generic))
      return generic.emitError("reads scaled tensors, which only contractions "
                               "do; dequantize them first");
    Value plain =
        place ? partsOf(scaled).data : valuesOf(generic.getLoc(), scaled);
    operand->set(plain);
    generic.getMatchingBlockArgument(operand).setType(
        numera::elementType(plain.getType()));
    if (place)
      factors.push_back({scaled, place});
  }
  if (!factors.empty())
    rescale(rounding, factors);
  return success();
}

/// Multiplies a result by the scales of the operands.
void Expander::rescale(Operation *rounding,
                       ArrayRef<std::pair<Value, AffineMap>> factors) {
  Location loc = rounding->getLoc();
  Value result = rounding->getResult(0);
  builder.setInsertionPointAfter(rounding);
  auto sizes = tensor::getMixedSizes(builder, loc, result);
  SmallVector<ScaleAccess> operands = {
      {result, builder.getMultiDimIdentityMap(unsigned(sizes.size()))}};
  SmallVector<ScaledFormat> formats;
  for (auto [scaled, place] : factors) {
    ScaledFormat format =
        scaledFormatOf(cast<RankedTensorType>(scaled.getType()));
    formats.push_back(format);
    operands.push_back({divisors(loc, partsOf(scaled), format, false), place});
  }
  Value product = mapElements(
      builder, loc, sizes, operands, builder.getF32Type(), formats.front(),
      [&](auto &, IRArithmetic &a, ValueRange v) -> Value {
        Value factor;
        for (auto [scale, format] : llvm::zip_equal(v.drop_front(), formats)) {
          Value one = scale;
          if (format.scaling.rule == ScaleRule::Range)
            one = a.binary(OpKind::Mul, one,
                           ScaleSteps<IRArithmetic>(a, format).baseScale());
          factor = factor ? a.binary(OpKind::Mul, factor, one) : one;
        }
        return a.binary(OpKind::Mul, v[0], factor);
      });
  result.replaceUsesWithIf(product, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user != product.getDefiningOp() && !isa<tensor::DimOp>(user);
  });
}

} // namespace numera
