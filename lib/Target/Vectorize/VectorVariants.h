// SPDX-License-Identifier: MIT
//
// Makes functions that compute many codes at once visible to LLVM's vectoriser:
// variants in machine code, and widened functions.

#ifndef NUMERA_LIB_TARGET_VECTORIZE_VECTORVARIANTS_H
#define NUMERA_LIB_TARGET_VECTORIZE_VECTORVARIANTS_H

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

/// The vector form (VectorForms.h) of `scalar` with that type, as calls of a
/// variant that was added; null where none has a number of lanes that divides
/// the type's, and its vectors.
llvm::Function *callVariant(llvm::Function &scalar, llvm::FunctionType &type);

/// Keeps a function, with the arguments that it has, until the vectoriser has
/// looked for it.
void keepForVectoriser(llvm::Function &function);

/// Names `variant` in the attribute of `scalar`, and keeps it. `arguments` has
/// a `v` for an argument that is a vector of `lanes` elements, a `u` for one
/// that is the same for all.
void nameVariant(llvm::Function &scalar, llvm::Function &variant,
                 unsigned lanes, llvm::StringRef arguments,
                 bool isMasked = false);

/// True for a function that is kept so.
bool isVariant(const llvm::Function &function);

/// Ends the search: variants that no loop calls are dropped.
void dropUnusedVariants(llvm::Module &module);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORIZE_VECTORVARIANTS_H
