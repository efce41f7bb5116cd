// SPDX-License-Identifier: MIT
//
// The names of operations, as the dialect, the registry and the runtime use
// them.

#ifndef NUMERA_REGISTRY_FORMATS_OPKIND_H
#define NUMERA_REGISTRY_FORMATS_OPKIND_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace numera {

enum class OpKind {
#define NUMERA_OPERATION(enumerator, name, operands, ...) enumerator,
#define NUMERA_FUNCTION(enumerator, name, operands) enumerator,
#define NUMERA_IDENTITY(enumerator, name, operands) enumerator,
#define NUMERA_PART(enumerator, name, operands) enumerator,
#include "numera/Numerics/Core/Operations.def"
#include "numera/Registry/Formats/LibraryFunctions.def"
};

/// The operation's name in IR, configuration and symbols, e.g. `add`.
llvm::StringRef nameOf(OpKind operation);
std::optional<OpKind> operationFromName(llvm::StringRef name);
/// A function that a library may have and that is not an operation: `round_to`.
std::optional<OpKind> libraryFunctionFromName(llvm::StringRef name);
/// The number of operands that have a format.
unsigned operandCount(OpKind operation);
/// True for a function on matrices or vectors in memory: `matmul`, `dot`.
bool isProduct(OpKind operation);
/// True for a function without operands that gives the code of an identity.
bool isIdentity(OpKind operation);
/// True for a part of an accumulator, which works on memory.
bool isPartOfAccumulator(OpKind operation);
/// True if an operation computes a value that is then rounded: all but the
/// comparisons, and the choices among operands and signs.
bool isRounded(OpKind operation);
/// True if a machine has an instruction for it in f32 and f64.
bool isMachineOperation(OpKind operation);
/// The cost, in additions.
unsigned costOf(OpKind operation);
/// The operation that an operation of MLIR, such as `arith.addf`, stands for.
std::optional<OpKind> operationFromMLIR(llvm::StringRef name);

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_OPKIND_H
