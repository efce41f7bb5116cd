// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_SPECIALIZE_H
#define NUMERA_LIB_TARGET_SPECIALIZE_H

#include "llvm/IR/Module.h"

namespace llvm {
class TargetMachine;
}

namespace numera {

/// Gives every linked runtime entry a copy for each set of constant arguments
/// it is called with, simplified under these constants, and sends the calls
/// there. Runs after linking, before the optimiser.
void specializeRuntimeCalls(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_SPECIALIZE_H
