// SPDX-License-Identifier: MIT
//
// Steps of contractions with both roundings to f16 or bf16, which a GPU
// computes by its own instructions, two sums at a time.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_PAIRSTEPS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_PAIRSTEPS_H

#include "Contraction/ContractionWork.h"

namespace numera {

/// How runtime/kernels/device/PairTiles.cpp names the instructions: `f16`,
/// `bf16`; empty if the step is not theirs, or `gpu` has none.
llvm::StringRef pairSteps(mlir::linalg::GenericOp generic,
                          const PackedContraction &contraction,
                          const Registry &registry, llvm::StringRef gpu);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_PAIRSTEPS_H
