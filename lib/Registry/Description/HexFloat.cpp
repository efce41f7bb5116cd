// SPDX-License-Identifier: MIT

#include "numera/Registry/Description/HexFloat.h"

using namespace numera;

std::string numera::printHexFloat(const Unpacked &value) {
  if (value.isNaN())
    return "nan";
  std::string text = value.negative ? "-" : "";
  if (value.isInfinite())
    return text + "inf";
  if (value.isZero())
    return text + "0x0p+0";
  // The leading one stands alone before the point; four bits make a digit.
  uint128_t fraction = value.wide() << 1;
  if (value.sticky) // three bits that are no whole digit
    fraction = fraction >> 36 << 36;
  text += "0x1";
  if (fraction)
    text += '.';
  for (; fraction; fraction <<= 4)
    text += "0123456789abcdef"[static_cast<unsigned>(fraction >> 124)];
  text += value.exponent < 0 ? "p" : "p+";
  return text + std::to_string(value.exponent) + (value.sticky ? "…" : "");
}

std::string numera::printNearestHexFloat(const Unpacked &value) {
  if (!value.isFinite() || !value.sticky)
    return printHexFloat(value);
  uint128_t significand = value.wide() >> 75;
  Remainder rest = Remainder::of(value.wide() << 53, value.sticky);
  significand +=
      roundsUp(Rounding::NearestEven, false, (significand & 1) != 0, rest);
  return printHexFloat(Unpacked::fromWide(value.negative, significand,
                                          value.exponent - 52, false));
}
