// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_DRIVER_NESTING_H
#define NUMERA_LIB_TARGET_DRIVER_NESTING_H

#include "llvm/ADT/StringRef.h"

namespace numera {

/// How deep the text of a model may nest. Networks nest some twenty levels;
/// MLIR reads each level in a call of its own, and so do passes.
constexpr unsigned deepestNesting = 1000;

/// Where MLIR's text nests brackets deeper than that, or has more sums in one
/// expression: the place in it; npos if nowhere.
size_t findTooDeep(llvm::StringRef text);

} // namespace numera

#endif // NUMERA_LIB_TARGET_DRIVER_NESTING_H
