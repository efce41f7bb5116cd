// SPDX-License-Identifier: MIT
//
// Everything a tool registers: upstream's dialects and passes, and Numera's.

#ifndef NUMERA_INITALL_H
#define NUMERA_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace numera {

/// Every dialect and extension, upstream's and `numera`.
void registerAll(mlir::DialectRegistry &registry);

/// Every pass and pipeline, upstream's and Numera's, by their names.
void registerAllPasses();

} // namespace numera

#endif // NUMERA_INITALL_H
