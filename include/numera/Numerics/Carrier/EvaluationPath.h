// SPDX-License-Identifier: MIT
//
// How an operation runs in a carrier (f32 or f64). This is a separate header
// for users that do not need the proofs (DoubleRounding.h).

#ifndef NUMERA_NUMERICS_CARRIER_EVALUATIONPATH_H
#define NUMERA_NUMERICS_CARRIER_EVALUATIONPATH_H

namespace numera {

enum class EvaluationPath {
  None,  ///< not at all
  Plain, ///< the carrier's own operation, to nearest-even
  ToOdd, ///< its result is rounded to odd
};

} // namespace numera

#endif // NUMERA_NUMERICS_CARRIER_EVALUATIONPATH_H
