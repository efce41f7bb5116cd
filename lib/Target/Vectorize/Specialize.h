// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_VECTORIZE_SPECIALIZE_H
#define NUMERA_LIB_TARGET_VECTORIZE_SPECIALIZE_H

#include "llvm/IR/Module.h"

namespace llvm {
class TargetMachine;
}

namespace numera {

/// True if a loop around the body can become a vector loop: a few blocks that
/// the vectoriser turns into selects, no loop, no call. The largest such body,
/// fma of a posit through f32, has 130 instructions.
bool isStraight(const llvm::Function &function);

/// Gives every linked runtime entry a copy for each set of constant arguments
/// it is called with, simplified under these constants, and sends the calls
/// there. Runs after linking, before the optimiser.
void specializeRuntimeCalls(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORIZE_SPECIALIZE_H
