// SPDX-License-Identifier: MIT
//
// A contraction with a wide accumulator reads each operand many times: its
// operands are cast to the accumulator's format once, outside. The product of
// the casts is the product, so that the bits are the same.

#include "ContractionLoops.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAWIDENCONTRACTIONS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// The step if the body of `generic` is one, on inputs that all embed in the
/// accumulator.
static MacOp widenable(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  if (generic.getNumReductionLoops() == 0 ||
      body->getOperations().size() != 2 || !generic.hasPureTensorSemantics())
    return {};
  auto mac = dyn_cast<MacOp>(&body->front());
  bool takesInputs = mac && isa<BlockArgument>(mac.getLhs()) &&
                     isa<BlockArgument>(mac.getRhs());
  // What packs its operands decodes them as it does.
  if (!takesInputs || !factorsEmbed(mac) || PackedContraction::of(generic))
    return {};
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
