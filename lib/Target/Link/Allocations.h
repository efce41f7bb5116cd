// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_LINK_ALLOCATIONS_H
#define NUMERA_LIB_TARGET_LINK_ALLOCATIONS_H

#include "llvm/IR/Module.h"

namespace numera {

/// Has the functions of a model, alone in the module yet, allocate by
/// numera_host_allocate and free by numera_host_release.
void keepMemory(llvm::Module &module);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LINK_ALLOCATIONS_H
