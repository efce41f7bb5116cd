// SPDX-License-Identifier: MIT
//
// Formats as they stand in MLIR.

#ifndef NUMERA_LIB_CAPI_TYPES_H
#define NUMERA_LIB_CAPI_TYPES_H

#include "numera/Registry/Scaling/Scaling.h"

namespace numera {

/// `f32`, `f64`, or `!numera.num<posit<16,2>>`.
std::string elementType(const Format &format);

/// A tensor of `rank` dimensions whose sizes are known when a program runs.
std::string tensorType(const Format &format, int32_t rank);

/// The same of scaled numbers: blocks lie along `axis`, or each of its indices
/// has a scale; below 0 there is one scale.
std::string tensorType(const ScaledFormat &format, int32_t rank, int32_t axis);

} // namespace numera

#endif // NUMERA_LIB_CAPI_TYPES_H
