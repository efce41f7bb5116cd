// SPDX-License-Identifier: MIT
//
// Generates code for an NVIDIA GPU from a module that numera-to-nvptx has
// lowered. Text and cubins contain only the kernels.

#ifndef NUMERA_TARGET_NVPTX_GPU_H
#define NUMERA_TARGET_NVPTX_GPU_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Registry/Registry.h"
#include "llvm/Support/Error.h"

namespace numera {

/// Options of code generation for a GPU.
struct GPUOptions {
  /// The GPU's architecture: `sm_75` and later, `sm_90a`.
  std::string gpu = "sm_80";
  /// 0 to 3, as clang's -O.
  unsigned optimization = 3;
  /// The folder of CUDA's tools; empty: PATH, or CUDA_HOME.
  std::string cudaPath;
};

/// The compiled kernels of a program, which the host's code embeds.
struct DeviceCode {
  std::string target; ///< `nvptx sm_80`
  /// Images for the driver, which loads the first that suits the GPU: machine
  /// code if CUDA's assembler is available, and PTX.
  std::vector<std::string> images;
  /// Messages of assertions in kernels, by their numbers.
  std::vector<std::string> failures;
};

/// Compiles the kernels of a lowered module and removes them from it, so that
/// only the host's code remains.
llvm::Expected<DeviceCode> takeDeviceCode(mlir::ModuleOp lowered,
                                          const Registry &registry,
                                          const GPUOptions &options);

/// Each writes one file, completely or not at all; text also to `-`, standard
/// output.
llvm::Error emitDeviceLLVM(mlir::ModuleOp lowered, const Registry &registry,
                           const GPUOptions &options, llvm::StringRef path);
llvm::Error emitPTX(mlir::ModuleOp lowered, const Registry &registry,
                    const GPUOptions &options, llvm::StringRef path);
/// Uses NVIDIA's ptxas. If it is not found, the error says where it was looked
/// for.
llvm::Error emitCubin(mlir::ModuleOp lowered, const Registry &registry,
                      const GPUOptions &options, llvm::StringRef path);
/// Machine code and PTX in one file, by NVIDIA's fatbinary.
llvm::Error emitFatbin(mlir::ModuleOp lowered, const Registry &registry,
                       const GPUOptions &options, llvm::StringRef path);

} // namespace numera

#endif // NUMERA_TARGET_NVPTX_GPU_H
