// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_OPTIMIZE_H
#define NUMERA_LIB_TARGET_PEEPHOLE_OPTIMIZE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Sets the target of the module, and of its functions that have none.
void setTarget(llvm::Module &module, const llvm::TargetMachine &machine);
/// LLVM's pipeline for the level.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              unsigned level);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_OPTIMIZE_H
