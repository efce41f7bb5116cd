// SPDX-License-Identifier: MIT
//
// Elementary functions on codes of a format, correctly rounded in two phases
// (Ziv, 1991): the quick one computes in f64 with a known error, and where both
// ends of that interval round to one code, the exact value between them does,
// since rounding is monotone in every mode. Else the exact form decides.

#ifndef NUMERA_NUMERICS_OPERATIONS_ELEMENTARY_H
#define NUMERA_NUMERICS_OPERATIONS_ELEMENTARY_H

#include "numera/Numerics/Carrier/Carrier.h"
#include "numera/Numerics/Elementary/FastAngles.h"
#include "numera/Numerics/Elementary/FastErrorFunction.h"
#include "numera/Numerics/Elementary/FastHyperbolic.h"
#include "numera/Numerics/Elementary/FastPath.h"
#include "numera/Numerics/Operations/Operations.h"

namespace numera {

/// Where a quick function is valid, zero left out: its sign is the exact form's
/// affair.
struct FastPathRange {
  double least;
  double most;
};

namespace fast {
inline constexpr double largest = 0x1.fffffffffffffp1023;
inline constexpr FastPathRange expRange{-700, 700};
inline constexpr FastPathRange exp2Range{-1020, 1020};
inline constexpr FastPathRange expm1Range{-700, 700};
inline constexpr FastPathRange logRange{0x1p-1022, largest};
inline constexpr FastPathRange log2Range = logRange;
inline constexpr FastPathRange log10Range = logRange;
inline constexpr FastPathRange log1pRange{-0x1.fffffffffffffp-1, largest};
inline constexpr FastPathRange cbrtRange{-largest, largest};
inline constexpr FastPathRange rsqrtRange = logRange;
inline constexpr FastPathRange sinRange{-0x1p10, 0x1p10};
inline constexpr FastPathRange cosRange = sinRange;
inline constexpr FastPathRange tanRange = sinRange;
inline constexpr FastPathRange asinRange{-1, 1};
inline constexpr FastPathRange acosRange = asinRange;
inline constexpr FastPathRange atanRange{-largest, largest};
inline constexpr FastPathRange sinhRange{-700, 700};
inline constexpr FastPathRange coshRange = sinhRange;
inline constexpr FastPathRange asinhRange{-0x1p500, 0x1p500};
inline constexpr FastPathRange acoshRange{1, 0x1p500};
inline constexpr FastPathRange atanhRange{-0x1.fffffffffffffp-1,
                                          0x1.fffffffffffffp-1};
inline constexpr FastPathRange tanhRange{-largest, largest};
inline constexpr FastPathRange erfRange = tanhRange;
inline constexpr FastPathRange sigmoidRange{-700, largest};
} // namespace fast

/// f(code) rounded once. `approximate` is of FastPath.h, valid in `range` (and
/// for magnitudes from 2^-1000, which a format that embeds in f64 with room
/// does not fall below); `encode` rounds a double to a code, and `exact` gives
/// the code of f(code) for any code.
template <typename F, typename Encode, typename Exact>
constexpr uint64_t elementary(const F &f, uint64_t code,
                              double (*approximate)(double),
                              FastPathRange range, Encode encode, Exact exact) {
  if (Carrier<double>::embeds(f) && Carrier<double>::encodes(f) &&
      f.leastExponent() >= -1000) {
    double x = usesDoubleRounding() && isMachine<float>(f)
                   ? machine<float>(code)
                   : Carrier<double>::decode(f, code);
    if (x != 0 && x >= range.least && x <= range.most) {
      double y = approximate(x);
      uint64_t low = encode(y * (1 - fast::relativeError));
      uint64_t high = encode(y * (1 + fast::relativeError));
      if (low == high)
        return low;
    }
  }
  return exact(code);
}

} // namespace numera

#endif // NUMERA_NUMERICS_OPERATIONS_ELEMENTARY_H
