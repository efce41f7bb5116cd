// SPDX-License-Identifier: MIT
//
// How a format's numbers lie: the relative precision over its range, and its
// values, on a scale of powers of two.

#ifndef NUMERA_TOOLS_FORMATS_PRECISION_H
#define NUMERA_TOOLS_FORMATS_PRECISION_H

#include "numera/Registry/Formats/Format.h"
#include <vector>

namespace numera {

/// From 2^from to 2^to the numbers of a format have `bits` significant bits:
/// one less than -log2 of the relative gap from one to the next; 0 where the
/// next is more than twice as large.
struct PrecisionStep {
  double from, to, bits;
};

/// The steps from the smallest number to the largest, each beginning where the
/// last ends, and every one different from its neighbours. A range of more than
/// 2048 binades is sampled.
std::vector<PrecisionStep> precisionSteps(const Format &format);

/// log2 of the positive numbers of a format of a few bits, ascending.
std::vector<double> positiveValues(const Format &format);

} // namespace numera

#endif // NUMERA_TOOLS_FORMATS_PRECISION_H
