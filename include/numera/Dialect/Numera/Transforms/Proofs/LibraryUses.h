// SPDX-License-Identifier: MIT
//
// What numera-use-proofs says of a module.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_PROOFS_LIBRARYUSES_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_PROOFS_LIBRARYUSES_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Registry/Lowerings/LibraryUse.h"
#include <vector>

namespace numera {

/// Sets the module's `numera.library_uses`, a list of dictionaries with
/// `operation`, `format`, `equivalent` where there is one, and `exceptions`
/// where it is proven; no attribute where there is no use.
void setLibraryUses(mlir::ModuleOp module, llvm::ArrayRef<LibraryUse> uses);
/// Reads it, and takes it away.
std::vector<LibraryUse> takeLibraryUses(mlir::ModuleOp module);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_PROOFS_LIBRARYUSES_H
