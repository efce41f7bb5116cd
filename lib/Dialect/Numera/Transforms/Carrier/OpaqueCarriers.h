// SPDX-License-Identifier: MIT
//
// Opaque formats in their carriers: `carrier: f32` in the entry of a format,
// and `round_to` among its lowerings.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CARRIER_OPAQUECARRIERS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CARRIER_OPAQUECARRIERS_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// The opaque format among those of operands and result; null: there is none.
Format opaqueFormatOf(FormatOpInterface op);

/// True if the operation, which has an opaque format, is an operation of the
/// carrier of that width and a rounding to the format.
bool runsInOpaqueCarrier(FormatOpInterface op, unsigned width, Target target);

/// 32 or 64 if both parts of a step, the product and the sum, run in the
/// carrier of an opaque format; else 0.
unsigned carrierOfStep(const Registry &registry, const Format &format,
                       Target target);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CARRIER_OPAQUECARRIERS_H
