// SPDX-License-Identifier: MIT

#include "numera/Registry/Description/Decimal.h"

#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Formats/Number.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace numera;

/// magnitude * 2^scale, in digits.
static DecimalDigits convert(uint128_t magnitude, int32_t scale) {
  for (; (magnitude & 1) == 0; magnitude >>= 1)
    ++scale;
  // n / 2^k = n * 5^k / 10^k, and 5^k has less than 7 k / 3 + 1 bits.
  auto count = unsigned(std::abs(scale));
  unsigned width = 129 + (scale < 0 ? 7 * count / 3 : count);
  llvm::APInt number(width, {uint64_t(magnitude), uint64_t(magnitude >> 64)});
  if (scale < 0)
    number *= llvm::APIntOps::pow(llvm::APInt(width, 5), count);
  else
    number <<= count;
  llvm::SmallString<64> text;
  number.toStringUnsigned(text);
  std::string digits(text);
  int32_t exponent = int32_t(digits.size()) - 1 + std::min(scale, 0);
  digits.resize(digits.find_last_not_of('0') + 1);
  return {digits, exponent};
}

DecimalDigits numera::digitsOf(const Unpacked &value) {
  if (!value.isFinite())
    return {};
  uint128_t magnitude = value.wide() >> 32;
  int32_t scale = value.exponent - 95;
  DecimalDigits exact = convert(magnitude, scale);
  if (!value.sticky)
    return exact;
  // What the bits and one more in the last place agree on is settled.
  DecimalDigits above = convert(magnitude + 1, scale);
  auto ends = std::mismatch(exact.digits.begin(), exact.digits.end(),
                            above.digits.begin(), above.digits.end());
  if (exact.exponent == above.exponent)
    exact.digits.erase(ends.first, exact.digits.end());
  return exact;
}

DecimalDigits numera::roundDigits(const DecimalDigits &exact, size_t count) {
  if (exact.digits.size() <= count)
    return exact;
  DecimalDigits rounded = {exact.digits.substr(0, count), exact.exponent};
  llvm::StringRef rest = llvm::StringRef(exact.digits).drop_front(count);
  bool isTie = rest == "5", isOdd = (rounded.digits.back() - '0') % 2 != 0;
  if (rest.front() >= '5' && (!isTie || isOdd)) {
    size_t last = rounded.digits.find_last_not_of('9');
    if (last == std::string::npos) {
      rounded.digits = "1";
      ++rounded.exponent;
    } else {
      rounded.digits.resize(last + 1);
      ++rounded.digits[last];
    }
  }
  rounded.digits.resize(rounded.digits.find_last_not_of('0') + 1);
  return rounded;
}

/// Where C's %g changes to an exponent for small numbers; large ones stay
/// whole for longer, since integers are exact here.
static std::string write(bool negative, const DecimalDigits &number,
                         int32_t largest = 20) {
  std::string text = negative ? "-" : "";
  const std::string &digits = number.digits;
  int32_t exponent = number.exponent;
  if (exponent >= -4 && exponent < 0)
    return text + "0." + std::string(size_t(-1 - exponent), '0') + digits;
  if (exponent < -4 || exponent > largest) {
    text += digits[0];
    if (digits.size() > 1)
      text += "." + digits.substr(1);
    text += exponent < 0 ? "e-" : "e+";
    std::string magnitude = std::to_string(std::abs(exponent));
    return text + (magnitude.size() < 2 ? "0" : "") + magnitude;
  }
  auto whole = size_t(exponent) + 1;
  if (digits.size() <= whole)
    return text + digits + std::string(whole - digits.size(), '0');
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

/// What has no digits, in words; empty for other values.
static std::string word(const Unpacked &value) {
  if (value.isNaN())
    return "nan";
  std::string sign = value.negative ? "-" : "";
  return value.isInfinite() ? sign + "inf" : value.isZero() ? sign + "0" : "";
}

std::string numera::printDecimal(const Unpacked &value) {
  if (!value.isFinite())
    return word(value);
  return write(value.negative, digitsOf(value)) + (value.sticky ? "…" : "");
}

std::string numera::printRounded(const Unpacked &value, size_t count) {
  if (!value.isFinite())
    return word(value);
  DecimalDigits exact = digitsOf(value);
  std::string text = write(value.negative, exact);
  constexpr size_t column = 20;
  if (text.size() <= column && !value.sticky)
    return text;
  // No zeros that might be digits.
  return write(value.negative, roundDigits(exact, count), int32_t(count) - 1);
}

std::string numera::printShortest(const Format &format, uint64_t code) {
  const FormatFamily &family = format.getFamily();
  Unpacked value = family.decode(format, code);
  if (!value.isFinite())
    return word(value);
  DecimalDigits exact = digitsOf(value);
  // As an expression rounds what it is given (R8).
  Rounding rounding = format.getRounding() == Rounding::Stochastic
                          ? Rounding::NearestEven
                          : format.getRounding();
  for (size_t count = 1; count < exact.digits.size(); ++count) {
    std::string text = write(value.negative, roundDigits(exact, count));
    Unpacked read = *parseNumber(text);
    if (family.encode(format, read, rounding) == code)
      return text;
  }
  return write(value.negative, exact);
}
