// SPDX-License-Identifier: MIT
//
// The steps from a module that calls the runtime to one for the code generator.

#ifndef NUMERA_LIB_TARGET_PROGRAM_FINISH_H
#define NUMERA_LIB_TARGET_PROGRAM_FINISH_H

#include "Link/KernelParts.h"
#include "Peephole/Optimize.h"
#include "numera/Target/Support/StepTimes.h"

namespace numera {

struct FinishOptions {
  OptimizerOptions optimizer;
  StepTimes *times = nullptr; ///< null: nowhere
  /// The native libraries of the program whose functions may be run to make
  /// tables of their results; null: no function is run.
  const std::vector<std::string> *tabulated = nullptr;
};

/// Links what the module calls of the runtime, and optimises.
llvm::Error finishModule(llvm::Module &module, llvm::TargetMachine &machine,
                         const FinishOptions &options);

/// Links a part's kernel first. The level of optimisation and the times count.
llvm::Error finishPart(KernelPart &part, llvm::TargetMachine &machine,
                       FinishOptions options);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PROGRAM_FINISH_H
