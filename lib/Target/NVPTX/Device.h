// SPDX-License-Identifier: MIT
//
// The device's part of a program.

#ifndef NUMERA_LIB_TARGET_NVPTX_DEVICE_H
#define NUMERA_LIB_TARGET_NVPTX_DEVICE_H

#include "Codegen/Compiled.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "numera/Target/NVPTX/GPU.h"

namespace numera {

/// Instructions of kernels that not every PTX of their GPU has.
struct KernelNeeds {
  unsigned factorBits = 0; ///< of matrix instructions; 0: there are none
  bool isOnBytes = false;  ///< four 8-bit floats in a word (Bytes.cpp)
};

/// The machine for `options.gpu`; an error says what is known. PTX is of the
/// oldest version that knows the GPU and what kernels need.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createGPUMachine(const GPUOptions &options, const KernelNeeds &needs);

/// Defines the vector forms that kernels call, for a GPU of `version`. Runs
/// before libraries and the runtime are linked.
llvm::Error defineDeviceForms(llvm::Module &module, const Registry &registry,
                              unsigned version);

/// The kernels of a lowered module with the runtime's and the libraries'
/// functions that they call, optimised. Nothing but the kernels is visible.
llvm::Expected<Compiled> compileDevice(mlir::ModuleOp lowered,
                                       const Registry &registry,
                                       const GPUOptions &options);

/// Makes the functions of a version's module launch kernels: what Entry.h calls
/// Invoke goes through the launcher, which is linked.
llvm::Error attachDevice(llvm::Module &module,
                         llvm::ArrayRef<FunctionSignature> functions,
                         unsigned version, const DeviceCode &device);

/// PTX in which no store takes the low bits of a register that an instruction
/// on floats may have written (Stores.cpp).
std::string moveBeforeNarrowStores(llvm::StringRef ptx);

/// The device's part as PTX.
llvm::Expected<std::string> compileToPTX(mlir::ModuleOp lowered,
                                         const Registry &registry,
                                         const GPUOptions &options);
/// Machine code for one GPU, by ptxas.
llvm::Expected<std::string> assemble(llvm::StringRef ptx,
                                     const GPUOptions &options);
/// True if ptxas is there.
bool canAssemble(const GPUOptions &options);

/// A tool of CUDA: where the user says, on PATH, in CUDA_HOME.
llvm::Expected<std::string> findTool(llvm::StringRef name,
                                     const GPUOptions &options);

} // namespace numera

#endif // NUMERA_LIB_TARGET_NVPTX_DEVICE_H
