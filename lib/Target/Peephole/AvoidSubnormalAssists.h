// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_AVOIDSUBNORMALASSISTS_H
#define NUMERA_LIB_TARGET_PEEPHOLE_AVOIDSUBNORMALASSISTS_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Where vectors of bf16, or of other floats with the exponents of f32, are
/// multiplied in f32: has products of subnormal numbers, and those that are
/// subnormal, computed by operations that take no longer for them. Runs after
/// the optimiser. The bits stay the same.
void avoidSubnormalAssists(llvm::Module &module,
                           const llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_AVOIDSUBNORMALASSISTS_H
