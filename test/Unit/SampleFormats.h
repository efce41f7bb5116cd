// SPDX-License-Identifier: MIT
//
// The formats that the tests of the numerics sweep over, and what the oracle
// needs to know of each.

#ifndef NUMERA_TEST_UNIT_SAMPLEFORMATS_H
#define NUMERA_TEST_UNIT_SAMPLEFORMATS_H

#include "Oracle.h"
#include "numera/Numerics/Formats/Fixed.h"
#include "numera/Numerics/Formats/Float.h"
#include "numera/Numerics/Formats/Posit.h"
#include "numera/Numerics/Formats/Takum.h"

#include <span>
#include <variant>

namespace numera::test {

using AnyFormat =
    std::variant<FloatFormat, PositFormat, TakumFormat, FixedFormat>;

struct Case {
  const char *name;
  AnyFormat format;
};

/// The fields of a format, nothing computed from them, for the oracle.
oracle::Format describe(const FloatFormat &f);
oracle::Format describe(const PositFormat &f);
oracle::Format describe(const TakumFormat &f);
oracle::Format describe(const FixedFormat &f);

/// Formats of at most 8 bits: the built-in ones, and each parameter off its
/// default at least once.
std::span<const Case> smallFormats();
/// Those of them with at most 6 bits.
std::span<const Case> tinyFormats();
/// Formats of 9 to 16 bits: the built-in ones first.
std::span<const Case> sixteenBitFormats();
std::span<const Case> builtinSixteenBitFormats();
std::span<const Case> otherSixteenBitFormats();
std::span<const Case> wideFormats();

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_SAMPLEFORMATS_H
