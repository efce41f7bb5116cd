// SPDX-License-Identifier: MIT
//
// Writes a lowered model as a file of any kind, for `numera compile` and the C
// API.

#ifndef NUMERA_TARGET_DRIVER_EMIT_H
#define NUMERA_TARGET_DRIVER_EMIT_H

#include "numera/Target/Driver/Compiler.h"
#include "numera/Target/NVPTX/GPU.h"
#include "numera/Target/Program/Program.h"
#include <optional>

namespace numera {

struct EmitOptions {
  /// `llvm`, `asm`, `obj`, `so` (with a C header beside it) or `exe`; with
  /// `gpu` `llvm`, `ptx`, `cubin`, `fatbin`, `so` or `exe`.
  std::string kind;
  CPUOptions cpu;
  /// Set for a model lowered for target nvptx.
  std::optional<GPUOptions> gpu = std::nullopt;
};

/// The options of the code generator for a lowered model.
CPUOptions cpuOptions(const CompileOptions &options, const Resolved &resolved,
                      uint64_t seed);

/// Empty, or an error message: `--emit ptx is not for --target cpu, expected
/// …`.
std::string checkEmit(llvm::StringRef kind, llvm::StringRef target);

/// Writes one file, completely or not at all. The kernels of a model for a GPU
/// are taken out of the module.
llvm::Error emit(mlir::ModuleOp lowered,
                 llvm::ArrayRef<FunctionSignature> functions,
                 const Registry &registry, EmitOptions options,
                 llvm::StringRef path);

} // namespace numera

#endif // NUMERA_TARGET_DRIVER_EMIT_H
