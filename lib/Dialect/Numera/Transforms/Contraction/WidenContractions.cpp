// SPDX-License-Identifier: MIT
//
// A contraction with a wide accumulator reads each operand many times, so its
// operands are cast to the accumulator's format once, outside. The casts are
// exact, so the bits are the same. A packed kernel decodes each element when it
// packs it, which happens many times only for an image; but of floats one
// factor is read from where it lies.

#include "ContractionLoops.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAWIDENCONTRACTIONS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// The step if the body of `generic` is one, on inputs that all embed in the
/// accumulator, and have no scales: those are of the narrow format.
static MacOp widenable(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  if (generic.getNumReductionLoops() == 0 ||
      body->getOperations().size() != 2 || !generic.hasPureTensorSemantics() ||
      llvm::any_of(generic->getOperandTypes(), scalingOf))
    return {};
  auto mac = dyn_cast<MacOp>(&body->front());
  bool takesInputs = mac && isa<BlockArgument>(mac.getLhs()) &&
                     isa<BlockArgument>(mac.getRhs());
  return takesInputs && factorsEmbed(mac) ? mac : MacOp();
}

/// How many windows read an element of an image in the mean, as far as sizes
/// are known: 1 of what is no image.
static double windowsOf(linalg::GenericOp generic, OpOperand *operand) {
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  auto type = cast<RankedTensorType>(operand->get().getType());
  AffineMap map = generic.getMatchingIndexingMap(operand);
  double times = 1;
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), type.getShape())) {
    if (isa<AffineDimExpr>(expr))
      continue;
    double reads = 1;
    for (unsigned loop = 0; loop < ranges.size(); ++loop)
      if (expr.isFunctionOfDim(loop)) {
        if (ShapedType::isDynamic(ranges[loop]))
          return 1;
        reads *= static_cast<double>(ranges[loop]);
      }
    if (ShapedType::isDynamic(size))
      return 1;
    times *= reads / static_cast<double>(size);
  }
  return times;
}

/// True if a kernel that packs its operands reads each element of this one many
/// times, as it does an image's where windows overlap.
static bool isReadOften(linalg::GenericOp generic, OpOperand *operand) {
  return windowsOf(generic, operand) > 2;
}

/// True if each element is read often enough to be worth a cast and the wider
/// memory, as far as sizes are known, or there are few of them: a second kernel
/// in the program would take longer to compile. Constants are cast, and laid
/// out for the kernel, when the program is compiled.
static bool isWorthACast(linalg::GenericOp generic, OpOperand *operand) {
  constexpr double fewest = 16;
  constexpr int64_t few = int64_t(1) << 14, fewConstants = int64_t(1) << 21;
  auto type = cast<RankedTensorType>(operand->get().getType());
  bool isConstant = matchPattern(operand->get(), m_Constant());
  if (type.hasStaticShape() &&
      type.getNumElements() <= (isConstant ? fewConstants : few))
    return true;
  AffineMap map = generic.getMatchingIndexingMap(operand);
  double reads = windowsOf(generic, operand);
  for (auto [loop, range] : llvm::enumerate(generic.getStaticLoopRanges()))
    if (!map.isFunctionOfDim(unsigned(loop)))
      reads *= ShapedType::isDynamic(range) ? fewest : double(range);
  return reads >= fewest;
}

static Value castTo(OpBuilder &builder, Location loc, Type wide, Value narrow) {
  Type type = wide;
  if (auto tensor = dyn_cast<RankedTensorType>(narrow.getType()))
    type = tensor.clone(wide);
  auto cast = CastOp::create(builder, loc, TypeRange(type), ValueRange(narrow));
  // Exact, so that it takes no random bits.
  if (FormatOpInterface(cast).drawsRandom())
    cast.setRounding(Rounding::NearestEven);
  return cast;
}

/// An operand of the contraction in the wider format. What pads it comes after
/// the cast: so what computes it can write wide numbers, and into padded
/// memory.
static Value widened(OpBuilder &builder, Location loc, Type wide,
                     Value operand) {
  auto pad = operand.getDefiningOp<tensor::PadOp>();
  Value border = pad ? pad.getConstantPaddingValue() : Value();
  if (!border || !pad->hasOneUse())
    return castTo(builder, loc, wide, operand);
  return tensor::PadOp::create(builder, loc, pad.getResultType().clone(wide),
                               castTo(builder, loc, wide, pad.getSource()),
                               pad.getMixedLowPad(), pad.getMixedHighPad(),
                               castTo(builder, loc, wide, border),
                               pad.getNofold());
}

static bool widen(linalg::GenericOp generic, Target target) {
  MacOp mac = widenable(generic);
  if (!mac)
    return false;
  Type wide = mac.getType();
  bool isPacked = PackedContraction::of(generic, target).has_value();
  bool takesFloats =
      target == Target::CPU && isa<FloatType>(wide) &&
      llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *operand) {
        return isWorthACast(generic, operand);
      });
  bool changed = false;
  OpBuilder builder(generic);
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(operand);
    if (argument.getType() == wide || argument.use_empty())
      continue;
    // What packs its operands decodes them as it does, and tensor cores take
    // them narrow.
    if (isPacked && (mac.getTensorcore() ||
                     (!takesFloats && !isReadOften(generic, operand))))
      continue;
    operand->set(widened(builder, generic.getLoc(), wide, operand->get()));
    argument.setType(wide);
    changed = true;
  }
  return changed;
}

namespace {
struct WidenContractionsPass
    : impl::NumeraWidenContractionsBase<WidenContractionsPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<Target> parsed = parseTarget(getOperation(), target);
    if (failed(parsed))
      return signalPassFailure();
    getOperation()->walk(
        [&](linalg::GenericOp generic) { widen(generic, *parsed); });
  }
};
} // namespace

} // namespace numera
