// SPDX-License-Identifier: MIT
//
// Values in decimal. A binary fraction has finitely many decimal digits. All of
// them are computed, by integer arithmetic.

#ifndef NUMERA_REGISTRY_DESCRIPTION_DECIMAL_H
#define NUMERA_REGISTRY_DESCRIPTION_DECIMAL_H

#include "numera/Numerics/Core/Unpacked.h"
#include "numera/Registry/Formats/Format.h"

namespace numera {

/// The digits of a finite magnitude: d.ddd * 10^exponent, the first digit not
/// 0, no zeros at the end. Zero has no digits.
struct DecimalDigits {
  std::string digits;
  int32_t exponent = 0;
};

/// All digits of a finite value. If the value continues beyond its 96 bits
/// (Unpacked::sticky), the digits that these bits determine.
DecimalDigits digitsOf(const Unpacked &value);

/// Rounded to `count` digits, ties to even.
DecimalDigits roundDigits(const DecimalDigits &exact, size_t count);

/// `448`, `-0.015625`, `1.52587890625e-05`; `0`, `-0`, `inf`, `-inf`, `nan`.
/// Exact. A value with further digits ends in `…`.
std::string printDecimal(const Unpacked &value);

/// For text output: exact up to 20 characters, else rounded to `count` digits.
std::string printRounded(const Unpacked &value, size_t count);

/// The shortest decimal number that the format rounds to the value of `code`,
/// to nearest.
std::string printShortest(const Format &format, uint64_t code);

} // namespace numera

#endif // NUMERA_REGISTRY_DESCRIPTION_DECIMAL_H
