// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_VECTORIZE_VECTORFORMS_H
#define NUMERA_LIB_TARGET_VECTORIZE_VECTORFORMS_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace numera {

/// Defines every vector form that the module declares
/// (Registry/Symbols/VectorForm.h), as calls of the scalar function, which then
/// is linked as any other is. Runs before the libraries and the runtime are
/// linked. Fails where the program has another function of the scalar one's
/// name.
llvm::Error defineVectorForms(llvm::Module &module);

/// The scalar function whose vector form `function` is, by that definition;
/// null where it is none.
llvm::Function *scalarOf(const llvm::Function &function);

/// scalar(lane `lane` of the arguments of `form`).
llvm::CallInst *callLane(llvm::IRBuilder<> &builder, llvm::Function &scalar,
                         llvm::Function &form, llvm::Value *lane);

/// Defines `form`, a declaration of a vector form, as calls of `scalar`, one a
/// lane and in their order: right for any function.
void callEachLane(llvm::Function &form, llvm::Function &scalar);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORIZE_VECTORFORMS_H
