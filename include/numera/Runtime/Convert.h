// SPDX-License-Identifier: MIT
//
// Numbers of one element type as numbers of another.

#ifndef NUMERA_RUNTIME_CONVERT_H
#define NUMERA_RUNTIME_CONVERT_H

#include "numera/Runtime/Npy.h"

namespace numera::host {

/// True where `convertNumbers` makes `to` of `from`: f32 and f64 are made of
/// every type. Integers are not made of anything: they may be codes, or
/// indices, for which there is no rounding.
bool convertsNumbers(DType from, DType to);

/// Makes `to` of the elements of `array`: each value is rounded once, to the
/// nearest, ties to even; a NaN stays one; false is 0 and true is 1. Leaves an
/// array of that type alone. On failure says why in `error`.
bool convertNumbers(Array &array, DType to, std::string &error);

} // namespace numera::host

#endif // NUMERA_RUNTIME_CONVERT_H
