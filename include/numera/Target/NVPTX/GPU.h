// SPDX-License-Identifier: MIT
//
// From a module that numera-to-nvptx lowered to code for an NVIDIA GPU. What is
// written as text or as a cubin is the kernels alone.

#ifndef NUMERA_TARGET_NVPTX_GPU_H
#define NUMERA_TARGET_NVPTX_GPU_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Registry/Registry.h"
#include "llvm/Support/Error.h"

namespace numera {

/// How code for a GPU is made.
struct GPUOptions {
  /// What the code is for: `sm_75` and later, `sm_90a`.
  std::string gpu = "sm_80";
  /// 0 to 3, as clang's -O.
  unsigned optimization = 3;
  /// Where the tools of CUDA are; empty: on PATH, or in CUDA_HOME.
  std::string cudaPath;
};

/// The kernels of a program, for the host's part of it to carry.
struct DeviceCode {
  std::string target; ///< `nvptx sm_80`
  /// What the driver is to load, the first that suits the GPU: machine code
  /// where CUDA's assembler is at hand, and PTX.
  std::vector<std::string> images;
  /// Messages of assertions in kernels, by their numbers.
  std::vector<std::string> failures;
};

/// Compiles the kernels of a lowered module, and takes them out of it: what is
/// left is the host's.
llvm::Expected<DeviceCode> takeDeviceCode(mlir::ModuleOp lowered,
                                          const Registry &registry,
                                          const GPUOptions &options);

/// Each writes one file, completely or not at all; text also to `-`, standard
/// output.
llvm::Error emitDeviceLLVM(mlir::ModuleOp lowered, const Registry &registry,
                           const GPUOptions &options, llvm::StringRef path);
llvm::Error emitPTX(mlir::ModuleOp lowered, const Registry &registry,
                    const GPUOptions &options, llvm::StringRef path);
/// By NVIDIA's ptxas; an error says where it was looked for.
llvm::Error emitCubin(mlir::ModuleOp lowered, const Registry &registry,
                      const GPUOptions &options, llvm::StringRef path);
/// Machine code and PTX in one file, by NVIDIA's fatbinary.
llvm::Error emitFatbin(mlir::ModuleOp lowered, const Registry &registry,
                       const GPUOptions &options, llvm::StringRef path);

} // namespace numera

#endif // NUMERA_TARGET_NVPTX_GPU_H
