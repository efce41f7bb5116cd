// SPDX-License-Identifier: MIT
//
// `__bf16` in libraries.

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_SOFTENBFLOAT_H
#define NUMERA_LIB_TARGET_PEEPHOLE_SOFTENBFLOAT_H

#include "llvm/IR/Module.h"

namespace numera {

/// Computes in float what the module's functions compute in bfloat, and rounds
/// by integer arithmetic.
void expandBfloat(llvm::Module &module);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_SOFTENBFLOAT_H
