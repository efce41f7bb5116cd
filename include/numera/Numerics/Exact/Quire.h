// SPDX-License-Identifier: MIT
//
// The quire: a fixed-point number wide enough to hold sums of products of a
// format's values exactly, so that a whole dot product is rounded once
// (docs/Semantics/Quire.md). It is an array of 64-bit words in memory:
//
//   | sum: two's complement, the least word first | flags, where needed |
//     bit 0 of the sum has the weight 2^least
//
// NaN (NaR) is sticky. In a format without infinities, NaN is the sum 10…0, as
// in the posit standard. With infinities, one more word records what was added:
// NaN 1, +infinity 2, -infinity 4. A sum may have 2^31 - 1 products; beyond
// that it wraps.

#ifndef NUMERA_NUMERICS_EXACT_QUIRE_H
#define NUMERA_NUMERICS_EXACT_QUIRE_H

#include "numera/Numerics/Exact/Multiply.h"

namespace numera {

/// The layout of a format's quire.
struct QuireLayout {
  /// The size in bits: the standard's for posits (16 n for a posit<n,2>). For
  /// other families a sign, 31 carry bits and the span of products and values,
  /// rounded up to words, with the flags.
  int32_t bits;
  int32_t least;    ///< bit 0 has the weight 2^least
  int32_t sumWords; ///< 64-bit words of the sum
  bool hasFlags;    ///< one more word follows

