// SPDX-License-Identifier: MIT
//
// The rounding of f32 to bf16, numera.to_bfloat of Numerics/Carrier/Carrier.h,
// by an instruction for vectors.

#ifndef NUMERA_LIB_TARGET_VECTORIZE_BFLOATCONVERSIONS_H
#define NUMERA_LIB_TARGET_VECTORIZE_BFLOATCONVERSIONS_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Gives the conversion variants on vectors where the machine has an
/// instruction for it, which LLVM's vectoriser is to find; elsewhere it may be
/// inlined. Runs after linking, before what is linked is inlined.
void defineBfloatConversions(llvm::Module &module,
                             const llvm::TargetMachine &machine);

/// The conversion, if it was given variants; else null.
llvm::Function *bfloatConversion(const llvm::Module &module);

/// `conversion`, which was given variants, on vectors of so many elements.
llvm::Function &bfloatVariant(llvm::Function &conversion, unsigned lanes);

/// What is called for the sake of the vectoriser may be inlined from here on.
void releaseBfloatConversions(llvm::Module &module);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORIZE_BFLOATCONVERSIONS_H
