// SPDX-License-Identifier: MIT
//
// mul and div of floats of 8 bits on bytes. With x and y as extended codes
// (FloatBytes.h) and m their fractions,
//
//   x * y   is the extended code   x + y - bias * 2^M + tail(m_x, m_y)
//   x / y                          x - y + bias * 2^M + tail(m_x, m_y)
//
// rounded to a normal number: the tail is what the significands' product or
// quotient has more than the sum of their fractions. Two tables, `left` and
// `right`, put x and y so that one difference gives the sum but for the tail,
// and 0 for all that is too small; their low bits still tell the fractions. A
// subnormal result is looked up, by the sum with the tail cut off and one bit
// for what was cut off: enough, since it loses one bit at least.
//
// What has an operand that is no number is marked by 255 and looked up apart.

#include "FloatBytes.h"

#include <algorithm>

using namespace numera;
using Code = ByteProgram::Kind;

namespace {

constexpr uint8_t special = 255;

/// The significands' part of a result: how far it goes beyond the fractions.
struct Tail {
  int cut, nearest;
  bool isInexact;
};

class Products {
public:
  Products(const FloatFormat &f, OpKind operation,
           std::span<const uint8_t> results)
      : f(f), codes(f), isQuotient(operation == OpKind::Div), results(results) {
  }

  std::optional<ByteProgram> find() {
    if (!placeOperands())
      return std::nullopt;
    fillTails();
    fillSpecials();
    for (bool isRounded : {false, true}) {
      measuresRounded = isRounded;
      if (!findNormal() || !fillSubnormal())
        continue;
      if (ByteProgram program = write(); program.computes(results))
        return program;
    }
    return std::nullopt;
  }

private:
  Tail tailOf(int x, int y) const;
  bool placeOperands();
  void fillTails();
  void fillSpecials();
  bool findNormal();
  bool fillSubnormal();
  ByteProgram write() const;
  ByteProgram::Value writeSpecial(ByteProgram &program) const;

  int one() const { return codes.one(); }
  uint8_t magnitude(unsigned x, unsigned y) const {
    return results[256 * x + y] & 0x7f;
  }
  bool isOrdinary(unsigned x, unsigned y) const {
    return left[x] != special && right[y] != special;
  }
  /// The sum without a tail.
  unsigned sumOf(unsigned x, unsigned y) const {
    return left[x] > right[y] ? left[x] - right[y] : 0u;
  }
  /// Where the tail of two codes is.
  unsigned place(unsigned x, unsigned y) const {
    unsigned fraction = static_cast<unsigned>(one()) - 1;
    return ((left[x] << f.mantissaBits) | (right[y] & fraction)) &
           (tailPlaces() - 1);
  }
  unsigned tailPlaces() const { return f.mantissaBits <= 3 ? 64 : 256; }
  unsigned roundedOf(unsigned x, unsigned y) const {
    return sumOf(x, y) + nearestTails[place(x, y)];
  }
  /// What tells subnormal results from normal ones. The sum alone costs
  /// nothing, but is not always enough.
  unsigned measureOf(unsigned x, unsigned y) const {
    return measuresRounded ? roundedOf(x, y) : sumOf(x, y);
  }
  unsigned overflowing() const {
    return static_cast<unsigned>(f.codeOfOverflow());
  }
  template <typename Use> void forPairs(bool areOrdinary, Use use) const {
    for (unsigned x = 0; x < ExtendedCodes::count; ++x)
      for (unsigned y = 0; y < ExtendedCodes::count; ++y)
        if (isOrdinary(x, y) == areOrdinary)
          use(x, y);
  }

  FloatFormat f;
  ExtendedCodes codes;
  bool isQuotient;
  std::span<const uint8_t> results;
  ByteProgram::Table left = ByteProgram::Table(ExtendedCodes::count);
  ByteProgram::Table right = ByteProgram::Table(ExtendedCodes::count);
  int toLeft = 0, toRight = 0; ///< from extended codes
  int offset = 0, origin = 0;  ///< of sums, without and with tails
  ByteProgram::Table nearestTails, cutTails, subnormal;
  bool measuresRounded = false;
  unsigned firstNormal = 0; ///< the least measure of normal results
  /// Results with special operands, by their classes; one if all are the same.
  ByteProgram::Table specials;
  ByteProgram::Table leftClasses = ByteProgram::Table(ExtendedCodes::count);
  ByteProgram::Table rightClasses = ByteProgram::Table(ExtendedCodes::count);
};

} // namespace

