// SPDX-License-Identifier: MIT
//
// The pipeline `numera-to-nvptx` lowers the output of numera-retype, a model in
// a format, to the LLVM dialect: kernels for an NVIDIA GPU, and the host's
// functions that launch them (docs/Architecture.md lists its passes).

#ifndef NUMERA_CONVERSION_NUMERATONVPTX_H
#define NUMERA_CONVERSION_NUMERATONVPTX_H

#include "mlir/Pass/PassManager.h"

namespace numera {

/// Adds the passes of `numera-to-nvptx`. `checkShapes` is as for the CPU. `gpu`
/// selects instructions for tensor cores. Tiles fit `processors`, a GPU's
/// multiprocessors; 0: those that GPUs of that architecture have. Code in
/// `gpu.module @kernels` is the device's, in the LLVM and NVVM dialects. The
/// other functions have the interface of programs for the CPU, but every buffer
/// that they are given must be in device memory.
void buildNumeraToNVPTX(mlir::OpPassManager &passes, bool checkShapes = true,
                        llvm::StringRef gpu = "sm_80", unsigned processors = 0);

/// Registers `numera-to-nvptx` for textual pass pipelines.
void registerNumeraToNVPTX();

} // namespace numera

#endif // NUMERA_CONVERSION_NUMERATONVPTX_H
