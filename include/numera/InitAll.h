// SPDX-License-Identifier: MIT
//
// Registers dialects and passes for tools, upstream's and Numera's.

#ifndef NUMERA_INITALL_H
#define NUMERA_INITALL_H

#include "mlir/IR/DialectRegistry.h"
#include <memory>

namespace numera {

class Registry;

/// Every dialect and extension, upstream's and `numera`; `formats`, if given,
/// is attached to the latter in every context made from `dialects`.
void registerAll(mlir::DialectRegistry &dialects,
                 std::shared_ptr<const Registry> formats = nullptr);

/// Every pass and pipeline, upstream's and Numera's, by their names.
void registerAllPasses();

} // namespace numera

#endif // NUMERA_INITALL_H
