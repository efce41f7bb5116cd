// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_LINK_LINKRUNTIME_H
#define NUMERA_LIB_TARGET_LINK_LINKRUNTIME_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace numera {

/// Links what `module` needs of `library`, as internal symbols.
llvm::Error linkInternal(llvm::Module &module,
                         std::unique_ptr<llvm::Module> library);
/// Links the arithmetic of the runtime and of plugins, for the CPU and for
/// kernels.
llvm::Error linkRuntime(llvm::Module &module);
llvm::Error linkDeviceRuntime(llvm::Module &module);
/// Links runtime/host, which is compiled as it is to be.
llvm::Error linkHost(llvm::Module &module);
/// Drops what a library was compiled for, so that the module's target counts.
void stripTarget(llvm::Module &library);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LINK_LINKRUNTIME_H
