// SPDX-License-Identifier: MIT
//
// Scaled tensors become tensors of elements and of scales. A tensor with blocks
// gets one more dimension, the index in the block, so that elements and scales
// are read along plain dimensions. A last block that is not full is filled up
// with zeros, which do not change its largest magnitude.

#include "ExpandScales.h"
#include "ExpandPacked.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/ViewLikeInterfaceUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAEXPANDSCALES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Quantize and dequantize
//===----------------------------------------------------------------------===//

/// Elements as the format keeps them in memory.
Value Expander::stored(Value elements, const ScaledFormat &format) {
  return format.scaling.isPacked
             ? throughPacked(builder, elements.getLoc(), elements)
             : elements;
}

/// What elements are divided by, or read by, for every scale.
Value Expander::divisors(Location loc, const Parts &parts,
                         const ScaledFormat &format, bool reciprocal) {
  auto sizes = tensor::getMixedSizes(builder, loc, parts.scales);
  auto rank = unsigned(sizes.size());
  SmallVector<ScaleAccess> operands = {
      {parts.scales, builder.getMultiDimIdentityMap(rank)}};
  if (parts.tensorScale)
    operands.push_back(
        {parts.tensorScale, AffineMap::get(rank, 0, {}, builder.getContext())});
  return mapElements(
      builder, loc, sizes, operands, builder.getF32Type(), format,
      [&](auto &steps, IRArithmetic &a, ValueRange values) {
        std::optional<Value> tensorScale;
        if (values.size() > 1)
          tensorScale = values[1];
        Value divisor = steps.divisor(values[0], tensorScale);
        return reciprocal
                   ? a.binary(OpKind::Div, a.constant(formatF32(), 1), divisor)
                   : divisor;
      });
}

/// Rule `min-max`.
void Expander::makeScalesAndZeros(QuantizeOp op, Value values,
                                  const Loops &loops, Parts &parts) {
  Location loc = op.getLoc();
  ScaledFormat format = scaledFormatOf(op.getType());
  if (Value given = op.getZeros()) {
    auto sizes = tensor::getMixedSizes(builder, loc, given);
    AffineMap each = builder.getMultiDimIdentityMap(unsigned(sizes.size()));
    parts.scales = op.getScales();
    parts.zeros = mapElements(
        builder, loc, sizes, {{given, each}}, op.getType().getElementType(),
        format, [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
          return steps.element(v[0]);
        });
    return;
  }
  Range range = rangeWithZero(builder, loc, values, loops.kept);
  auto sizes = tensor::getMixedSizes(builder, loc, range.least);
  AffineMap each = builder.getMultiDimIdentityMap(unsigned(sizes.size()));
  parts.scales = mapElements(
      builder, loc, sizes, {{range.least, each}, {range.most, each}},
      builder.getF32Type(), format,
      [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
        return steps.scaleOfRange(v[0], v[1]);
      });
  parts.zeros = mapElements(
      builder, loc, sizes, {{range.least, each}, {parts.scales, each}},
      op.getType().getElementType(), format,
      [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
        return steps.zeroPoint(v[0], v[1]);
      });
}

void Expander::makeScales(QuantizeOp op, Value values, const Loops &loops,
                          Parts &parts) {
  Location loc = op.getLoc();
  ScaledFormat format = scaledFormatOf(op.getType());
  if (format.hasZeroPoint())
    return makeScalesAndZeros(op, values, loops, parts);
  Type element = typeOfFormat(builder.getContext(), format.scaling.scale);
  Value from = op.getScales();
  if (!from)
    from = largestMagnitude(builder, loc, values, loops.kept);
  auto sizes = tensor::getMixedSizes(builder, loc, from);
  auto rank = unsigned(sizes.size());
  AffineMap none = AffineMap::get(rank, 0, {}, builder.getContext());
  if (format.scaling.hasTensorScale) {
    Value amax =
        largestMagnitude(builder, loc, from, SmallVector<bool>(rank, false));
    parts.tensorScale =
        mapElements(builder, loc, {},
                    {{amax, AffineMap::get(0, 0, {}, builder.getContext())}},
                    builder.getF32Type(), format,
                    [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
                      return steps.tensorScale(v[0]);
                    });
  }
  SmallVector<ScaleAccess> operands = {
      {from, builder.getMultiDimIdentityMap(rank)}};
  if (parts.tensorScale)
    operands.push_back({parts.tensorScale, none});
  bool isGiven = bool(op.getScales());
  parts.scales =
      mapElements(builder, loc, sizes, operands, element, format,
                  [&](auto &steps, IRArithmetic &a, ValueRange v) -> Value {
                    if (isGiven)
                      return a.formatOf(v[0]) == format.scaling.scale
                                 ? v[0]
                                 : a.cast(format.scaling.scale, v[0], {});
                    std::optional<Value> tensorScale;
                    if (v.size() > 1)
                      tensorScale = v[1];
                    return steps.scale(v[0], tensorScale);
                  });
}

/// Elements or values, what divides them, and the zero points if there are any.
static SmallVector<ScaleAccess> withScales(Value values, Value divisors,
                                           const Parts &parts,
                                           const Loops &loops) {
  SmallVector<ScaleAccess> operands = {{values, loops.elements},
                                       {divisors, loops.scales}};
  if (parts.zeros)
    operands.push_back({parts.zeros, loops.scales});
  return operands;
}

/// The zero point, which comes behind an element or a value and its divisor.
static std::optional<Value> zeroOf(ValueRange values) {
  return values.size() > 2 ? std::optional(values[2]) : std::nullopt;
}

