// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_VECTORIZE_HALFCONVERSIONS_H
#define NUMERA_LIB_TARGET_VECTORIZE_HALFCONVERSIONS_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Makes the conversions between binary16 and f32 of Numerics/Carrier/Carrier.h
/// the machine's own, if it has such instructions: both round as IEEE 754 says,
/// whatever the modes for subnormals are, and no one looks at a NaN's payload.
/// Runs after linking, before what is linked is inlined.
void replaceHalfConversions(llvm::Module &module,
                            const llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORIZE_HALFCONVERSIONS_H
