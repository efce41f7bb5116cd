// SPDX-License-Identifier: MIT
//
// Exact sums of products by the machine's fused multiply-add, for contractions
// with `accumulate: quire`. A quire (Quire.h) has hundreds of bits, but a block
// of real data, whose numbers lie between bounds, needs only a few dozen. A sum
// in a carrier T of q bits,
//
//     s <- fma(a, b, s),      a, b multiples of 2^l, 2^m below 2^h, 2^i,
//
// is exact as long as h - l + i - m + log2(steps) <= q: every partial sum
// is a multiple of 2^(l+m), of which it has at most 2^q. Where factors span
// more bits, they are cut into slices while they are prepared (K. Ozaki et al.,
// Numerical Algorithms 59, 2012),
//
//     a = a0 + a1 + …,    |a| <= 2^h,    a0 the multiple of 2^(h-w) nearest to
//     a,
//                         |a - a0| <= 2^(h-w-1), and so on,
//
// and the products of each pair of slices have a sum of their own. Slices are
// signed, so each takes one bit less than the one before it left. At the end a
// few sums in T are the exact sum; its value is rounded once.
//
// Order does not matter, as nothing is rounded. The numbers must be finite.

#ifndef NUMERA_NUMERICS_MULTIPLYADD_SLICES_H
#define NUMERA_NUMERICS_MULTIPLYADD_SLICES_H

#include "numera/Numerics/Exact/Quire.h"
#include "numera/Numerics/MultiplyAdd/Step.h"

namespace numera {

/// Numbers that are multiples of 2^low and not above 2^high in magnitude.
struct Span {
  int32_t low = 0;
  int32_t high = 0;

  constexpr int32_t bits() const { return high - low; }
  /// The form in the runtime ABI: low in bits 0-31, high in bits 32-63.
  constexpr uint64_t pack() const {
    return static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 |
           static_cast<uint32_t>(low);
  }
  static constexpr Span unpack(uint64_t packed) {
    return {static_cast<int32_t>(packed), static_cast<int32_t>(packed >> 32)};
  }
  constexpr bool operator==(const Span &) const = default;
};

/// The weight of the last bit of numbers with at least this exponent.
template <typename F> constexpr int32_t lastBit(const F &f, int32_t exponent) {
  int32_t least = leastWeight(f), last = exponent - f.precision() + 1;
  return last > least ? last : least;
}
constexpr int32_t lastBit(const PositFormat &f, int32_t exponent) {
  int32_t regime = exponent >> f.es;
  int32_t fraction = f.bits - 3 - f.es - (regime < 0 ? ~regime : regime);
  return exponent - (fraction > 0 ? fraction : 0);
}

/// The span of a format's values whose nonzero magnitudes have these bounds.
template <typename T, typename F>
constexpr Span spanOf(const F &f, Magnitudes<T> magnitudes) {
  using C = Carrier<T>;
  if (!(magnitudes.least <= magnitudes.most)) // only zeros
    return {};
  auto exponentOf = [](T x) {
    return static_cast<int32_t>(C::bits(x) >> C::mantissa) - C::bias;
  };
  int32_t least = exponentOf(magnitudes.least);
  // The carrier's subnormals have no exponent of their own.
  int32_t low =
      least < C::format.minExponent() ? leastWeight(f) : lastBit(f, least);
  return {low, exponentOf(magnitudes.most) + 1};
}

/// How the factors of one side are cut into slices.
template <typename T> struct Slices {
  int32_t count = 0; ///< 0: not possible
  int32_t width = 0; ///< most bits of a slice
  int32_t high = 0;  ///< no factor is above 2^high

  /// Into `count` slices.
  static constexpr Slices of(Span span, int32_t count) {
    // Each but the first takes a bit less than was left.
    int32_t bits = span.bits() - (count - 1);
    int32_t width = (bits + count - 1) / count;
    return {count, width > 0 ? width : 0, span.high};
  }

  /// Slice `index` of x.
  template <typename V> constexpr V slice(V x, int32_t index) const {
    int32_t top = high;
    for (int32_t i = 0; i + 1 < count; ++i) {
      // 1.5 * 2^(q - 1) units of 2^(top - width): their sum with a number of
      // fewer bits is rounded to such a unit.
      T magic = Carrier<T>::value(
                    Carrier<T>::powerBits(top - width + Carrier<T>::mantissa)) *
                T{1.5};
      V part = (x + magic) - magic;
      if (i == index)
        return part;
      x = x - part;
      top = top - width - 1;
    }
    return x;
  }
};

/// The sums of a block: one for each pair of a row's slice and a column's.
template <typename T> struct SliceProducts {
  static constexpr int32_t most = 4;

  Slices<T> rows, columns;

  constexpr int32_t count() const { return rows.count * columns.count; }
  /// False if a block spans too many bits and must be summed in quires.
  constexpr bool exist() const { return count() > 0; }

  /// The fewest sums that hold the sum of `steps` products.
  static constexpr SliceProducts of(Span rows, Span columns, int64_t steps) {
    int32_t bits = Carrier<T>::format.precision();
    while (bits > 0 &&
           int64_t{1} << (Carrier<T>::format.precision() - bits) < steps)
      --bits;
    for (int32_t count = 1; count <= most; ++count)
      for (int32_t i = count; i > 0; --i) {
        SliceProducts products = {Slices<T>::of(rows, i),
                                  Slices<T>::of(columns, count / i)};
        if (count % i == 0 &&
            products.rows.width + products.columns.width <= bits &&
            products.isWithinCarrier(rows, columns))
          return products;
      }
    return {};
  }

private:
  static constexpr FloatFormat carrier = Carrier<T>::format;

  /// No product below the carrier's least number, no sum or magic number above
  /// its largest.
  constexpr bool isWithinCarrier(Span rowSpan, Span columnSpan) const {
    return rowSpan.low + columnSpan.low >= carrier.leastExponent() &&
           rowSpan.high + columnSpan.high + 32 < carrier.maxExponent() &&
           canCut(rowSpan, rows) && canCut(columnSpan, columns);
  }
  static constexpr bool canCut(Span span, Slices<T> slices) {
    return slices.count == 1 ||
           (slices.width <= carrier.precision() - 2 &&
            span.low >= carrier.minExponent() &&
            span.high + carrier.precision() < carrier.maxExponent());
  }
};

/// Adds sums, exact multiples of the quire's unit, to a quire.
template <typename T, typename F>
constexpr void addSliceProducts(Quire<F> quire, const T *sums, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    quire.addExact(Carrier<T>::format.decode(Carrier<T>::bits(sums[i])));
}

} // namespace numera

#endif // NUMERA_NUMERICS_MULTIPLYADD_SLICES_H
