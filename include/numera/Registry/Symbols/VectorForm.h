// SPDX-License-Identifier: MIT
//
// The names of vector forms. A vector form applies a scalar function to every
// lane. Its name describes it completely, in LLVM's grammar for vector
// functions:
//
//   _ZGV_LLVM_N16vvuu_numera_posit_add_16
//             │ │   └─ the scalar function
//             │ └───── its arguments: a vector of lanes, or uniform
//             └─────── the lanes
//
// lib/Target generates the function.

#ifndef NUMERA_REGISTRY_SYMBOLS_VECTORFORM_H
#define NUMERA_REGISTRY_SYMBOLS_VECTORFORM_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace numera {

struct VectorForm {
  std::string scalar; ///< the symbol of the scalar function
  unsigned lanes = 0; ///< at least 1
  /// For each argument: true if each lane has its own value, false if all lanes
  /// share one.
  llvm::SmallVector<bool, 12> isVector;

  std::string symbol() const;
  /// The form that `symbol` names, if any.
  static std::optional<VectorForm> parse(llvm::StringRef symbol);

  bool operator==(const VectorForm &) const = default;
};

} // namespace numera

#endif // NUMERA_REGISTRY_SYMBOLS_VECTORFORM_H
