// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_OPTIMIZE_H
#define NUMERA_LIB_TARGET_PEEPHOLE_OPTIMIZE_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Sets the target of the module, and of its functions that have none.
void setTarget(llvm::Module &module, const llvm::TargetMachine &machine);

struct OptimizerOptions {
  unsigned level = 3; ///< as CPUOptions' `optimization`
  /// What comes out of clang's pipeline, but for what is inlined into it: its
  /// loops are vectorised as the level has them, and no more is done about the
  /// rest than at level 1.
  bool simplified = false;
  /// Loops are unrolled, beyond what vectors and their interleaving take. Loops
  /// over tensors gain little by it, and are several times the code.
  bool unrolls = true;
};

/// LLVM's pipeline. It fails if the compilation is given up.
llvm::Error optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     const OptimizerOptions &options);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_OPTIMIZE_H
