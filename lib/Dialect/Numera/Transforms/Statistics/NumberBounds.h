// SPDX-License-Identifier: MIT
//
// What is known of the numbers of a value before a program runs.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_NUMBERBOUNDS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_NUMBERBOUNDS_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// Of all numbers of a value but zero: multiples of 2^unit, with so many
/// significant bits, of magnitudes from 2^least to below 2^limit.
struct NumberBounds {
  static constexpr int none = 1 << 20; ///< of zeros alone
  int unit = none, least = none, limit = -none, precision = 1;
  bool hasInfinity = false, hasNaN = false;
  /// True if the numbers are known themselves, not their format alone.
  bool isConstant = false;

  bool isZero() const { return limit == -none; }
};

/// Of all numbers of a format.
NumberBounds boundsOf(const Format &format);
/// Of a value, through what changes no number; nullopt where nothing is known.
std::optional<NumberBounds> boundsOf(mlir::Value value);

/// Null for what has no numbers whose bounds are known.
Format knownFormat(mlir::Type type);
/// True for zeros alone.
bool isZero(mlir::Value value);
/// True for a cast that changes no number.
bool keepsNumbers(CastOp op);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_NUMBERBOUNDS_H
