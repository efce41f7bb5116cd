// SPDX-License-Identifier: MIT
//
// Functions that compute many codes at once, where LLVM's vectoriser finds
// them: of machine code, and widened ones.

#ifndef NUMERA_LIB_TARGET_VECTORVARIANTS_H
#define NUMERA_LIB_TARGET_VECTORVARIANTS_H

#include "numera/Registry/Registry.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Bits of the widest vectors that functions of the machine pass in registers,
/// as every compiler for it does.
unsigned widestVectorArgument(const llvm::TargetMachine &machine);

/// Lets LLVM's vectoriser call `variant` where it would call the declared
/// function `scalar`, a lane at a time. Nothing happens where its vectors are
/// wider than `widest`.
void addVectorVariant(llvm::Function &scalar, const VectorVariant &variant,
                      unsigned widest);

/// Lets LLVM's vectoriser call `form`, a vector form of `scalar`, in its place.
/// Both are pure.
void offerVectorForm(llvm::Function &scalar, llvm::Function &form,
                     unsigned lanes);

/// The vector form (VectorForms.h) of `scalar`, all of whose arguments are
/// vectors, as calls of a variant that was added; null where none has a number
/// of lanes that divides `lanes`.
llvm::Function *callVariant(llvm::Function &scalar, unsigned lanes);

/// Ends the search: variants that no loop calls are dropped.
void dropUnusedVariants(llvm::Module &module);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORVARIANTS_H
