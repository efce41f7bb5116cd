// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_OPTIMIZE_H
#define NUMERA_LIB_TARGET_PEEPHOLE_OPTIMIZE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Sets the target of the module, and of its functions that have none.
void setTarget(llvm::Module &module, const llvm::TargetMachine &machine);
/// LLVM's pipeline for the level. What is `simplified` comes out of clang's,
/// but for what is inlined into it: its loops are vectorised as the level has
/// them, and no more is done about the rest than at level 1.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              unsigned level, bool simplified = false);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_OPTIMIZE_H
