// SPDX-License-Identifier: MIT
//
// Converts arrays of numbers to another element type.

#ifndef NUMERA_RUNTIME_CONVERT_H
#define NUMERA_RUNTIME_CONVERT_H

#include "numera/Runtime/Npy.h"

namespace numera::host {

/// The number of a code of binary16, and of bfloat16, exactly.
float numberOfHalf(uint16_t code);
float numberOfBFloat(uint16_t code);

/// True if `convertNumbers` converts `from` to `to`. Every type is converted to
/// f32 and f64. Nothing is converted to integers, which may be codes or
/// indices, for which rounding makes no sense.
bool convertsNumbers(DType from, DType to);

/// Converts the elements of `array` to `to`. Each value is rounded once, to
/// nearest, ties to even. A NaN stays a NaN; false becomes 0 and true 1. An
/// array of that type is unchanged. On failure `error` has the reason.
bool convertNumbers(Array &array, DType to, std::string &error);

} // namespace numera::host

#endif // NUMERA_RUNTIME_CONVERT_H
