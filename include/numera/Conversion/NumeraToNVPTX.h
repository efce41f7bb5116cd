// SPDX-License-Identifier: MIT
//
// The pipeline `numera-to-nvptx`: from a model in a format, as numera-retype
// leaves it, to the LLVM dialect, kernels for an NVIDIA GPU beside the host's
// functions that launch them (docs/Architecture.md lists its passes).

#ifndef NUMERA_CONVERSION_NUMERATONVPTX_H
#define NUMERA_CONVERSION_NUMERATONVPTX_H

#include "mlir/Pass/PassManager.h"

namespace numera {

/// Adds the passes of `numera-to-nvptx`; `checkShapes` as for the CPU, `gpu`
/// where tensor cores are named. What is
/// in `gpu.module @kernels` then is the device's, in the LLVM and the NVVM
/// dialect; the rest has the interface that programs for the CPU have, but
/// every buffer it is given must lie on the device.
void buildNumeraToNVPTX(mlir::OpPassManager &passes, bool checkShapes = true,
                        llvm::StringRef gpu = "sm_80");

/// Makes `numera-to-nvptx` known to pass pipelines.
void registerNumeraToNVPTX();

} // namespace numera

#endif // NUMERA_CONVERSION_NUMERATONVPTX_H
