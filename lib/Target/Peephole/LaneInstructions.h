// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_LANEINSTRUCTIONS_H
#define NUMERA_LIB_TARGET_PEEPHOLE_LANEINSTRUCTIONS_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Gives the lane operations of Numerics/Carrier/LaneOperations.h that are on
/// vectors the instructions the machine has for them. Runs after the optimiser,
/// which knows nothing of these instructions. The bits stay the same.
void selectLaneInstructions(llvm::Module &module,
                            const llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_LANEINSTRUCTIONS_H
