// SPDX-License-Identifier: MIT
//
// The pipeline `numera-to-cpu` lowers the output of numera-retype, a model in a
// format, to the LLVM dialect (docs/Architecture.md lists its passes).

#ifndef NUMERA_CONVERSION_NUMERATOCPU_H
#define NUMERA_CONVERSION_NUMERATOCPU_H

#include "mlir/Pass/PassManager.h"
#include "numera/Registry/Registry.h"

namespace numera {

/// Adds the passes of `numera-to-cpu`. With `checkShapes`, sizes that are known
/// only at run time are checked, and a call whose shapes disagree fails with a
/// message. Functions on tensors become functions on memrefs with identity
/// layout; public ones get the `_mlir_ciface_` interface and take memory for
/// their results if the sizes are known (numera-destinations). Other results
/// are allocated by the callee.
void buildNumeraToCPU(mlir::OpPassManager &passes, bool checkShapes = true);

/// Adds the first half, which all targets share: from a model in a format to
/// linalg on memrefs of storage integers, with operations of `numera` in the
/// bodies.
void buildNumeraToBuffers(mlir::OpPassManager &passes, bool checkShapes,
                          Target target);

/// Registers `numera-to-cpu` for textual pass pipelines.
void registerNumeraToCPU();

} // namespace numera

#endif // NUMERA_CONVERSION_NUMERATOCPU_H
