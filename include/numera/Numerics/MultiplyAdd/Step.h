// SPDX-License-Identifier: MIT
//
// The step of a contraction with `accumulate: same` on values in a carrier,
//
//     c <- round(c + round(a * b))       both to the format, nearest-even.
//
// fullStep is correct for all values. StepFloat.h and StepPosit.h have the
// short steps, which a block of a contraction tries first. This file has what
// they share. They are templates over V, a carrier (f32 or f64) or a vector of
// carriers (`float __attribute__((ext_vector_type(16)))`).

#ifndef NUMERA_NUMERICS_MULTIPLYADD_STEP_H
#define NUMERA_NUMERICS_MULTIPLYADD_STEP_H

#include "numera/Numerics/Carrier/CarrierRound.h"
#include "numera/Numerics/Carrier/LaneOperations.h"
#include "numera/Numerics/Operations/Convert.h"

namespace numera {

/// The cases that a short step handles. The numbers are part of the runtime
/// ABI.
enum class StepForm : int32_t {
  /// Handles every product. Sums and products beyond 2^emax end in infinity or
  /// NaN.
  Gradual = 0,
  /// As Gradual, but not products below the least normal number; fewer
  /// operations.
  Normal = 1,
  /// Sums beyond the largest value become the largest value. Products must not
  /// be beyond it. NaN and infinities must not occur, not even in the prepared
  /// start, because they would be lost.
  Saturating = 2,
  /// Sums beyond the largest value become infinite, and stay infinite. Products
  /// must not be beyond it.
  Overflowing = 4,
  /// For posits: products of every regime, also those without fraction bits;
  /// sums as for Gradual. The start must not be NaN, because it would be lost.
  AnyProduct = 5,
  /// As AnyProduct, with sums of every regime; more operations.
  AnySum = 6,
  /// As Normal, with fewer operations, only one of which is an addition. For
  /// machines that add in the units in which they multiply.
  Fused = 7,
  /// As Saturating or Overflowing, whichever the format has, on the same
  /// prepared numbers, with fewer operations. Products must be so small that no
  /// sum is beyond the largest value.
  Confined = 8,
};

/// The bounds of a block's finite operands or products.
template <typename T> struct Magnitudes {
  T least; ///< of the nonzero ones
  T most;  ///< infinity if an operand is infinite or NaN
};

namespace step {

using lane::atLeast, lane::atMost, lane::IntegersOf, lane::WordsOf;

template <typename V> constexpr V fma(V x, V y, V z) {
  return __builtin_elementwise_fma(x, y, z);
}

/// x without its last D bits, nearest-even, where `split` is 2^D + 1. The proof
/// is in StepFloat.h.
template <typename V, typename S> constexpr V roundBySplitting(V x, S split) {
  V high = x * split;
  return high - (high - x);
}
/// The same where `shift` is 2^D, for D >= p + 2 if p bits stay. A product of
/// x and 2^D - 1 is fma(x, shift, -x) in an instruction that leaves x where it
/// is: copies that a processor fails to rename took a tenth of a loop's time.
template <typename V> constexpr V roundByShifting(V x, V shift) {
  V below = x * (shift - 1);
  return fma(x, shift, -below);
}

} // namespace step

/// True if the step of a format may run in carrier T, both roundings of it in
/// straight-line code (DoubleRounding.h: the product is exact, the sum exact or
/// odd).
template <typename T, typename F> constexpr bool stepsInLane(const F &f) {
  int32_t p = f.precision(), q = Carrier<T>::format.precision();
  return DoubleRounding<T>::spans(f) && 2 * p <= q && p + 2 <= q &&
         CarrierRound<T>::rounds(f, Rounding::NearestEven);
}

/// round(c + round(a * b)) for all values of a format that T embeds.
template <typename T, typename F>
constexpr T fullStep(const F &f, T c, T a, T b) {
  constexpr auto even = Rounding::NearestEven;
  auto inLane = [&]<typename L>(L c, L a, L b) {
    L product = CarrierRound<L>::round(f, a * b, even);
    bool plain = 2 * f.precision() + 2 <= Carrier<L>::format.precision();
    L sum = plain ? c + product : DoubleRounding<L>::sumToOdd(c, product);
    return static_cast<T>(CarrierRound<L>::round(f, sum, even));
  };
  if (stepsInLane<float>(f))
    return inLane(static_cast<float>(c), static_cast<float>(a),
                  static_cast<float>(b));
  if (stepsInLane<double>(f))
    return inLane(static_cast<double>(c), static_cast<double>(a),
                  static_cast<double>(b));
  auto code = [&](T x) { return encodeFrom<T>(f, x, even); };
  uint64_t product = mul(f, code(a), code(b), even);
  return decodeTo<T>(f, add(f, code(c), product, even));
}

/// The short steps of a format, if its family has any: see StepFloat.h.
template <typename T, typename F> struct ShortStep;

} // namespace numera

#endif // NUMERA_NUMERICS_MULTIPLYADD_STEP_H
