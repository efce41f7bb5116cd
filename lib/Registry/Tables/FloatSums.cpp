// SPDX-License-Identifier: MIT
//
// add and sub of floats of 8 bits on bytes. X is the larger magnitude and Y the
// smaller one, as extended codes (FloatBytes.h); W is X with all bits of its
// fraction set, so that W - Y tells by how many binades Y lies below X, and Y's
// fraction. So tables give both significands in units of X's last place, with
// three bits behind it, the last one sticky; and another table gives of their
// sum or difference what is to be added to W: the rounded result's extended
// code. Sums in the subnormal range are exact, and a last table gives the code.
//
// With four bits of fraction a sum does not fit a byte; there two bits behind
// the last place are enough, since nothing is cancelled.
//
// Infinities are 254 and NaN 255, which no other number is.

#include "FloatBytes.h"

#include <algorithm>

using namespace numera;
using Code = ByteProgram::Kind;

namespace {

constexpr uint8_t infinite = 254, notANumber = 255;

class Sums {
public:
  Sums(const FloatFormat &f, OpKind operation, std::span<const uint8_t> results)
      : f(f), codes(f), isDifference(operation == OpKind::Sub),
        results(results) {}

  std::optional<ByteProgram> find() {
    if (!placeOperands())
      return std::nullopt;
    differences = tablesFor(3);
    sums = f.mantissaBits <= 3 ? differences : tablesFor(2);
    if (!fillResults())
      return std::nullopt;
    ByteProgram program = write();
    return program.computes(results) ? std::optional(program) : std::nullopt;
  }

private:
  /// Significands with some bits behind the last place.
  struct Tables {
    ByteProgram::Table larger, smaller;
    ByteProgram::Table toW; ///< by a sum of them
    bool operator==(const Tables &) const = default;
  };

  bool placeOperands();
  Tables tablesFor(int guards) const;
  /// What a sum of significands adds to W.
  uint8_t addedToW(int sum, int guards) const;
  bool fillResults();
  ByteProgram write() const;

  int one() const { return codes.one(); }
  /// The largest distance W - Y that is told from larger ones.
  unsigned farthest() const { return f.mantissaBits <= 3 ? 63 : 127; }

  FloatFormat f;
  ExtendedCodes codes;
  bool isDifference;
  std::span<const uint8_t> results;
  ByteProgram::Table place = ByteProgram::Table(ExtendedCodes::count);
  bool zeroIsFar = true; ///< from any number, by farthest()
  Tables sums, differences;
  ByteProgram::Table codeOf = ByteProgram::Table(256);
};

} // namespace

bool Sums::placeOperands() {
  int last = one() - 1;
  // Multiples of 2^M keep fractions in their bits; one binade of room below
  // for W of zero.
  int offset = (static_cast<int>(farthest()) & ~last) + one() - codes.least();
  zeroIsFar = codes.most() + offset + 2 * one() < infinite;
  if (!zeroIsFar)
    offset = one() - codes.least();
  if (codes.most() + offset + 2 * one() >= infinite || (offset & last) != 0)
    return false;
  for (unsigned code = 0; code < ExtendedCodes::count; ++code)
    place[code] = code == 0 ? 0
                  : codes.isFinite(code)
                      ? static_cast<uint8_t>(codes.of(code) + offset)
                  : codes.isInfinite(code) ? infinite
                                           : notANumber;
  return true;
}

uint8_t Sums::addedToW(int sum, int guards) const {
  int bits = f.mantissaBits, last = one() - 1;
  if (sum == 0)
    return 0;
  int top = 31 - __builtin_clz(static_cast<unsigned>(sum)), rounded = 0;
  if (top <= bits) {
    rounded = sum << (bits - top);
  } else {
    int cut = top - bits, kept = sum >> cut, rest = sum & ((1 << cut) - 1);
    rounded = kept + (2 * rest + (kept & 1) > 1 << cut);
  }
  return static_cast<uint8_t>((top - bits - guards) * one() + rounded - one() -
                              last);
}

Sums::Tables Sums::tablesFor(int guards) const {
  Tables tables;
  unsigned last = static_cast<unsigned>(one()) - 1;
  for (unsigned x = 0; x < 64; ++x)
    tables.larger.push_back(
        static_cast<uint8_t>((one() + (x & last)) << guards));
  for (unsigned z = 0; z <= farthest(); ++z) {
    unsigned binades = z >> f.mantissaBits, fraction = last - (z & last);
    unsigned whole = (static_cast<unsigned>(one()) + fraction) << guards;
    unsigned cut = whole >> binades;
    tables.smaller.push_back(
        static_cast<uint8_t>(cut | (cut << binades != whole)));
  }
  tables.smaller[farthest()] = 0;
  for (int sum = 0; sum < 256; ++sum)
    tables.toW.push_back(addedToW(sum, guards));
  return tables;
}

