// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_CODEGEN_JIT_H
#define NUMERA_LIB_TARGET_CODEGEN_JIT_H

#include "Compiled.h"
#include "numera/Target/Codegen/CPUOptions.h"

#include "llvm/ExecutionEngine/Orc/Shared/ExecutorAddress.h"

namespace llvm::orc {
class LLJIT;
}

namespace numera {

/// A program in this process. Its destructors (`llvm.global_dtors`) run when it
/// is unloaded, as a shared object's do.
class LoadedProgram {
public:
  LoadedProgram(std::unique_ptr<llvm::orc::LLJIT> jit, void (*finalize)());
  ~LoadedProgram();

  llvm::Expected<llvm::orc::ExecutorAddr> lookup(llvm::StringRef symbol);

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*finalize)(); ///< or null
};

/// Loads a program into this process. The code is the object that would be
/// written to a file.
llvm::Expected<std::unique_ptr<LoadedProgram>> load(Compiled &program,
                                                    StepTimes *times = nullptr);

} // namespace numera

#endif // NUMERA_LIB_TARGET_CODEGEN_JIT_H
