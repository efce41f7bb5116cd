// SPDX-License-Identifier: MIT
//
// Tables that lie in registers, looked up by permutations.

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_TABLEPERMUTES_H
#define NUMERA_LIB_TARGET_PEEPHOLE_TABLEPERMUTES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

namespace numera {

/// The entries of a table in vectors of so many, as many as a power of two.
llvm::SmallVector<llvm::Value *> entriesOf(const llvm::ConstantDataArray &table,
                                           unsigned lanes);

/// Looks up in one, two or four parts of 16 entries.
llvm::Value *permuteWithAVX512(llvm::IRBuilder<> &builder,
                               llvm::ArrayRef<llvm::Value *> parts,
                               llvm::Value *index, bool isFloat);

/// The same in parts of 8 entries, as many as a power of two.
llvm::Value *permuteWithAVX2(llvm::IRBuilder<> &builder,
                             llvm::ArrayRef<llvm::Value *> parts,
                             llvm::Value *index, bool isFloat);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_TABLEPERMUTES_H