Tail Products::tailOf(int x, int y) const {
  int numerator = one() + x, denominator = 1, carried = 0;
  if (isQuotient) {
    carried = x < y ? -1 : 0;
    numerator <<= f.mantissaBits - carried;
    denominator = one() + y;
  } else {
    numerator *= one() + y;
    carried = numerator >= 2 * one() * one() ? 1 : 0;
    denominator = one() << carried;
  }
  int quotient = numerator / denominator, rest = numerator % denominator;
  int cut = (carried - 1) * one() + quotient - (isQuotient ? x - y : x + y);
  bool isUp = 2 * rest + (quotient & 1) > denominator;
  return {cut, cut + isUp, rest != 0};
}

bool Products::placeOperands() {
  int bias = f.bias * one(), mostTail = 0;
  for (int x = 0; x < one(); ++x)
    for (int y = 0; y < one(); ++y)
      mostTail = std::max(mostTail, tailOf(x, y).cut);
  // Half of the least number is the extended code -M 2^M. What does not reach
  // it with any tail becomes 0.
  offset = f.mantissaBits * one() + mostTail + 1;
  toRight = isQuotient ? -codes.least() : codes.most();
  toLeft = offset + toRight + (isQuotient ? bias : -bias);
  for (unsigned code = 0; code < ExtendedCodes::count; ++code) {
    left[code] = right[code] = special;
    if (!codes.isFinite(code))
      continue;
    if (code == 0) {
      left[code] = 0;
      right[code] = isQuotient ? special : special - 1;
      continue;
    }
    int extended = codes.of(code), x = extended + toLeft;
    int y = toRight + (isQuotient ? extended : -extended);
    if (x <= 0 || x >= special || y < 0 || y >= special - 1)
      return false;
    left[code] = static_cast<uint8_t>(x);
    right[code] = static_cast<uint8_t>(y);
  }
  return true;
}

void Products::fillTails() {
  std::vector<Tail> tails;
  int leastCut = one(), leastNearest = one();
  for (unsigned at = 0; at < tailPlaces(); ++at) {
    int x = (static_cast<int>(at) >> f.mantissaBits) - toLeft;
    int y = static_cast<int>(at) - toRight, last = one() - 1;
    tails.push_back(tailOf(x & last, (isQuotient ? y : -y) & last));
    leastCut = std::min(leastCut, tails.back().cut);
    leastNearest = std::min(leastNearest, tails.back().nearest);
  }
  origin = offset - leastNearest;
  for (const Tail &tail : tails) {
    nearestTails.push_back(static_cast<uint8_t>(tail.nearest - leastNearest));
    cutTails.push_back(
        static_cast<uint8_t>(2 * (tail.cut - leastCut) + tail.isInexact));
  }
}

void Products::fillSpecials() {
  enum : uint8_t { Number, Zero, Infinite, NaN };
  for (unsigned code = 0; code < ExtendedCodes::count; ++code) {
    uint8_t kind = code == 0                ? Zero
                   : codes.isFinite(code)   ? Number
                   : codes.isInfinite(code) ? Infinite
                                            : NaN;
    leftClasses[code] = static_cast<uint8_t>(kind << 2);
    rightClasses[code] = kind;
  }
  specials.assign(64, 0);
  bool isSame = true;
  int first = -1;
  forPairs(false, [&](unsigned x, unsigned y) {
    int result = magnitude(x, y);
    specials[leftClasses[x] | rightClasses[y]] = static_cast<uint8_t>(result);
    first = first < 0 ? result : first;
    isSame &= first == result;
  });
  if (isSame)
    specials.assign(1, static_cast<uint8_t>(first));
}