  constexpr int32_t words() const { return sumWords + hasFlags; }
  constexpr bool operator==(const QuireLayout &) const = default;
};

/// The quire of f64; no wider one is supported.
inline constexpr int32_t mostQuireBits = 4352;

/// Every value of the format is a multiple of 2^leastWeight.
template <typename F> constexpr int32_t leastWeight(const F &f) {
  if constexpr (requires { f.leastWeight(); })
    return f.leastWeight();
  else
    return f.leastExponent() - f.precision() + 1;
}

template <typename F> constexpr QuireLayout quireLayout(const F &f) {
  // Values count beside products: where all are above 1, or all below, those
  // reach further.
  int32_t weight = leastWeight(f), top = f.maxExponent() + 1;
  int32_t least = weight < 0 ? 2 * weight : weight;
  int32_t bits = 32 + (top > 0 ? 2 * top : top) - least;
  bool hasFlags = f.hasInfinity();
  if constexpr (requires { f.quireBits(); })
    return {f.quireBits(), least, (f.quireBits() + 63) / 64, hasFlags};
  int32_t words = (bits + 63) / 64;
  return {64 * (words + hasFlags), least, words, hasFlags};
}

/// Operations on the quire of one format at `words`.
template <typename F> class Quire {
public:
  constexpr Quire(const F &format, uint64_t *words)
      : format(format), layout(quireLayout(format)), words(words) {}

  constexpr void clear() {
    for (int32_t i = 0; i < layout.words(); ++i)
      words[i] = 0;
  }
  /// sum + x * y
  constexpr void mac(uint64_t x, uint64_t y);
  constexpr void add(uint64_t x);
  constexpr void sub(uint64_t x);
  /// sum + x, a finite multiple of 2^least within the sum's span
  constexpr void addExact(const Unpacked &x) { addValue(x); }
  constexpr void negate();
  /// sum + the sum at `other`
  constexpr void merge(const uint64_t *other);

  /// The sum's first 96 bits; zero is +0. For a format that wraps, the
  /// magnitude is taken modulo 2^F::period().
  static constexpr Unpacked value(const F &format, const uint64_t *words);
  /// The sum, rounded once.
  static constexpr uint64_t round(const F &format, const uint64_t *words,
                                  RoundingMode mode) {
    return format.encode(value(format, words), mode);
  }

private:
  /// Fixed-point codes are integers, so a sum of one word is an integer too.
  constexpr bool isInteger() const {
    if constexpr (requires { format.units(0); })
      return layout.sumWords == 1;
    return false;
  }
  constexpr uint64_t units(uint64_t x) const {
    if constexpr (requires { format.units(x); })
      return format.units(x);
    return 0;
  }

  static constexpr uint64_t signBit = uint64_t{1} << 63;
  enum Flag : uint64_t { SawNaN = 1, SawPlus = 2, SawMinus = 4 };

  constexpr void addValue(const Unpacked &x);
  constexpr void addSpecial(const Unpacked &x);
  constexpr void place(bool negative, uint128_t magnitude, bool isNarrow,
                       int32_t scale);
  template <typename Sum>
  static constexpr Sum added(Sum sum, Sum term, bool negative) {
    Sum mask = negative ? ~Sum{0} : Sum{0};
    return ((sum ^ mask) + term) ^ mask; // ~(~s + t) = s - t
  }
  constexpr bool addWord(int32_t index, uint64_t term, bool carry,
                         uint64_t mask);
  /// True if the sum is the NaN of formats that have no flags.
  static constexpr bool isNaN(const F &format, const QuireLayout &layout,
                              const uint64_t *words);
  constexpr bool isNaN() const { return isNaN(format, layout, words); }
  constexpr void setNaN();

  F format;
  QuireLayout layout;
  uint64_t *words;
};

template <typename F>
constexpr bool Quire<F>::isNaN(const F &format, const QuireLayout &layout,
                               const uint64_t *words) {
  if (layout.hasFlags || !format.hasNaN() ||
      words[layout.sumWords - 1] != signBit)
    return false;
  for (int32_t i = 0; i < layout.sumWords - 1; ++i)
    if (words[i] != 0)
      return false;
  return true;
}

template <typename F> constexpr void Quire<F>::setNaN() {
  if (layout.hasFlags) {
    words[layout.sumWords] |= SawNaN;
    return;
  }
  for (int32_t i = 0; i < layout.sumWords; ++i)
    words[i] = i == layout.sumWords - 1 ? signBit : 0;
}

template <typename F> constexpr void Quire<F>::addSpecial(const Unpacked &x) {
  if (x.isNaN())
    setNaN();
  else if (x.isInfinite())
    words[layout.sumWords] |= x.negative ? SawMinus : SawPlus;
}

template <typename F>
constexpr bool Quire<F>::addWord(int32_t index, uint64_t term, bool carry,
                                 uint64_t mask) {
  uint128_t sum = uint128_t{words[index] ^ mask} + term + carry;
  words[index] = static_cast<uint64_t>(sum) ^ mask;
  return sum >> 64 != 0;
}

/// Adds (-1)^negative * magnitude * 2^scale, which is a multiple of 2^least and
/// lies within the sum's span. `isNarrow` says that the magnitude has at most
/// 64 bits.
template <typename F>
constexpr void Quire<F>::place(bool negative, uint128_t magnitude,
                               bool isNarrow, int32_t scale) {
  int32_t at = magnitude == 0 ? 0 : scale - layout.least;
  magnitude >>= at < 0 ? -at : 0; // zeros alone are cut off
  at = at < 0 ? 0 : at;
  // Sums of one or two words are integers; NaN is kept by a selection, so that
  // loops over them may become vector loops.
  if (layout.sumWords == 1) {
    uint64_t sum = added<uint64_t>(
        words[0], static_cast<uint64_t>(magnitude) << at, negative);
    words[0] = isNaN() ? words[0] : sum;
    return;
  }
  if (layout.sumWords == 2) {
    uint128_t before = uint128_t{words[1]} << 64 | words[0];
    uint128_t sum = added<uint128_t>(before, magnitude << at, negative);
    sum = isNaN() ? before : sum;
    words[0] = static_cast<uint64_t>(sum);
    words[1] = static_cast<uint64_t>(sum >> 64);
    return;
  }
  if (isNaN())
    return;
  auto low = static_cast<uint64_t>(magnitude);
  auto high = static_cast<uint64_t>(magnitude >> 64);
  int32_t index = at >> 6, shift = at & 63;
  uint64_t mask = negative ? ~uint64_t{0} : 0;
  bool carry = addWord(index, low << shift, false, mask);
  if (++index < layout.sumWords)
    carry =
        addWord(index, low >> 1 >> (63 - shift) | high << shift, carry, mask);
  if (!isNarrow && ++index < layout.sumWords)
    carry = addWord(index, high >> 1 >> (63 - shift), carry, mask);
  while (carry && ++index < layout.sumWords)
    carry = addWord(index, 0, carry, mask);
}

template <typename F>
constexpr void Quire<F>::mac(uint64_t codeX, uint64_t codeY) {
  if (isInteger()) {
    words[0] += units(codeX) * units(codeY);
    return;
  }
  Unpacked x = format.decode(codeX), y = format.decode(codeY);
  bool mayBeSpecial = format.hasNaN() || format.hasInfinity();
  if (mayBeSpecial && (x.kind >= Kind::Infinite || y.kind >= Kind::Infinite))
    return addSpecial(exact::mulSpecial(x, y));
  bool negative = x.negative != y.negative;
  int32_t scale = x.exponent + y.exponent - 126;
  if (format.precision() <= 32) // half the digits are enough
    return place(negative, (x.significand >> 32) * (y.significand >> 32), true,
                 scale + 64);
  place(negative, uint128_t{x.significand} * y.significand, false, scale);
}

template <typename F> constexpr void Quire<F>::addValue(const Unpacked &x) {
  if (x.kind >= Kind::Infinite)
    return addSpecial(x);
  place(x.negative, x.significand, true, x.exponent - 63);
}

template <typename F> constexpr void Quire<F>::add(uint64_t x) {
  if (isInteger())
    words[0] += units(x) << (leastWeight(format) - layout.least);
  else
    addValue(format.decode(x));
}

template <typename F> constexpr void Quire<F>::sub(uint64_t x) {
  if (isInteger())
    words[0] -= units(x) << (leastWeight(format) - layout.least);
  else
    addValue(exact::negate(format.decode(x)));
}

template <typename F> constexpr void Quire<F>::negate() {
  bool carry = true; // NaN is its own negative
  for (int32_t i = 0; i < layout.sumWords; ++i) {
    words[i] = ~words[i] + carry;
    carry = carry && words[i] == 0;
  }
  if (!layout.hasFlags)
    return;
  uint64_t flags = words[layout.sumWords];
  words[layout.sumWords] = (flags & SawNaN) | (flags & SawPlus ? SawMinus : 0) |
                           (flags & SawMinus ? SawPlus : 0);
}

template <typename F> constexpr void Quire<F>::merge(const uint64_t *other) {
  if (isNaN(format, layout, other))
    return setNaN();
  if (isNaN())
    return;
  bool carry = false;
  for (int32_t i = 0; i < layout.sumWords; ++i)
    carry = addWord(i, other[i], carry, 0);
  if (layout.hasFlags)
    words[layout.sumWords] |= other[layout.sumWords];
}

template <typename F>
constexpr Unpacked Quire<F>::value(const F &format, const uint64_t *words) {
  QuireLayout layout = quireLayout(format);
  uint64_t flags = layout.hasFlags ? words[layout.sumWords] : 0;
  bool isMixed = (flags & SawPlus) && (flags & SawMinus);
  if ((flags & SawNaN) || isMixed || isNaN(format, layout, words))
    return Unpacked::nan();
  if (flags != 0)
    return Unpacked::infinity((flags & SawMinus) != 0);

  int32_t last = 0, top = layout.sumWords - 1;
  while (last < top && words[last] == 0)
    ++last;
  bool negative = words[top] >> 63 != 0;
  // The words of the magnitude: below the last nonzero word all stay zero, that
  // one is negated, and those above are inverted.
  auto magnitude = [&](int32_t i) -> uint64_t {
    if (i < 0)
      return 0;
    uint64_t word = !negative || i < last ? words[i]
                    : i == last           ? 0 - words[i]
                                          : ~words[i];
    if constexpr (requires { format.period(); }) { // its last bits count
      int32_t bits = format.period() - layout.least - 64 * i;
      word &= bits <= 0    ? 0
              : bits >= 64 ? ~uint64_t{0}
                           : ~uint64_t{0} >> (64 - bits);
    }
    return word;
  };
  int32_t first = top;
  while (first > 0 && magnitude(first) == 0)
    --first;
  if (magnitude(first) == 0)
    return Unpacked::zero();
  uint128_t wide = uint128_t{magnitude(first)} << 64 | magnitude(first - 1);
  uint64_t third = magnitude(first - 2);
  int32_t shift = __builtin_clzll(magnitude(first));
  wide = wide << shift | third >> 1 >> (63 - shift);
  bool sticky = third << shift != 0 || last < first - 2;
  return Unpacked::fromWide(negative, wide,
                            64 * (first - 1) - shift + layout.least, sticky);
}

} // namespace numera

#endif // NUMERA_NUMERICS_EXACT_QUIRE_H
