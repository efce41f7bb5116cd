// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_VERIFYINDICES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_VERIFYINDICES_H

#include "mlir/IR/Operation.h"

namespace numera {

/// Assertions for operations with indices of which upstream has no
/// verification at run time: slices that `scf.forall` puts together, vectors
/// that are loaded, stored and transferred; and for divisions of integers,
/// which end a process where they have no quotient.
void verifyIndices(mlir::Operation *root);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_VERIFYINDICES_H
