// SPDX-License-Identifier: MIT

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_LOWERING_REGISTEREDPRODUCTS_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_LOWERING_REGISTEREDPRODUCTS_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// On a function: its products of matrices are a registered `dot`'s, although
/// there is a `matmul`. `numera check` tries the one beside the other.
inline constexpr llvm::StringLiteral dotsAttribute = "numera.dots";

/// The function that is registered for a contraction with this step on the CPU,
/// `matmul` before `dot`; null: there is none.
const Lowering *registeredProduct(MacOp step);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_LOWERING_REGISTEREDPRODUCTS_H
