// SPDX-License-Identifier: MIT
//
// A contraction with a wide accumulator reads each operand many times: its
// operands are cast to the accumulator's format once, outside. The product of
// the casts is the product, so that the bits are the same.

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAWIDENCONTRACTIONS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// True if the configuration registers a function for the step as it stands:
/// it takes the operands in their own formats.
static bool isRegistered(MacOp mac) {
  FormatOpInterface op = mac;
  auto *dialect = mac->getContext()->getLoadedDialect<NumeraDialect>();
  return llvm::any_of(
      dialect->getRegistry().lowerings(), [&](const Lowering &lowering) {
        if ((lowering.operation != Operation::Mac &&
             lowering.operation != Operation::Fma) ||
            lowering.result != op.getResultElement().format)
          return false;
        for (auto [i, format] : llvm::enumerate(lowering.operands))
          if (op.getOperandElement(i).format != format)
            return false;
        return true;
      });
}

/// The step if the body of `generic` is one, on inputs that all embed in the
/// accumulator.
static MacOp widenable(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  if (generic.getNumReductionLoops() == 0 ||
      body->getOperations().size() != 2 || !generic.hasPureTensorSemantics())
    return {};
  auto mac = dyn_cast<MacOp>(&body->front());
  // What is cut off the factors is cut in their own formats.
  if (!mac || mac.getProduct() || isRegistered(mac) ||
      !stepRulesOf(mac).sum.truncation.empty())
    return {};
  Format accumulator = formatOfType(mac.getType());
  for (Value operand : {mac.getLhs(), mac.getRhs()}) {
    Format format = formatOfType(operand.getType());
    bool isInput = isa<BlockArgument>(operand);
    if (!accumulator || !format || !isInput)
      return {};
    // What an opaque format's values are is said by its cast to f32 or f64.
    bool opaque = !format.getFamily().hasArithmetic();
    if (opaque ? !isa<FloatType>(mac.getType())
               : !isExactCast(format, accumulator))
      return {};
  }
  return mac;
}

static bool widen(linalg::GenericOp generic) {
  MacOp mac = widenable(generic);
  if (!mac)
    return false;
  Type wide = mac.getType();
  bool changed = false;
  OpBuilder builder(generic);
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(operand);
    if (argument.getType() == wide || argument.use_empty())
      continue;
    auto type = cast<RankedTensorType>(operand->get().getType());
    auto cast =
        CastOp::create(builder, generic.getLoc(), TypeRange(type.clone(wide)),
                       ValueRange(operand->get()));
    // Exact, so that it takes no random bits.
    if (FormatOpInterface(cast).drawsRandom())
      cast.setRounding(numera::nameOf(Rounding::NearestEven));
    operand->set(cast);
    argument.setType(wide);
    changed = true;
  }
  return changed;
}

namespace {
struct WidenContractionsPass
    : impl::NumeraWidenContractionsBase<WidenContractionsPass> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::GenericOp generic) { widen(generic); });
  }
};
} // namespace

} // namespace numera
