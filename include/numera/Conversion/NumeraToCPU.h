// SPDX-License-Identifier: MIT
//
// The pipeline `numera-to-cpu`: from a model in a format, as numera-retype
// leaves it, to the LLVM dialect (docs/Architecture.md lists its passes).

#ifndef NUMERA_CONVERSION_NUMERATOCPU_H
#define NUMERA_CONVERSION_NUMERATOCPU_H

#include "mlir/Pass/PassManager.h"
#include "numera/Registry/Registry.h"

namespace numera {

/// Adds the passes of `numera-to-cpu`. With `checkShapes`, sizes that are known
/// only when the program runs are compared where operations meet, and a call
/// whose shapes do not agree fails with a message. Functions on tensors become
/// functions on memrefs with identity layout; public ones get the
/// `_mlir_ciface_` interface and take memory for their results where the sizes
/// are known (numera-destinations). Other results are allocated by the callee.
void buildNumeraToCPU(mlir::OpPassManager &passes, bool checkShapes = true);

/// The first half, which every target has: from a model in a format to linalg
/// on memrefs of storage integers, with operations of `numera` inside.
void buildNumeraToBuffers(mlir::OpPassManager &passes, bool checkShapes,
                          Target target);

/// Makes `numera-to-cpu` known to pass pipelines.
void registerNumeraToCPU();

} // namespace numera

#endif // NUMERA_CONVERSION_NUMERATOCPU_H
