// SPDX-License-Identifier: MIT
//
// The numbers beside a number of a format.

#ifndef NUMERA_TOOLS_EVAL_NEIGHBOURS_H
#define NUMERA_TOOLS_EVAL_NEIGHBOURS_H

#include "numera/Registry/Formats/FormatFamily.h"

namespace numera {

/// The code of the least number above the value of `code`, or of the greatest
/// one below it [IEEE754 5.3.1]. Beyond the last number is the infinity, or, in
/// a format without one, that number itself. A NaN stays what it is.
uint64_t neighbourOf(const Format &format, uint64_t code, bool isAbove);

/// The distance from the magnitude of `code` to the next larger magnitude; of
/// the largest number, from the one below. It is the least number for zero, an
/// infinity for infinities, NaN for NaN. Not rounded to the format.
Unpacked ulpOf(const Format &format, uint64_t code);

} // namespace numera

#endif // NUMERA_TOOLS_EVAL_NEIGHBOURS_H
