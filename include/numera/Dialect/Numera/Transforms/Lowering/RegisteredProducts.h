// SPDX-License-Identifier: MIT

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_LOWERING_REGISTEREDPRODUCTS_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_LOWERING_REGISTEREDPRODUCTS_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// The attribute of a function whose matrix products call a registered `dot`
/// even if there is a `matmul`. `numera check` uses it to test both.
inline constexpr llvm::StringLiteral dotsAttribute = "numera.dots";

/// The function registered for a contraction with this step on the CPU, or
/// null. `matmul` takes precedence over `dot`.
const Lowering *registeredProduct(MacOp step);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_LOWERING_REGISTEREDPRODUCTS_H
