// SPDX-License-Identifier: MIT

#include "HexFloat.h"

#include <cmath>
#include <cstdio>

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
  uint64_t fraction = value.significand << 1;
  text += "0x1";
  if (fraction)
    text += '.';
  for (; fraction; fraction <<= 4)
    text += "0123456789abcdef"[fraction >> 60];
  text += value.exponent < 0 ? "p" : "p+";
  return text + std::to_string(value.exponent);
}

std::string numera::printDecimal(const Unpacked &value) {
  if (!value.isFinite() || value.exponent < -1022 || value.exponent > 1023)
    return value.isZero() ? "0" : "";
  double magnitude = std::ldexp(double(value.significand), value.exponent - 63);
  char text[32];
  std::snprintf(text, sizeof text, "%.6g",
                value.negative ? -magnitude : magnitude);
  return text;
}