void Expander::expand(QuantizeOp op) {
  Parts &parts = expanded[op.getResult()];
  if (!counts && foldQuantize(op, parts))
    return;
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  ScaledFormat format = scaledFormatOf(type);
  int64_t axis = scalingOf(type).getAxis();
  Loops loops = loopsOf(type);
  Value values = op.getInput();
  parts.sizes = tensor::getMixedSizes(builder, loc, values);
  if (format.isBlock())
    values = split(loc, values, axis, format.scaling.block);
  makeScales(op, values, loops, parts);
  // A power of two has an exact reciprocal.
  bool hasReciprocal = format.scaling.scale == powersOfTwo();
  Value by = divisors(loc, parts, format, hasReciprocal);
  Value data = mapElements(
      builder, loc, tensor::getMixedSizes(builder, loc, values),
      withScales(values, by, parts, loops), type.getElementType(), format,
      [&](auto &steps, IRArithmetic &, ValueRange v) -> Value {
        return hasReciprocal ? steps.quantizeByReciprocal(v[0], v[1])
                             : steps.quantize(v[0], v[1], zeroOf(v));
      });
  data = stored(data, format);
  if (format.isBlock()) {
    parts.blocks = data;
    data = join(loc, data, axis, parts.sizes, type);
  }
  parts.data = data;
}

Value Expander::valuesOf(Location loc, Value scaled) {
  if (Value constant = valuesOfConstant(loc, scaled))
    return constant;
  auto type = cast<RankedTensorType>(scaled.getType());
  const Parts &parts = partsOf(scaled);
  ScaledFormat format = scaledFormatOf(type);
  int64_t axis = scalingOf(type).getAxis();
  Loops loops = loopsOf(type);
  Value data = parts.data;
  if (format.isBlock())
    data = parts.blocks ? parts.blocks
                        : split(loc, data, axis, format.scaling.block);
  Value by = divisors(loc, parts, format, /*reciprocal=*/false);
  Value values = mapElements(
      builder, loc, tensor::getMixedSizes(builder, loc, data),
      withScales(data, by, parts, loops), builder.getF32Type(), format,
      [](auto &steps, IRArithmetic &, ValueRange v) -> Value {
        return steps.dequantize(v[0], v[1], zeroOf(v));
      });
  if (!format.isBlock())
    return values;
  return join(loc, values, axis,
              tensor::getMixedSizes(builder, loc, parts.data), type);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult Expander::expandAny(Operation *op) {
  builder.setInsertionPoint(op);
  if (auto quantize = dyn_cast<QuantizeOp>(op)) {
    expand(quantize);
    return success();
  }
  if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
    dequantize.getResult().replaceAllUsesWith(
        valuesOf(op->getLoc(), dequantize.getInput()));
    return success();
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return expand(generic);
  if (auto parts = dyn_cast<ScaledFromPartsOp>(op)) {
    expand(parts);
    return success();
  }
  if (auto parts = dyn_cast<ScaledPartsOp>(op)) {
    expand(parts);
    return success();
  }
  if (expandScaledArithmetic(op))
    return success();
  return op->emitError("'") << op->getName()
                            << "' takes a scaled tensor, which no scales are "
                               "known for; dequantize "
                               "it first";
}

/// Blocks take no scaled tensors any more: none of those that they took has
/// parts.
static LogicalResult checkBlocks(ModuleOp module) {
  WalkResult result = module.walk([&](Block *block) {
    for (Type type : block->getArgumentTypes())
      if (scalingOf(type)) {
        Operation *op = block->getParentOp();
        op->emitError("a block of '")
            << op->getName() << "' takes " << type
            << ", a scaled tensor; dequantize it first, or carry it in a loop "
               "of scf, whose parts numera-decompose-scaled-signatures carries";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static bool usesScaled(Operation *op) {
  auto isScaled = [](Type type) { return bool(scalingOf(type)); };
  return llvm::any_of(op->getOperandTypes(), isScaled) ||
         llvm::any_of(op->getResultTypes(), isScaled);
}

LogicalResult Expander::run(ModuleOp module) {
  SmallVector<Operation *> work;
  auto crossing = module.walk([&](Operation *op) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    auto isScaled = [](Type type) { return bool(scalingOf(type)); };
    if (function && (llvm::any_of(function.getArgumentTypes(), isScaled) ||
                     llvm::any_of(function.getResultTypes(), isScaled))) {
      op->emitError("a scaled tensor crosses the boundary of '")
          << function.getName()
          << "'; numera-decompose-scaled-signatures passes its parts instead";
      return WalkResult::interrupt();
    }
    if (usesScaled(op))
      work.push_back(op);
    return WalkResult::advance();
  });
  if (crossing.wasInterrupted() || failed(checkBlocks(module)))
    return failure();
  llvm::DenseSet<Operation *> others;
  if (counts) {
    nameTensors(work);
    others = findOthers(module, work);
  }
  weights.find(module);
  for (Operation *op : work)
    if (failed(expandAny(op)))
      return failure();
  if (counts && failed(returnCounts(work, others)))
    return failure();
  for (Operation *op : llvm::reverse(work))
    if (!isa<linalg::GenericOp>(op))
      op->erase();
  weights.eraseUnused();
  return success();
}

namespace {
struct ExpandScalesPass : impl::NumeraExpandScalesBase<ExpandScalesPass> {
  using Base::Base;
  void runOnOperation() override {
    FailureOr<Target> parsed = parseTarget(getOperation(), target);
    if (failed(parsed) ||
        failed(Expander(&getContext(), /*counts=*/false, *parsed)
                   .run(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace numera
