// SPDX-License-Identifier: MIT
//
// Which operations of a format may be computed in a carrier (f32 or f64) and
// rounded once more, without changing the result, with the proof for each.
//
// p is the format's precision, q the carrier's (24 or 53). A point where a
// rounding changes its answer, a value or a boundary, has at most P significant
// bits: p + 1; with N random bits p + N + 1. For posits too, as the posit of
// one bit more.
//
//  exact    A product of two p-bit numbers has 2p bits: exact for 2p <= q, and
//           good for every mode.
//  odd      A result rounded to odd at q >= P + 1 bits lies strictly between
//           the same two points as the exact one, or equals it (Boldo and
//           Melquiond, 2008). Good for every mode.
//  nearest  For q >= 2p + 2 the carrier's nearest-even result of + and - is on
//           a boundary only if the exact one is (Figueroa, 1995): a sum is
//           exact, or its smaller operand is below any distance between a value
//           and a boundary. In the latter case it may become the larger
//           operand, a value, which is right in nearest modes alone.
//  quotient For q >= p + P + 1 a nearest quotient, for q >= 2P a nearest root,
//           is on a point only if the exact one is: |a - b*B| and |a - B^2| are
//           nonzero multiples of a unit that q bits resolve.
//
//  tapered  Of posits the precision is p around 1 alone: F(e) = p - 1 - m(e)
//           fraction bits, where m counts regimes away from 1. Let x be the
//           exponent of a sum, d = 2^(x - F(x) - 1) what boundaries there are
//           multiples of, and b the exponent of the smaller operand. The larger
//           one is a multiple of d, or of d/2 where the carry passed into a
//           shorter fraction; a sum that cancels more than a bit is exact. So a
//           sum that is off a boundary, but nearer to it than half a unit of
//           the carrier, has an operand close to d or d/2, b >= x - F(x) - 2,
//           with bits below the carrier's last, b - F(b) <= x - q + 1. Let
//           k = x - b: then F(x) + F(b) >= q - 3, so that m(x) + m(b) is at
//           most S = 2(p - 1) - (q - 3); k is below 2^es (S + 2), and at least
//           q - p. Where that is no k, nearest modes take the carrier's sum.
//
//  error    A nearest product or quotient is turned into the one rounded to odd
//           by the sign of its error, which Dekker's product (1971) has
//           exactly:
//
//             e = ((ah bh - c) + ah bl + al bh) + al bl,   c = RN(a b),
//
//           where ah is a's first h = floor(q / 2) bits and al the rest. b has
//           p bits. If a has p, the four products have at most q bits for 2p -
//           h + 2 <= q; in units of the last place of a b, all sums are
//           integers below 2^(2p - h + 2). For a quotient r of x and y, the
//           error is that of x - r y = (x - c) - e, with a = r of q bits, b =
//           y. Again no product has more than q bits. With g = q - h, c is a
//           multiple of 2^(p-1) and |e| <= 2^(p-1), so that the sums are, one
//           after the other,
//             a multiple of 2^(p-1),          below 2^(g+p+2): g + 3 bits
//             one of 2^min(p-1, g), -al b + e, below 2^(g+p+1): max(g, p) + 2
//             e - al bl,                      below 2^(p+2)
//             e;
//           x - c is exact as c is within two units of x, and so is the rest.
//
// These need that neither operands, results nor error terms leave the carrier's
// normal range, which `spans` bounds.
//
//  truncation  A format that is its carrier with a shorter significand (bf16 in
//           f32) shares its range. Beyond the largest number the carrier
//           overflows only where the format does, and a sum below the normal
//           range is exact. There the carrier's unit is w = 2^-149 and the
//           format's v = w 2^(24-p). A product below v/2 may round up to v/2,
//           the tie, which goes to zero like the product; from v/2 on its 2p
//           bits are multiples of w where 3p <= q. A quotient a/b that is no
//           multiple of v/2 differs from any by at least v/2 2^-p, which is
//           more than w/2 where 2p < q. In nearest modes all this is enough.
//
// DoubleRoundingTest compares every operation with the exact path: all pairs of
// 8-bit formats, random and boundary pairs above.

