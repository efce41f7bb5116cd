// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_DEINTERLEAVE_H
#define NUMERA_LIB_TARGET_PEEPHOLE_DEINTERLEAVE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Where codes of 16 bits are widened, computed with and narrowed again, in
/// vectors that fill a register with codes: takes the even codes apart from the
/// odd ones, which needs no permutations. Runs after the optimiser. The bits
/// stay the same.
void deinterleaveLanes(llvm::Module &module,
                       const llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_DEINTERLEAVE_H
