// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_CODEGEN_JIT_H
#define NUMERA_LIB_TARGET_CODEGEN_JIT_H

#include "Compiled.h"

#include "llvm/ExecutionEngine/Orc/Shared/ExecutorAddress.h"

namespace llvm::orc {
class LLJIT;
}

namespace numera {

/// A program in this process. Its destructors (`llvm.global_dtors`) run when it
/// is unloaded, as a shared object's do.
class LoadedProgram {
public:
  LoadedProgram(std::unique_ptr<llvm::orc::LLJIT> jit, void (*finalize)(),
                decltype(ObjectCode::constants) constants);
  ~LoadedProgram();

  llvm::Expected<llvm::orc::ExecutorAddr> lookup(llvm::StringRef symbol);

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*finalize)(); ///< or null
  decltype(ObjectCode::constants) constants;
};

/// Turns what a loader would run (`llvm.global_ctors`) into functions that
/// `load` calls, and says so in `code`.
void nameInitializers(llvm::Module &module, ObjectCode &code);

/// Loads a program into this process. The code is the objects that would be
/// written to files.
llvm::Expected<std::unique_ptr<LoadedProgram>> load(ObjectCode code);
/// The same for what is one module, yet to be generated.
llvm::Expected<std::unique_ptr<LoadedProgram>> load(Compiled &program);

} // namespace numera

#endif // NUMERA_LIB_TARGET_CODEGEN_JIT_H
