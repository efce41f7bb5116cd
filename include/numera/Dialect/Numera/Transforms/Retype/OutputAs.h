// SPDX-License-Identifier: MIT
//
// What public functions return in place of floats that a format replaces.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_OUTPUTAS_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_OUTPUTAS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace numera {

/// The model's own type, f32, f64, or the format that the result has inside.
enum class OutputAs { Model, F32, F64, Storage };

/// One word for all results, or one for each, between commas: `f32,storage`.
std::optional<llvm::SmallVector<OutputAs>> readOutputAs(llvm::StringRef list);

/// What readOutputAs takes, for errors.
llvm::StringRef outputAsChoices();

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_OUTPUTAS_H
