// SPDX-License-Identifier: MIT
//
// Rounding to a posit of any regime on the words of a carrier, nearest-even:
// a look-up by the regime, twice, and five integer operations.
//
// A carrier's word and the posit's bit string are the same piecewise linear
// function of the number (CarrierRound.h), so with U the weight in the word of
// the string's last bit, which the regime k alone determines, rounding is
//
//     s = w + U/2 - 1 + odd,   s without the bits below U,
//
// where `odd` is the last bit that stays. Where the last two bits of all words
// are zero, 2 odd - 2 is as good as odd - 1. Where there is fraction or
// exponent left, it is a bit of the word, w & U. Where there is none, the last
// bit is the end of the regime, 0 above 1 and 1 below; the word's bit is the
// parity of k instead, and what the two differ by goes into the addend. (Words
// are those of numbers times 2^scale(), whose exponents count from an even
// regime.)
//
// Beyond the ends a whole regime becomes the largest or the least posit: U is
// the regime's size, and the addend the distance to the word of that posit,
// less the parity. Zero is in a regime of its own, below all others, and stays.
// The sign is above all carries.

#ifndef NUMERA_NUMERICS_MULTIPLYADD_STEPREGIMES_H
#define NUMERA_NUMERICS_MULTIPLYADD_STEPREGIMES_H

#include "numera/Numerics/MultiplyAdd/Step.h"

namespace numera {

/// Rounds numbers, held times 2^scale(), of regimes -15 to 15, and zero.
struct RegimeRounding {
  using Traits = Carrier<float>;
  static constexpr int32_t regimes = 16;

  PositFormat format;
  /// 2 for numbers of at most 22 bits, which is cheaper; 1 for all.
  uint32_t grain = 1;

  /// The table has room for all regimes, and for those of sums.
  constexpr bool exists() const {
    return Traits::embeds(format) && format.bits <= regimes && format.es <= 2;
  }
  constexpr int32_t scale() const { return origin() - Traits::bias; }
  /// Exponents of numbers, not yet scaled, from low() to below high().
  constexpr int32_t low() const { return -high() + (1 << format.es); }
  constexpr int32_t high() const { return regimes << format.es; }

  /// Which entry of tables a number has.
  constexpr uint32_t indexOf(float x) const {
    return Traits::bits(x) >> (Traits::mantissa + format.es) & 31;
  }
  static constexpr int32_t regimeAt(uint32_t index) {
    return static_cast<int32_t>(index) - regimes;
  }

  constexpr float round(float x) const {
    uint32_t word = Traits::bits(x), index = indexOf(x);
    uint32_t unit =
        lane::lookup(index, [this](uint32_t i) { return unitAt(i); });
    uint32_t addend =
        lane::lookup(index, [this](uint32_t i) { return addendAt(i); });
    uint32_t odd = word & unit;
    odd = odd < grain ? odd : grain;
    return Traits::value((word + addend + odd) & -unit);
  }

private:
  /// The exponent field of 2^0: a multiple of 32 regimes and 16 more, so that
  /// zero's index is 0.
  constexpr int32_t origin() const { return regimes << format.es; }

  /// Bits of fraction; down to -es, of the exponent that are cut.
  constexpr int32_t fractionOf(int32_t regime) const {
    return format.bits - 3 - format.es - (regime < 0 ? ~regime : regime);
  }
  constexpr uint32_t unitAt(uint32_t index) const {
    if (index == 0)
      return 1;
    int32_t fraction = fractionOf(regimeAt(index));
    int32_t bits = fraction > -format.es ? fraction : -format.es;
    return uint32_t{1} << (Traits::mantissa - bits);
  }
  constexpr uint32_t addendAt(uint32_t index) const {
    int32_t regime = regimeAt(index), fraction = fractionOf(regime);
    uint32_t unit = unitAt(index), parity = regime & 1 ? grain : 0;
    if (index == 0)
      return 0;
    if (fraction > -format.es)
      return unit / 2 - grain;
    if (fraction == -format.es)
      return unit / 2 - (regime < 0 ? 0 : grain) - parity;
    int32_t last = format.bits - 2;
    return (regime < 0 ? -last - regime : last - regime) * unit - parity;
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_MULTIPLYADD_STEPREGIMES_H
