// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_PROGRAM_TRANSLATE_H
#define NUMERA_LIB_TARGET_PROGRAM_TRANSLATE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace numera {

/// A module of the LLVM dialect as LLVM's IR. Its constant tensors get one
/// dimension each.
llvm::Expected<std::unique_ptr<llvm::Module>>
translate(mlir::ModuleOp lowered, llvm::LLVMContext &context);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PROGRAM_TRANSLATE_H
