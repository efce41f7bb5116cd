// SPDX-License-Identifier: MIT
//
// Rounding held against a list of a format's numbers: a test gives the value of
// every code, by a decoder of its own, and where nearest modes change their
// answer between two neighbours. Nothing of the library is asked. For formats
// of a few bits without a negative zero; numbers have at most 64 bits.

#ifndef NUMERA_TEST_UNIT_NEIGHBOURS_H
#define NUMERA_TEST_UNIT_NEIGHBOURS_H

#include "Sweep.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

namespace numera::test {

/// 64 bits of significand, exponents to 16384.
using Number = long double;
static_assert(std::numeric_limits<Number>::digits == 64);

inline Unpacked unpackedOf(Number x) {
  if (x == 0)
    return Unpacked::zero();
  int exponent = 0;
  Number fraction = std::frexp(std::fabs(x), &exponent);
  return {.kind = Kind::Finite,
          .negative = x < 0,
          .exponent = exponent - 1,
          .significand = static_cast<uint64_t>(std::ldexp(fraction, 64))};
}

inline bool isValue(const Unpacked &ours, Number want) {
  if (std::isnan(want))
    return ours.isNaN();
  if (std::isinf(want))
    return ours.isInfinite() && ours.negative == (want < 0);
  Unpacked number = unpackedOf(want);
  return ours.kind == number.kind && ours.negative == number.negative &&
         ours.exponent == number.exponent &&
         ours.significand == number.significand && ours.tail == 0 &&
         !ours.sticky;
}

/// The finite numbers of a format in ascending order.
struct Numbers {
  struct Entry {
    Number value;
    uint64_t code;
  };
  std::vector<Entry> entries;
  /// Between neighbours of one sign, magnitudes given: where nearest modes
  /// change their answer.
  std::function<Number(Number, Number)> boundary = [](Number low, Number high) {
    return low + (high - low) / 2;
  };
  /// Nearest modes never give zero for another number.
  bool keepsFromZero = false;

  void add(Number value, uint64_t code) { entries.push_back({value, code}); }
  void sort() { std::ranges::sort(entries, {}, &Entry::value); }

  /// The code for x, which is not beyond the ends.
  uint64_t rounded(Number x, RoundingMode mode) const {
    auto above = std::ranges::lower_bound(entries, x, {}, &Entry::value);
    if (above->value == x)
      return above->code;
    Entry inner = *(above - 1), outer = *above;
    if (x < 0)
      std::swap(inner, outer);
    return chooses(x, inner, outer, mode) ? outer.code : inner.code;
  }

private:
  bool chooses(Number x, const Entry &inner, const Entry &outer,
               RoundingMode mode) const {
    Number in = std::fabs(inner.value), out = std::fabs(outer.value);
    Number middle = boundary(in, out), size = std::fabs(x);
    if (in == 0 && keepsFromZero && isNearest(mode))
      return true;
    switch (mode.rounding) {
    case Rounding::NearestEven:
      return size == middle ? outer.code % 2 == 0 : size > middle;
    case Rounding::NearestAway:
      return size >= middle;
    case Rounding::NearestZero:
      return size > middle;
    case Rounding::TowardZero:
      return false;
    case Rounding::Up:
      return x > 0;
    case Rounding::Down:
      return x < 0;
    case Rounding::ToOdd:
      return outer.code % 2 == 1;
    case Rounding::Stochastic: {
      // draw < floor(place * 2^N), in 113 bits: exact for N <= 8.
      uint32_t draws = 1u << mode.randomBits, draw = mode.random % draws;
      __float128 place = __float128(size) - in, span = __float128(out) - in;
      return (draw + 1) * span <= draws * place;
    }
    }
    return false;
  }
};

/// x and its neighbours among numbers of 64 bits, without zero.
inline std::vector<Number> around(Number x) {
  std::vector<Number> points;
  for (Number point : {x, std::nextafter(x, Number(INFINITY)),
                       std::nextafter(x, Number(-INFINITY))})
    if (point != 0 && std::fabs(point) > 0x1p-8000L)
      points.push_back(point);
  return points;
}

/// Rounds the numbers of a format, the boundaries between them, their means,
/// and what lies next to each, in every mode.
template <typename F>
void checkNeighbours(Tally &tally, const char *name, const F &f,
                     const Numbers &numbers) {
  auto check = [&](Number x, RoundingMode mode) {
    tally.check(f.encode(unpackedOf(x), mode), numbers.rounded(x, mode), name,
                numbers.rounded(x, Rounding::TowardZero), mode);
  };
  const auto &entries = numbers.entries;
  Number least = entries.front().value, most = entries.back().value;
  for (size_t i = 0; i < entries.size(); ++i) {
    for (Rounding mode : modes)
      check(entries[i].value, mode);
    if (i + 1 == entries.size())
      break;
    Number low = entries[i].value, high = entries[i + 1].value;
    Number sign = low < 0 ? -1 : 1;
    Number middle =
        sign * numbers.boundary(std::min(std::fabs(low), std::fabs(high)),
                                std::max(std::fabs(low), std::fabs(high)));
    Number mean = low / 2 + high / 2;
    for (Number centre : {low, middle, mean, high})
      for (Number x : around(centre)) {
        if (x < least || x > most)
          continue;
        for (Rounding mode : modes)
          check(x, mode);
      }
    for (int eighth = 0; eighth < 8; ++eighth)
      for (uint32_t draw = 0; draw < 16; ++draw)
        check(low + (high - low) * eighth / 8,
              {Rounding::Stochastic, 1 + eighth % 4, draw});
  }
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_NEIGHBOURS_H
