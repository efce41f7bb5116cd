// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_LINK_KERNELS_H
#define NUMERA_LIB_TARGET_LINK_KERNELS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <map>
#include <string>

namespace numera {

/// The kernels that a lowered module declares, and the kind of each
/// (embeddedKernel).
using KernelKinds = std::map<std::string, std::string>;
KernelKinds kernelsOf(mlir::ModuleOp lowered);
/// Which of the embedded kernels a contraction is linked with.
struct KernelForm {
  std::string kind; ///< of embeddedKernel
  std::string tile;
  std::string preferred; ///< what the names of hooks begin with that come first
};
/// What suits the machine, for a contraction whose hooks are in the module.
KernelForm kernelFormFor(const llvm::Module &module, llvm::StringRef name,
                         llvm::StringRef kind,
                         const llvm::TargetMachine &machine);
/// Links a kernel as the contraction `name`.
llvm::Error linkKernel(llvm::Module &module, llvm::StringRef name,
                       const KernelForm &form);
/// Links each of them that the module declares, with its hooks, in the form
/// that suits the machine.
llvm::Error linkKernels(llvm::Module &module, const KernelKinds &kernels,
                        const llvm::TargetMachine &machine);

/// Links the contractions that the kernels declare, with their hooks.
llvm::Error linkDeviceKernels(llvm::Module &module,
                              mlir::gpu::GPUModuleOp kernels,
                              const llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LINK_KERNELS_H
