// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_DRIVER_NESTING_H
#define NUMERA_LIB_TARGET_DRIVER_NESTING_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace numera {

/// How deep the text of a model may nest. Networks nest some twenty levels;
/// MLIR reads each level in a call of its own, and so do passes.
constexpr unsigned deepestNesting = 1000;

/// A place in a text, and the name that stands there, if it is a name that
/// nests: `#alias` or `!alias`.
struct TooDeep {
  size_t place;
  llvm::StringRef name;
};

/// Where MLIR's text nests brackets deeper than that, by itself or by what
/// names stand for, or has more sums in one expression; nothing if nowhere.
std::optional<TooDeep> findTooDeep(llvm::StringRef text);

} // namespace numera

#endif // NUMERA_LIB_TARGET_DRIVER_NESTING_H
