// SPDX-License-Identifier: MIT
//
// The effects of `numera.show_row`.

#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

void ShowRowOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &tensor : getOperation()->getOpOperands())
    if (isa<MemRefType>(tensor.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &tensor);
  effects.emplace_back(MemoryEffects::Write::get());
}

} // namespace numera
