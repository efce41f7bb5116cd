// SPDX-License-Identifier: MIT
//
// The random bits of stochastic rounding, by a counter-based generator: a draw
// is a function of its position in the program and in the data, and of nothing
// else. Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
//
// A draw of N bits for (seed, step, id, sample, index):
//
//   key    K, the first two words of philox(key seed, counter (step, 0, 0));
//   fields of w = 8, 16 or 32 bits, the least that holds N: a block of 128
//          bits has n = 128 / w of them;
//   place  indices go in groups of 16 n, which share 16 consecutive blocks:
//
//            index = 16 n · group + 16 · field + lane
//            block = 16 · group + lane
//
//   draw   the low N bits of bits [w · field, w · field + w) of
//          philox(key K, counter (block, id, sample)), word 0 lowest.
//
// A vector of 16 lanes thus uses every bit of 16 blocks without a shuffle.
// 64-bit numbers go into two words, the low one first; `sample` is cut to 32.

#ifndef NUMERA_NUMERICS_RANDOM_RANDOM_H
#define NUMERA_NUMERICS_RANDOM_RANDOM_H

#include <stdint.h>

namespace numera {

/// Four words: a counter of Philox, or its result.
struct RandomBlock {
  uint32_t word[4];
  bool operator==(const RandomBlock &) const = default;
};

struct RandomKey {
  uint32_t low, high;
};

/// Philox4x32-10.
constexpr RandomBlock philox(RandomKey key, RandomBlock x) {
  constexpr uint32_t multipliers[] = {0xd2511f53, 0xcd9e8d57};
  constexpr RandomKey weyl = {0x9e3779b9, 0xbb67ae85};
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t{multipliers[0]} * x.word[0];
    uint64_t second = uint64_t{multipliers[1]} * x.word[2];
    x = {{static_cast<uint32_t>(second >> 32) ^ x.word[1] ^ key.low,
          static_cast<uint32_t>(second),
          static_cast<uint32_t>(first >> 32) ^ x.word[3] ^ key.high,
          static_cast<uint32_t>(first)}};
    key = {key.low + weyl.low, key.high + weyl.high};
  }
  return x;
}

/// K, the key that all draws of a call of the program share.
constexpr RandomKey randomKey(uint64_t seed, uint64_t step) {
  RandomBlock words = philox(
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
      {{static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32), 0, 0}});
  return {words.word[0], words.word[1]};
}

/// `bits` random bits, 1 to 32.
constexpr uint32_t draw(RandomKey key, uint32_t id, uint64_t sample,
                        uint64_t index, int32_t bits) {
  uint32_t width = bits <= 8 ? 8 : bits <= 16 ? 16 : 32;
  uint32_t groupSize = 16 * (128 / width);
  uint64_t group = index / groupSize;
  auto inGroup = static_cast<uint32_t>(index % groupSize);
  uint64_t block = 16 * group + inGroup % 16;
  uint32_t from = inGroup / 16 * width;
  RandomBlock random = philox(
      key, {{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
             id, static_cast<uint32_t>(sample)}});
  // Selects instead of an indexed load, so that a loop around them can be
  // vectorised.
  uint32_t low = from & 32 ? random.word[1] : random.word[0];
  uint32_t high = from & 32 ? random.word[3] : random.word[2];
  uint32_t word = from & 64 ? high : low;
  return word >> (from & 31) & ~uint32_t{0} >> (32 - bits);
}

// Random123's known answers.
static_assert(philox({0, 0}, {{0, 0, 0, 0}}) ==
              RandomBlock{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
static_assert(philox({0xffffffff, 0xffffffff},
                     {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}) ==
              RandomBlock{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
static_assert(philox({0xa4093822, 0x299f31d0},
                     {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}) ==
              RandomBlock{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});

} // namespace numera

#endif // NUMERA_NUMERICS_RANDOM_RANDOM_H
