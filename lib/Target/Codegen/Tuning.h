// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_CODEGEN_TUNING_H
#define NUMERA_LIB_TARGET_CODEGEN_TUNING_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// VPERMI2B: 64 bytes of a table of 128 at once.
bool permutesBytes(const llvm::TargetMachine &machine);

/// AVX512-FP16.
bool computesInF16x2(const llvm::TargetMachine &machine);

/// 90 of `sm_90a`; 0 of what is no name.
unsigned versionOf(llvm::StringRef gpu);
/// Answers what the program asks about the CPU (Registry/Symbols/Tuning.h).
void defineAnswers(llvm::Module &module, const llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_CODEGEN_TUNING_H
