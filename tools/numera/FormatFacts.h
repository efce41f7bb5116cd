// SPDX-License-Identifier: MIT
//
// What follows from a format: what `numera formats NAME` prints. Everything is
// asked of the family or found by looking at codes; no family is named here.

#ifndef NUMERA_TOOLS_NUMERA_FORMATFACTS_H
#define NUMERA_TOOLS_NUMERA_FORMATFACTS_H

#include "numera/Registry/Registry.h"
#include <optional>
#include <string>

namespace numera {

/// Formats up to this width are enumerated.
inline constexpr unsigned widestTable = 16;

/// Facts of a format with arithmetic of its own.
struct FormatFacts {
  FormatFamily::Range range;
  Unpacked largest;
  Unpacked smallest; ///< above zero
  /// The least number from which on the precision is the full one; none where
  /// precision tapers.
  std::optional<Unpacked> smallestNormal;
  /// From 1 to the next number; none where 1 is out of range.
  std::optional<Unpacked> epsilon;
  /// Codes of each kind, up to widestTable bits.
  struct Counts {
    uint64_t nan = 0, infinity = 0, subnormal = 0;
  };
  std::optional<Counts> counts;
  std::string accumulator;          ///< name or spelling
  std::optional<int32_t> quireBits; ///< none where there is no quire
  std::string rounding, overflow;
};

/// `format` must have arithmetic.
FormatFacts factsOf(const Registry &registry, const Format &format);

/// What becomes of numbers too large: the format's own rule, or its family's.
/// `format` must have arithmetic.
std::string overflowOf(const Format &format);

/// The registered name, else the spelling.
std::string nameOrSpelling(const Registry &registry, const Format &format);

} // namespace numera

#endif // NUMERA_TOOLS_NUMERA_FORMATFACTS_H
