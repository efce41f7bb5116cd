// SPDX-License-Identifier: MIT
//
// Vector forms of scalar functions: the same instructions, on vectors.

#ifndef NUMERA_LIB_TARGET_VECTORIZE_WIDEN_H
#define NUMERA_LIB_TARGET_VECTORIZE_WIDEN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Function.h"

namespace numera {

/// The type of one value of `type` a lane: of a scalar a vector, of a struct
/// the struct of vectors.
llvm::Type *widenType(llvm::Type *type, unsigned lanes);

/// An internal function, always inlined, that applies `scalar` to every lane:
/// where `isVector`, it takes a vector of `lanes`, else one value for all, and
/// it returns a vector. The definition of `scalar` must be there, of a pure
/// function whose arguments and result are integers or floating-point numbers.
///
/// Branches become selects. What has no vector form (a loop, a call, memory, an
/// integer above 64 bits) is left to `scalar`, called for each lane that gets
/// there. Null where every lane would.
llvm::Function *widen(llvm::Function &scalar, unsigned lanes,
                      llvm::ArrayRef<bool> isVector);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORIZE_WIDEN_H
