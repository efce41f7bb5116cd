// SPDX-License-Identifier: MIT
//
// Which operations of a format may run in a carrier's arithmetic and be
// rounded once more, with the proof for each. Nearest-even throughout.
//
// p is the format's precision, q the carrier's (24 or 53). A boundary of the
// format (where nearest-even changes its answer) has at most p + 1 significant
// bits; for posits too, as the posit of one bit more.
//
//  exact    A product of two p-bit numbers has 2p bits: exact for 2p <= q.
//  odd      A result rounded to odd at q >= p + 2 bits lies strictly between
//           the same two boundaries as the exact one, or equals it
//           (Boldo and Melquiond, 2008).
//  nearest  For q >= 2p + 2 the carrier's nearest-even result of + - / sqrt is
//           on a boundary only if the exact one is (Figueroa, 1995): a sum is
//           exact, or its smaller operand is below any distance between a
//           value and a boundary; |a - b*B| and |a - B^2| are nonzero
//           multiples of a unit that q bits resolve.
//
// All need that neither operands, results nor error terms leave the carrier's
// normal range, which `extent` bounds. LaneTest compares every operation with
// the exact path: all pairs of 8-bit formats, random and boundary pairs above.

#ifndef NUMERA_NUMERICS_LANE_H
#define NUMERA_NUMERICS_LANE_H

#include "numera/Numerics/Carrier.h"

namespace numera {

template <typename T> struct Lane : Carrier<T> {
  using Base = Carrier<T>;
  using Word = typename Base::Word;
  using SignedWord = typename Base::SignedWord;
  static constexpr int32_t q = Base::format.precision();

  /// True if f's values, their products and quotients, and the last bits of
  /// its values and products, are normal numbers of the carrier. No value has
  /// a bit below 2^leastExponent(): a float by definition, a posit because
  /// each regime step costs one fraction bit and moves the exponent by 2^es.
  template <typename F> static constexpr bool spans(const F &f) {
    int32_t low = -f.leastExponent();
    int32_t high = f.maxExponent() + 1;
    int32_t extent = low > high ? low : high;
    return Base::embeds(f) && Base::encodes(f) &&
           2 * extent + 1 < Base::format.maxExponent();
  }
  template <typename F> static constexpr bool multiplies(const F &f) {
    return spans(f) && 2 * f.precision() <= q;
  }
  template <typename F> static constexpr bool adds(const F &f) {
    return spans(f) && f.precision() + 2 <= q;
  }
  template <typename F> static constexpr bool divides(const F &f) {
    return spans(f) && 2 * f.precision() + 2 <= q;
  }
  template <typename F> static constexpr bool fuses(const F &f) {
    return multiplies(f) && adds(f);
  }

  template <typename F> static constexpr T sum(const F &f, T x, T y) {
    return divides(f) ? x + y : sumToOdd(x, y);
  }

  /// x + y rounded to odd. The error of the nearest sum is exact (Knuth's
  /// TwoSum); where it is nonzero and the sum's last bit is even, the
  /// neighbour on the error's side is the odd one.
  static constexpr T sumToOdd(T x, T y) {
    T s = x + y;
    T virtualY = s - x;
    T error = (x - (s - virtualY)) + (y - virtualY);
    Word word = Base::bits(s);
    // Ordered comparisons: an infinite sum has a NaN for an error.
    Word inexact = static_cast<Word>((error < 0) | (error > 0));
    // Toward zero if the error's sign is not the sum's; then the last bit on.
    Word inward = (Base::bits(error) ^ word) >> (Base::width - 1);
    Word odd = (word - (inexact & inward)) | inexact;
    return Base::value(odd);
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_LANE_H