#ifndef NUMERA_NUMERICS_CARRIER_DOUBLEROUNDING_H
#define NUMERA_NUMERICS_CARRIER_DOUBLEROUNDING_H

#include "numera/Numerics/Carrier/CarrierRound.h"
#include "numera/Numerics/Carrier/EvaluationPath.h"

namespace numera {

template <typename T> struct DoubleRounding : CarrierRound<T> {
  using Base = CarrierRound<T>;
  using Word = typename Base::Word;
  using SignedWord = typename Base::SignedWord;
  static constexpr int32_t q = Base::format.precision();

  /// True if f's values, their products and quotients, and the last bits of
  /// its values and products, are normal numbers of the carrier. No value has
  /// a bit below 2^leastExponent(): a float by definition, a posit because
  /// each regime step costs one fraction bit and moves the exponent by 2^es. A
  /// takum has at most `bits` further ones, for which f64 has room.
  template <typename F> static constexpr bool spans(const F &f) {
    int32_t low = -f.leastExponent();
    int32_t high = f.maxExponent() + 1;
    int32_t extent = low > high ? low : high;
    return Base::embeds(f) && Base::encodes(f) &&
           2 * extent + 1 < Base::format.maxExponent();
  }

  /// A result of the carrier can be rounded to `f`.
  template <typename F>
  static constexpr bool finishes(const F &f, RoundingMode mode) {
    return Base::encodes(f) && Base::embeds(f) &&
           (mode == Rounding::NearestEven || Base::rounds(f, mode));
  }
  /// P of the proofs.
  template <typename F>
  static constexpr int32_t points(const F &f, RoundingMode mode) {
    bool isStochastic = mode == Rounding::Stochastic;
    return f.precision() + 1 + (isStochastic ? mode.randomBits : 0);
  }
  /// The proofs of truncations: an infinity may be an overflow or an operand.
  template <typename F>
  static constexpr bool truncates(const F &, RoundingMode) {
    return false;
  }
  static constexpr bool truncates(const FloatFormat &f, RoundingMode mode) {
    return Base::isTruncation(f) && isNearest(mode) &&
           f.overflow != Overflow::Propagate && 2 * f.precision() + 2 <= q;
  }

  /// The proof for sums of tapered formats.
  template <typename F> static constexpr bool tapers(const F &) {
    return false;
  }
  static constexpr bool tapers(const PositFormat &f) {
    int32_t p = f.precision(), slack = 2 * (p - 1) - (q - 3);
    return p < q - 3 && (slack < 0 || (slack + 2) << f.es <= q - p);
  }

  /// The proof for the errors of products and quotients. In the widest carrier
  /// alone: where one is exact in a wider one, that is shorter.
  template <typename F>
  static constexpr bool hasErrors(const F &f, RoundingMode mode) {
    return sizeof(T) == sizeof(double) && spans(f) && finishes(f, mode) &&
           points(f, mode) + 1 <= q && 2 * f.precision() + 2 - half <= q;
  }

  template <typename F>
  static constexpr EvaluationPath multiplication(const F &f,
                                                 RoundingMode mode) {
    bool exact = spans(f) && 2 * f.precision() <= q && finishes(f, mode);
    bool truncation = truncates(f, mode) && 3 * f.precision() <= q;
    return exact || truncation  ? EvaluationPath::Plain
           : hasErrors(f, mode) ? EvaluationPath::ToOdd
                                : EvaluationPath::None;
  }
  /// The path of sums and differences.
  template <typename F>
  static constexpr EvaluationPath addition(const F &f, RoundingMode mode) {
    if (truncates(f, mode))
      return EvaluationPath::Plain;
    if (!spans(f) || !finishes(f, mode) || points(f, mode) + 1 > q)
      return EvaluationPath::None;
    bool plain = isNearest(mode) && (2 * f.precision() + 2 <= q || tapers(f));
    return plain ? EvaluationPath::Plain : EvaluationPath::ToOdd;
  }
  template <typename F>
  static constexpr EvaluationPath division(const F &f, RoundingMode mode) {
    bool normal = spans(f) && finishes(f, mode) &&
                  f.precision() + points(f, mode) + 1 <= q;
    return normal || truncates(f, mode) ? EvaluationPath::Plain
           : hasErrors(f, mode)         ? EvaluationPath::ToOdd
                                        : EvaluationPath::None;
  }
  template <typename F>
  static constexpr EvaluationPath root(const F &f, RoundingMode mode) {
    bool normal = spans(f) && finishes(f, mode) && 2 * points(f, mode) <= q;
    return normal || truncates(f, mode) ? EvaluationPath::Plain
                                        : EvaluationPath::None;
  }
  /// The path of a product and a sum: the product is exact, the sum rounded to
  /// odd.
  template <typename F>
  static constexpr EvaluationPath fusion(const F &f, RoundingMode mode) {
    bool exact = spans(f) && 2 * f.precision() <= q && finishes(f, mode);
    return exact && points(f, mode) + 1 <= q ? EvaluationPath::ToOdd
                                             : EvaluationPath::None;
  }

  /// x + y on the path that addition() names. Rounding down, a sum that
  /// cancels is -0: the negative of the sum of the negatives.
  template <typename F>
  static constexpr T sum(const F &f, T x, T y, RoundingMode mode) {
    if (addition(f, mode) == EvaluationPath::Plain)
      return x + y;
    return mode == Rounding::Down ? -sumToOdd(-x, -y) : sumToOdd(x, y);
  }
  /// x * y on the path that multiplication() names.
  template <typename F>
  static constexpr T product(const F &f, T x, T y, RoundingMode mode) {
    T p = x * y;
    return multiplication(f, mode) == EvaluationPath::Plain
               ? p
               : toOdd(p, productError(x, y, p));
  }
  /// x / y on the path that division() names.
  template <typename F>
  static constexpr T quotient(const F &f, T x, T y, RoundingMode mode) {
    T r = x / y;
    if (division(f, mode) == EvaluationPath::Plain)
      return r;
    T p = r * y;
    T rest = (x - p) - productError(r, y, p);
    return toOdd(r, y < 0 ? -rest : rest);
  }
  /// x * y + z on the path that fusion() names.
  static constexpr T fused(T x, T y, T z, RoundingMode mode) {
    return mode == Rounding::Down ? -sumToOdd(-x * y, -z) : sumToOdd(x * y, z);
  }

  /// A result of the carrier as a code, rounded.
  template <typename F>
  static constexpr uint64_t finish(const F &f, T x, RoundingMode mode) {
    if (mode == Rounding::NearestEven)
      return Base::encode(f, x);
    return Base::encodeExact(f, Base::round(f, x, mode));
  }

  /// x + y rounded to odd. The error of the nearest sum is exact (Knuth's
  /// TwoSum); where it is nonzero and the sum's last bit is even, the
  /// neighbour on the error's side is the odd one.
  static constexpr T sumToOdd(T x, T y) {
    T s = x + y;
    T virtualY = s - x;
    return toOdd(s, (x - (s - virtualY)) + (y - virtualY));
  }

private:
  static constexpr int32_t half = q / 2;

  /// A nearest result rounded to odd, by the sign of its error.
  static constexpr T toOdd(T nearest, T error) {
    Word word = Base::bits(nearest);
    // Ordered comparisons: what is infinite has a NaN for an error.
    Word inexact = static_cast<Word>((error < 0) | (error > 0));
    // Toward zero if the error's sign is not the sum's; then the last bit on.
    Word inward = (Base::bits(error) ^ word) >> (Base::width - 1);
    Word odd = (word - (inexact & inward)) | inexact;
    return Base::value(odd);
  }

  /// x * y - p, where p is the nearest product.
  static constexpr T productError(T x, T y, T p) {
    Word first = ~((Word{1} << (q - half)) - 1);
    T xh = Base::value(Base::bits(x) & first), xl = x - xh;
    T yh = Base::value(Base::bits(y) & first), yl = y - yh;
    return ((xh * yh - p) + xh * yl + xl * yh) + xl * yl;
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_CARRIER_DOUBLEROUNDING_H
