// SPDX-License-Identifier: MIT
//
// Loads of codes that are stored without gaps.

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_PACKEDLOADS_H
#define NUMERA_LIB_TARGET_PEEPHOLE_PACKEDLOADS_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Defines `numera_load_packed_<width>_<bits>`(bytes, index), where they are
/// called: for one code and, on vectors, for neighbours.
void definePackedLoads(llvm::Module &module,
                       const llvm::TargetMachine &machine);

/// True if codes are read by calls that the vectoriser is to see.
bool hasPackedLoads(const llvm::Module &module);

/// What is called for the sake of the vectoriser may be inlined from here on.
void releasePackedLoads(llvm::Module &module);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_PACKEDLOADS_H
