// SPDX-License-Identifier: MIT
//
// The boundary values of an operand, at which formats and library functions
// tend to be wrong.

#ifndef NUMERA_LIB_TARGET_CHECK_VALUES_H
#define NUMERA_LIB_TARGET_CHECK_VALUES_H

#include "Cases.h"

namespace numera::check {

/// Codes at the ends of a format's fields, by their bits alone, and around its
/// numbers of note, where `meaning` (which may be null) knows them.
std::vector<uint64_t> boundaryCodes(const Format &meaning, unsigned width);

/// Some of them: zeros, ones, the largest numbers, infinities and NaN. For
/// combinations of three.
std::vector<uint64_t> notableCodes(const Format &meaning, unsigned width);

/// Bits of an integer type: powers of two and their neighbours, and around the
/// numbers that `meaning` holds.
std::vector<uint64_t> boundaryIntegers(const Format &meaning, unsigned width);

/// Bits of the numbers of `machine` (f32 or f64) around which a cast to
/// `meaning` changes its result: its values and the places between them where
/// rounding turns, each with its neighbours; all of them up to 16 bits.
std::vector<uint64_t> boundaryNumbers(const Format &machine,
                                      const Format &meaning);

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_VALUES_H
