// SPDX-License-Identifier: MIT
//
// Where operands come from if there are too many to take them all: the
// boundaries of a format, ties, and random codes of every region.

#ifndef NUMERA_TEST_UNIT_SAMPLER_H
#define NUMERA_TEST_UNIT_SAMPLER_H

#include "numera/Numerics/Core/Unpacked.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace numera::test {

/// Codes of which every region has its share: uniform ones, ones with few
/// significant bits, neighbours of the ends of the range and of powers of two,
/// and pairs that lie close to each other.
class Sampler {
public:
  Sampler(int width, uint64_t seed) : width(width), engine(seed) {}
  uint64_t code();
  uint64_t codeNear(uint64_t other);
  std::mt19937_64 &random() { return engine; }

private:
  uint64_t mask() const { return ~uint64_t{0} >> (64 - width); }
  int width;
  std::mt19937_64 engine;
};

/// Codes with one run of ones, in both signs: zeros, the least and largest
/// values, infinities, NaN, one, powers of two.
std::vector<uint64_t> runsOfOnes(int width);

/// The codes where something changes: zero, the least and the largest number,
/// the end of the subnormal ones, powers of two, each with its neighbours, in
/// both signs; specials; runs of ones. Powers within `reach` of these and of 1.
template <typename F>
std::vector<uint64_t> boundaryCodes(const F &f, int32_t reach) {
  std::vector<uint64_t> codes = runsOfOnes(std::min(f.width(), 16));
  auto take = [&](uint64_t code) {
    for (uint64_t delta : {-2, -1, 0, 1, 2}) {
      codes.push_back((code + delta) & f.mask());
      codes.push_back((f.negate(code) + delta) & f.mask());
    }
  };
  take(0);
  take(f.maxCode());
  take(f.nanCode());
  int32_t least = f.leastExponent(), most = f.maxExponent();
  int32_t normal = std::min(least + f.precision() - 1, most);
  for (int32_t center : {least, normal, 0, most})
    for (int32_t e = center - reach; e <= center + reach; ++e)
      if (e >= least && e <= most)
        take(
            f.encode(Unpacked::fromInteger(false, 1, e), Rounding::TowardZero));
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  return codes;
}

/// Two numbers whose product has just one bit more than the format's
/// precision: a tie, unless it is subnormal or in a posit's short regions.
template <typename F>
std::pair<uint64_t, uint64_t> tieOfProduct(const F &f, Sampler &sampler) {
  auto odd = [&](int32_t bits) {
    uint64_t low = sampler.random()() >> (64 - bits);
    return low | 1 | uint64_t{1} << (bits - 1);
  };
  int32_t range = std::max((f.maxExponent() - f.leastExponent()) / 8, 1);
  auto scale = [&] {
    return static_cast<int32_t>(sampler.random()() % (2u * range + 1)) - range;
  };
  int32_t p = f.precision();
  int32_t bits = 1 + static_cast<int32_t>(sampler.random()() % p);
  uint64_t a = odd(bits), b = odd(p + 1 - bits);
  bool negative = (sampler.random()() & 1) != 0;
  return {
      f.encode(Unpacked::fromInteger(negative, a, scale()),
               Rounding::TowardZero),
      f.encode(Unpacked::fromInteger(false, b, scale()), Rounding::TowardZero)};
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_SAMPLER_H
