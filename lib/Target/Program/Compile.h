// SPDX-License-Identifier: MIT
//
// From the LLVM dialect to optimised code, the same for every kind of output.

#ifndef NUMERA_LIB_TARGET_PROGRAM_COMPILE_H
#define NUMERA_LIB_TARGET_PROGRAM_COMPILE_H

#include "Codegen/Compiled.h"
#include "Link/EntryPoints.h"
#include "mlir/IR/BuiltinOps.h"
#include "numera/Registry/Registry.h"
#include "numera/Target/Codegen/CPUOptions.h"
#include "numera/Target/Program/Program.h"

namespace numera {

/// A shared object's code as one module, without the large constants.
llvm::Expected<Compiled>
compileModule(mlir::ModuleOp lowered,
              llvm::ArrayRef<FunctionSignature> functions,
              const Registry &registry, const CPUOptions &options);

/// The code as objects for this machine's architecture. Those that have been
/// made before may come from where they were kept (CodeCache.h).
llvm::Expected<ObjectCode> compileObjects(
    mlir::ModuleOp lowered, llvm::ArrayRef<FunctionSignature> functions,
    const Registry &registry, const CPUOptions &options, Caller caller);

/// The program of Caller::Process, in this process.
llvm::Expected<std::unique_ptr<Program>> loadProgram(ObjectCode code,
                                                     StepTimes *times);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PROGRAM_COMPILE_H