bool Sums::fillResults() {
  std::vector<int> found(256, -1);
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned b = 0; b < 256; ++b) {
      uint8_t p = place[a & 0x7f], q = place[b & 0x7f];
      unsigned x = std::max(p, q), y = std::min(p, q);
      bool isOpposite = ((a ^ b) >> 7 != 0) != isDifference;
      if (x >= infinite || (isOpposite && x == y))
        continue;
      unsigned last = static_cast<unsigned>(one()) - 1, w = x | last;
      const Tables &tables = isOpposite ? differences : sums;
      unsigned larger = tables.larger[x & 63];
      unsigned smaller = y == 0 && !zeroIsFar
                             ? 0
                             : tables.smaller[std::min(w - y, farthest())];
      unsigned sum = isOpposite ? larger - smaller : larger + smaller;
      auto at = static_cast<uint8_t>(w + tables.toW[sum & 255]);
      int result = results[256 * a + b] & 0x7f;
      if (found[at] >= 0 && found[at] != result)
        return false;
      found[at] = result;
    }
  for (unsigned at = 0; at < 256; ++at)
    codeOf[at] = static_cast<uint8_t>(std::max(found[at], 0));
  return true;
}

ByteProgram Sums::write() const {
  ByteProgram p;
  auto operate = [&](Code kind, auto x, auto y) {
    return p.operate(kind, x, y);
  };
  auto a = p.operand(0), b = p.operand(1), sign = p.constant(0x80);
  if (isDifference)
    b = operate(Code::Xor, b, sign);
  auto first = p.lookup(a, place), second = p.lookup(b, place);
  auto x = operate(Code::Max, first, second);
  auto y = operate(Code::Min, first, second);
  auto w = operate(Code::Or, x, p.constant(static_cast<unsigned>(one()) - 1));
  auto z = operate(Code::Min, operate(Code::Sub, w, y), p.constant(farthest()));
  auto change = operate(Code::Xor, a, b);
  auto isOpposite = p.operate(Code::Negative, change);
  auto zero = p.constant(0);
  auto smallerOf = [&](const Tables &tables) {
    auto smaller = p.lookup(z, tables.smaller);
    return zeroIsFar ? smaller
                     : p.select(operate(Code::Equal, y, zero), zero, smaller);
  };
  auto larger = p.lookup(x, differences.larger);
  auto smaller = smallerOf(differences);
  auto difference = operate(Code::Sub, larger, smaller), toW = difference;
  if (sums == differences) {
    toW = p.lookup(
        p.select(isOpposite, difference, operate(Code::Add, larger, smaller)),
        sums.toW);
  } else {
    auto sum = operate(Code::Add, p.lookup(x, sums.larger), smallerOf(sums));
    toW = p.select(isOpposite, p.lookup(difference, differences.toW),
                   p.lookup(sum, sums.toW));
  }
  auto magnitude = p.lookup(operate(Code::Add, w, toW), codeOf);
  if (f.hasInfinity())
    magnitude = p.select(operate(Code::Equal, x, p.constant(infinite)),
                         p.constant(static_cast<unsigned>(f.codeOfInfinite())),
                         magnitude);
  auto ofLarger = p.select(operate(Code::Below, first, second), b, a);
  auto result =
      operate(Code::Or, magnitude, operate(Code::And, ofLarger, sign));
  // x - x is +0, and of infinities NaN.
  auto isNothing = operate(Code::Equal, change, sign);
  result = p.select(isNothing, zero, result);
  if (f.hasInfinity())
    x = p.select(isNothing, operate(Code::Or, x, p.constant(1)), x);
  if (!f.hasNaN())
    return p;
  auto nan = p.constant(codes.nan());
  auto isNaN = p.operate(Code::Equal, x, p.constant(notANumber));
  if (f.codeOfOverflow() == f.nanCode())
    isNaN =
        p.operate(Code::Either, isNaN, p.operate(Code::Equal, magnitude, nan));
  p.select(isNaN, nan, result);
  return p;
}

bool numera::hasBytePrograms(const FloatFormat &f) {
  return f.width() == 8 && f.isSigned && f.hasSubnormals &&
         f.hasNegativeZero() && f.mantissaBits > 0 && f.mantissaBits <= 4 &&
         f.maxCode() >> f.mantissaBits != 0;
}

std::optional<ByteProgram>
numera::sumOnBytes(const FloatFormat &f, OpKind operation,
                   std::span<const uint8_t> results) {
  return Sums(f, operation, results).find();
}
