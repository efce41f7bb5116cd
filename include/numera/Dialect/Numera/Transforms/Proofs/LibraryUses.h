// SPDX-License-Identifier: MIT
//
// The attribute by which numera-use-proofs lists library uses.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_PROOFS_LIBRARYUSES_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_PROOFS_LIBRARYUSES_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Registry/Lowerings/LibraryUse.h"
#include <vector>

namespace numera {

/// Sets the module's `numera.library_uses`, a list of dictionaries with
/// `operation`, `format`, `equivalent` if there is one, and `exceptions` if it
/// is proven. Sets no attribute if there are no uses.
void setLibraryUses(mlir::ModuleOp module, llvm::ArrayRef<LibraryUse> uses);
/// Reads the attribute and removes it.
std::vector<LibraryUse> takeLibraryUses(mlir::ModuleOp module);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_PROOFS_LIBRARYUSES_H