/// False where sums grow so large that subnormal results have no room.
bool Products::findNormal() {
  firstNormal = 0;
  forPairs(true, [&](unsigned x, unsigned y) {
    int code = static_cast<int>(roundedOf(x, y)) - origin;
    if (std::min(code, static_cast<int>(overflowing())) != magnitude(x, y))
      firstNormal = std::max(firstNormal, measureOf(x, y) + 1);
  });
  return firstNormal < 128;
}

bool Products::fillSubnormal() {
  std::vector<int> found(512, -1);
  size_t size = 1;
  bool isUnique = true;
  forPairs(true, [&](unsigned x, unsigned y) {
    if (measureOf(x, y) >= firstNormal)
      return;
    unsigned at = 2 * sumOf(x, y) + cutTails[place(x, y)];
    int result = magnitude(x, y);
    isUnique &= found[at] < 0 || found[at] == result;
    found[at] = result;
    size = std::max<size_t>(size, at + 1);
  });
  if (!isUnique || size > 256)
    return false;
  subnormal.assign(size <= 64 ? 64 : size <= 128 ? 128 : 256, 0);
  for (size_t at = 0; at < size; ++at)
    subnormal[at] = static_cast<uint8_t>(std::max(found[at], 0));
  return true;
}

ByteProgram::Value Products::writeSpecial(ByteProgram &p) const {
  if (specials.size() == 1)
    return p.constant(specials[0]);
  auto left = p.lookup(p.operand(0), leftClasses);
  auto right = p.lookup(p.operand(1), rightClasses);
  return p.lookup(p.operate(Code::Or, left, right), specials);
}

ByteProgram Products::write() const {
  ByteProgram p;
  auto x = p.operand(0), y = p.operand(1);
  auto l = p.lookup(x, left), r = p.lookup(y, right);
  auto sum = p.operate(Code::SubFloor, l, r);
  auto fraction = p.constant(static_cast<unsigned>(one()) - 1);
  auto at =
      p.operate(Code::Or, p.shift(l, static_cast<unsigned>(f.mantissaBits)),
                p.operate(Code::And, r, fraction));
  // Where sums are compared, the origin is taken off the tails already.
  ByteProgram::Table tails = nearestTails;
  for (uint8_t &tail : tails)
    tail = static_cast<uint8_t>(tail - (measuresRounded ? 0 : origin));
  auto rounded = p.operate(Code::Add, sum, p.lookup(at, tails));
  auto code = rounded;
  if (measuresRounded)
    code = p.operate(Code::Sub, rounded,
                     p.constant(static_cast<unsigned>(origin)));
  auto normal = p.operate(Code::Min, code, p.constant(overflowing()));
  auto small = p.lookup(p.operate(Code::Add, p.operate(Code::Add, sum, sum),
                                  p.lookup(at, cutTails)),
                        subnormal);
  auto isSmall = p.operate(Code::Below, measuresRounded ? rounded : sum,
                           p.constant(firstNormal));
  auto result = p.select(isSmall, small, normal);

  auto sign =
      p.operate(Code::And, p.operate(Code::Xor, x, y), p.constant(0x80));
  auto isSpecial =
      p.operate(Code::Equal, p.operate(Code::Max, l, r), p.constant(special));
  auto other = writeSpecial(p);
  unsigned nan = codes.nan();
  bool isOnlyNaN = f.hasNaN() && specials.size() == 1 && specials[0] == nan;
  // NaN has no sign.
  if (isOnlyNaN && overflowing() != nan) {
    p.select(isSpecial, other, p.operate(Code::Or, result, sign));
    return p;
  }
  result = p.select(isSpecial, other, result);
  auto withSign = p.operate(Code::Or, result, sign);
  if (f.hasNaN())
    p.select(p.operate(Code::Below, result, p.constant(nan)), withSign, result);
  return p;
}

std::optional<ByteProgram>
numera::productOnBytes(const FloatFormat &f, OpKind operation,
                       std::span<const uint8_t> results) {
  return Products(f, operation, results).find();
}
