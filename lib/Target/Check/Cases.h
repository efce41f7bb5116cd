// SPDX-License-Identifier: MIT
//
// The operations of a format to check, and those that are missing.

#ifndef NUMERA_LIB_TARGET_CHECK_CASES_H
#define NUMERA_LIB_TARGET_CHECK_CASES_H

#include "numera/Target/Check/Check.h"

namespace numera::check {

struct Cases {
  std::vector<Checked> operations;
  std::vector<std::string> missing; ///< YAML lines
};

/// Everything that has a lowering for the CPU, once for each rounding.
llvm::Expected<Cases> findCases(const Registry &registry, const Format &format,
                                const Options &options);

/// The lowering of an operation, as a program looks it up.
Lowering keyOf(const Checked &checked);

/// What the bits of a value of that type mean; null for an integer, and for an
/// opaque format that is equivalent to none.
Format meaningOf(const Registry &registry, const CastType &type);

/// Bits of the type that stores a value, and of the value.
unsigned storageBits(const CastType &type);
unsigned widthOf(const CastType &type);

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_CASES_H
