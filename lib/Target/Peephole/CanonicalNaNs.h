// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_CANONICALNANS_H
#define NUMERA_LIB_TARGET_PEEPHOLE_CANONICALNANS_H

#include "llvm/IR/Instructions.h"

namespace numera {

/// `x is NaN ? c : x`, as the optimiser leaves it: of x, or of x's bits.
struct NaNReplacement {
  llvm::Value *x;           ///< floating-point
  llvm::Constant *constant; ///< of the select's type
};
std::optional<NaNReplacement> matchNaNReplacement(llvm::SelectInst &choice);

/// Has a choice between x and a number, such as `x > 0 ? x : 0`, take x where
/// it is NaN, in place of a replacement: where x's NaNs are the same one
/// already.
void keepCanonicalNaNs(llvm::Function &function);

/// Removes the replacements of NaNs after which arithmetic follows whose own
/// NaNs are replaced: what those were no one sees.
void dropNaNReplacements(llvm::Function &function);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_CANONICALNANS_H
