// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/Number.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <string>

using namespace numera;
using llvm::APInt;
using llvm::StringRef;

namespace {

/// The parts of a literal, as text; the exponent is of 10, or of 2 behind `0x`.
struct Literal {
  bool isHex = false;
  StringRef integer, fraction;
  int64_t exponent = 0;
  size_t length = 0; ///< 0: none
};

} // namespace

/// Digits behind `e` or `p`, with a sign or without; nothing is consumed if
/// there are none. What no format reaches is cut short.
static int64_t takeExponent(StringRef &rest, char letter) {
  StringRef text = rest;
  if (text.empty() || llvm::toLower(text.front()) != letter)
    return 0;
  text = text.drop_front();
  bool negative = text.starts_with("-");
  if (negative || text.starts_with("+"))
    text = text.drop_front();
  StringRef digits = text.take_while(llvm::isDigit);
  if (digits.empty())
    return 0;
  rest = text.drop_front(digits.size());
  int64_t exponent = 0;
  for (char c : digits)
    exponent = std::min<int64_t>(exponent * 10 + (c - '0'), 1000000000);
  return negative ? -exponent : exponent;
}

static Literal scan(StringRef text) {
  Literal literal;
  StringRef rest = text;
  literal.isHex = rest.consume_front_insensitive("0x");
  auto isDigit = [&](char c) {
    return literal.isHex ? llvm::isHexDigit(c) : llvm::isDigit(c);
  };
  literal.integer = rest.take_while(isDigit);
  rest = rest.drop_front(literal.integer.size());
  if (rest.consume_front(".")) {
    literal.fraction = rest.take_while(isDigit);
    rest = rest.drop_front(literal.fraction.size());
  }
  if (literal.integer.empty() && literal.fraction.empty())
    return {};
  literal.exponent = takeExponent(rest, literal.isHex ? 'p' : 'e');
  literal.length = text.size() - rest.size();
  return literal;
}

/// (magnitude + rest) * 2^scale, 0 < rest < 1 if `sticky`.
static Unpacked unpack(const APInt &magnitude, int64_t scale, bool sticky) {
  unsigned bits = magnitude.getActiveBits();
  unsigned cut = bits > 128 ? bits - 128 : 0;
  sticky |= magnitude.countr_zero() < cut;
  APInt top = magnitude.lshr(cut).zextOrTrunc(128);
  uint128_t wide = static_cast<uint128_t>(top.extractBitsAsZExtValue(64, 64))
                       << 64 |
                   top.extractBitsAsZExtValue(64, 0);
  // Within the 28 bits of an exponent, and out of any format's reach.
  scale = std::clamp<int64_t>(scale + cut, -(1 << 24), 1 << 24);
  return Unpacked::fromWide(false, wide, static_cast<int32_t>(scale), sticky);
}

static Unpacked outOfReach(bool isHuge) {
  return {.kind = Kind::Finite,
          .sticky = true,
          .exponent = isHuge ? 1 << 20 : -(1 << 20),
          .significand = uint64_t{1} << 63};
}

/// 10 is less than 2^(10/3).
static unsigned bitsOfDigits(uint64_t count) {
  return unsigned(count * 10 / 3 + 8);
}

static APInt powerOfTen(uint64_t exponent) {
  unsigned width = bitsOfDigits(exponent);
  if (exponent == 0)
    return APInt(width, 1);
  APInt power = powerOfTen(exponent / 2).zext(width);
  power *= power;
  if (exponent & 1)
    power *= 10;
  return power;
}

/// By halves: digit by digit takes seconds for a hundred thousand.
static APInt integerOf(StringRef digits) {
  unsigned width = bitsOfDigits(digits.size());
  if (digits.size() <= 64)
    return APInt(width, digits, 10);
  size_t low = digits.size() / 2;
  APInt high = integerOf(digits.drop_back(low)).zext(width);
  return high * powerOfTen(low).zext(width) +
         integerOf(digits.take_back(low)).zext(width);
}

static Unpacked hexValue(StringRef digits, int64_t scale) {
  StringRef top = digits.take_front(32), rest = digits.drop_front(top.size());
  bool sticky = rest.find_first_not_of('0') != StringRef::npos;
  return unpack(APInt(128, top, 16), scale + 4 * int64_t(rest.size()), sticky);
}

static Unpacked decimalValue(StringRef digits, int64_t exponent) {
  if (int64_t(digits.size()) + exponent > 100000)
    return outOfReach(/*isHuge=*/true);
  if (int64_t(digits.size()) + exponent < -100000)
    return outOfReach(/*isHuge=*/false);
  // A value halfway between two of a format has fewer digits than that, so that
  // whether anything follows decides.
  constexpr size_t most = 150000;
  bool sticky = digits.size() > most;
  if (sticky) {
    exponent += int64_t(digits.size() - most);
    digits = digits.take_front(most);
  }
  APInt integer = integerOf(digits);
  unsigned digitBits = integer.getBitWidth();
  if (exponent >= 0) {
    APInt power = powerOfTen(uint64_t(exponent));
    unsigned width = digitBits + power.getBitWidth();
    return unpack(integer.zext(width) * power.zext(width), 0, sticky);
  }
  // A quotient of 128 bits or more, and a remainder that makes it sticky.
  APInt power = powerOfTen(uint64_t(-exponent));
  unsigned enough = power.getActiveBits() + 128, has = integer.getActiveBits();
  unsigned shift = has < enough ? enough - has : 0;
  unsigned width = std::max(digitBits + shift, power.getBitWidth());
  APInt quotient, remainder;
  APInt::udivrem(integer.zext(width) << shift, power.zext(width), quotient,
                 remainder);
  return unpack(quotient, -int64_t(shift), sticky || !remainder.isZero());
}

size_t numera::lengthOfNumber(StringRef text) { return scan(text).length; }

std::optional<Unpacked> numera::parseNumber(StringRef text) {
  bool negative = text.consume_front("-");
  Literal literal = scan(text);
  if (literal.length == 0 || literal.length != text.size())
    return std::nullopt;
  std::string all = (literal.integer + literal.fraction).str();
  StringRef digits = StringRef(all).ltrim('0');
  int64_t places = int64_t(literal.fraction.size());
  if (digits.empty())
    return Unpacked::zero(negative);
  Unpacked value;
  if (literal.isHex) {
    value = hexValue(digits, literal.exponent - 4 * places);
  } else {
    StringRef significant = digits.rtrim('0');
    value = decimalValue(significant,
                         literal.exponent - places +
                             int64_t(digits.size() - significant.size()));
  }
  value.negative = negative;
  return value;
}
