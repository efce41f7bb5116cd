// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_CODEGEN_MACHINES_H
#define NUMERA_LIB_TARGET_CODEGEN_MACHINES_H

#include "numera/Target/Codegen/CPUOptions.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <vector>

namespace numera {

/// A program is compiled for one kind of CPU or for several, and each time a
/// version of its functions.
struct VersionInfo {
  std::string cpu;       ///< as the user wrote it
  uint64_t features = 0; ///< what it needs, in the order of X86Features.def
};

/// The CPUs of one architecture that a program is for.
struct Machines {
  struct Version : VersionInfo {
    std::unique_ptr<llvm::TargetMachine> machine;
  };
  /// The least of them all: what runs before a version is chosen is for it, and
  /// it generates the code of all.
  std::unique_ptr<llvm::TargetMachine> baseline;
  std::vector<Version> versions; ///< the more it needs, the later
};
/// The machines of `options.cpu`; an error names what is known.
llvm::Expected<Machines> createMachines(const CPUOptions &options);

} // namespace numera

#endif // NUMERA_LIB_TARGET_CODEGEN_MACHINES_H
