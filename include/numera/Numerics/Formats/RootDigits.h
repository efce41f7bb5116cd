// SPDX-License-Identifier: MIT
//
// As many binary digits of 2^(k/2^f) as a question takes: what stands behind
// the binary point of a number far above 2^128 decides fmod, sin and cos, and
// which integer is near.

#ifndef NUMERA_NUMERICS_FORMATS_ROOTDIGITS_H
#define NUMERA_NUMERICS_FORMATS_ROOTDIGITS_H

#include "numera/Numerics/Elementary/Trigonometric.h"
#include "numera/Numerics/Formats/LogarithmicGrid.h"

namespace numera::exact {

/// A number in [2^exponent, 2^(exponent + 1)): `count` words, most significant
/// first, the leading one at the top, truncated.
struct Digits {
  /// For exponents below 2^12 and the 256 digits behind the point.
  static constexpr int32_t most = 69;

  uint64_t words[most] = {};
  int32_t count = 2;
  int32_t exponent = 0;

  /// 64 digits from the one of weight 2^(exponent - position) on.
  constexpr uint64_t at(int32_t position) const {
    int32_t index = position >> 6, shift = position & 63;
    uint64_t high = index < count ? words[index] : 0;
    uint64_t low = index + 1 < count ? words[index + 1] : 0;
    return shift == 0 ? high : high << shift | low >> (64 - shift);
  }

  /// What stands behind the binary point.
  constexpr Wide fraction() const {
    int32_t point = exponent < -1 ? 0 : exponent + 1;
    int32_t first = point;
    while (at(first) == 0 && first < 64 * count)
      first += 64;
    if (first >= 64 * count)
      return {};
    first += __builtin_clzll(at(first));
    return {false, exponent - first, join(at(first), at(first + 64))};
  }

  /// m becomes sqrt(m * 2^odd) for 1 <= m < 2, digit by digit: a digit of the
  /// root stays if its square still fits.
  constexpr void takeRoot(bool odd) {
    uint64_t root[most] = {}, rest[most + 1] = {};
    for (int32_t step = 0; step < 64 * count; ++step) {
      // Two digits of the radicand come down: m * 2^odd has 1 or 2 before the
      // point.
      int32_t next = 2 * step - (odd ? 0 : 1);
      uint64_t pair = next < 0 ? at(0) >> 63 : at(next) >> 62;
      for (int32_t i = 0; i < count; ++i)
        rest[i] = rest[i] << 2 | rest[i + 1] >> 62;
      rest[count] = rest[count] << 2 | pair;
      // Against 4 root + 1, which has one word more than the root.
      auto trial = [&](int32_t i) {
        uint64_t high = i == 0 ? 0 : root[i - 1] << 2;
        uint64_t low = i == count ? 1 : root[i] >> 62;
        return high | low;
      };
      int32_t differs = 0;
      while (differs < count && rest[differs] == trial(differs))
        ++differs;
      bool fits = rest[differs] >= trial(differs);
      for (int32_t i = count, borrow = 0; fits && i >= 0; --i) {
        uint64_t less = trial(i), difference = rest[i] - less - borrow;
        borrow = borrow ? rest[i] <= less : rest[i] < less;
        rest[i] = difference;
      }
      for (int32_t i = 0; i < count; ++i)
        root[i] =
            root[i] << 1 | (i + 1 < count ? root[i + 1] >> 63 : uint64_t{fits});
    }
    for (int32_t i = 0; i < count; ++i)
      words[i] = root[i];
  }
};

/// 2^(k/2^f), k/2^f below 2^12: to 128 digits where `behind` digits behind the
/// point are among the first 120, else to 256 behind the point. k = sum of bits
/// b_t 2^t: from the last bit on, m becomes sqrt(m * 2^b_t). Each root halves
/// the relative error that it is given, and truncates: 2 units are never
/// reached.
[[gnu::noinline]] constexpr Digits digitsOfGrid(int64_t k, int32_t f,
                                                int32_t behind) {
  Digits digits;
  digits.exponent = static_cast<int32_t>(k >> f);
  if (digits.exponent + behind < 120) {
    Wide value = detail::powerOfGrid(k, f);
    digits.words[0] = static_cast<uint64_t>(value.significand >> 64);
    digits.words[1] = static_cast<uint64_t>(value.significand);
    return digits;
  }
  digits.count = (digits.exponent + 256) / 64 + 1;
  digits.words[0] = uint64_t{1} << 63;
  auto fraction = static_cast<uint64_t>(k) & ((uint64_t{1} << f) - 1);
  for (int32_t t = fraction ? __builtin_ctzll(fraction) : f; t < f; ++t)
    digits.takeRoot((fraction >> t & 1) != 0);
  return digits;
}

/// x, with that sign, reduced by pi/2 for x >= 1/2 below 2^32960.
constexpr detail::ReducedAngle angleOf(const Digits &x, bool negative) {
  uint64_t turns[5] = {};
  for (int32_t i = 0; i < x.count; ++i)
    detail::addTurns(turns, x.words[i], x.exponent - 64 * i);
  return detail::angleOf(turns, negative);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_FORMATS_ROOTDIGITS_H
