// SPDX-License-Identifier: MIT
//
// The properties of a format that `numera formats NAME` prints. They are
// computed through the interface of families, at any width.

#ifndef NUMERA_REGISTRY_DESCRIPTION_FORMATFACTS_H
#define NUMERA_REGISTRY_DESCRIPTION_FORMATFACTS_H

#include "numera/Registry/Lowerings/RegistryEntries.h"
#include <optional>
#include <string>

namespace numera {

/// The properties of a format with arithmetic.
struct FormatFacts {
  FormatFamily::Range range;
  Unpacked largest;
  Unpacked lowest;   ///< finite
  Unpacked smallest; ///< above zero
  /// The least number with a hidden bit; none for tapered precision.
  std::optional<Unpacked> smallestNormal;
  /// The distance from 1 to the next number; none if one of them is out of
  /// range.
  std::optional<Unpacked> epsilon;
  /// log10 of the largest over the smallest.
  double decades;
  FormatFamily::SpecialCodes codes;
  uint64_t subnormalCodes;
  uint128_t finiteValues;  ///< distinct; 2^64 at most
  std::string accumulator; ///< name or spelling
  std::string rounding, overflow;
};

/// `format` must have arithmetic.
FormatFacts factsOf(const RegistryEntries &registry, const Format &format);

/// The least number of the format above zero.
Unpacked smallestOf(const Format &format);
/// The next number of the format above a finite `value`, if there is one.
std::optional<Unpacked> nextAbove(const Format &format, const Unpacked &value);

/// The lowest finite number of the format.
Unpacked lowestOf(const Format &format);
/// The distance of the format's numbers in the binade of 2^exponent, which is
/// in its range. Of a binade of one number, or of none, that of the two around
/// 2^exponent; 2^exponent if that is the largest.
Unpacked ulpAt(const Format &format, int32_t exponent);

/// The overflow rule. `format` must have arithmetic.
std::string overflowOf(const Format &format);

/// `0x41`, with as many digits as the format's codes have.
std::string printCode(const Format &format, uint64_t code);
/// Its bits, split by field: `0 1000 001`.
std::string printFields(const Format &format, uint64_t code);

} // namespace numera

#endif // NUMERA_REGISTRY_DESCRIPTION_FORMATFACTS_H
