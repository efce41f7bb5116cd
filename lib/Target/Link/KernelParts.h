// SPDX-License-Identifier: MIT
//
// Contractions as parts of a program with code of their own. A kernel is most
// of a program's code, and depends on its hooks alone: programs whose
// contractions compute the same have the same part.

#ifndef NUMERA_LIB_TARGET_LINK_KERNELPARTS_H
#define NUMERA_LIB_TARGET_LINK_KERNELPARTS_H

#include "Kernels.h"
#include "numera/Registry/Registry.h"

namespace numera {

struct KernelPart {
  std::unique_ptr<llvm::Module> module; ///< the hooks
  KernelForm form;
  /// What the program calls it by, a name for its contents.
  std::string symbol;
};

/// Takes the hooks of contractions out of the module, which then declares the
/// contractions under the parts' symbols. Those whose hooks call anything but
/// the runtime stay: a library's functions share its state with the program.
std::vector<KernelPart> takeKernelParts(llvm::Module &module,
                                        const KernelKinds &kernels,
                                        const Registry &registry,
                                        const llvm::TargetMachine &machine);

/// Links the kernel to the part's hooks. Nothing else than `symbol` can be
/// called from outside.
llvm::Error linkKernelPart(KernelPart &part);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LINK_KERNELPARTS_H
