// SPDX-License-Identifier: MIT
//
// Many draws at once. A block of Philox serves as many indices as it has
// fields. 32 blocks, those of two groups, are computed together in 64-bit
// lanes. A round multiplies the low halves of lanes and extracts what it needs
// of the products by shifts. It takes six instructions on each vector: two
// products, two shifts, two three-way exclusive ors. The upper halves are
// ignored in between. A round depends on the one before; two groups hide this
// latency (Zen 4, a draw of 32 bits: 0.31 ns, with one group 0.36). draw() in
// Random.h defines the draws.

#ifndef NUMERA_NUMERICS_RANDOM_RANDOMFILL_H
#define NUMERA_NUMERICS_RANDOM_RANDOMFILL_H

#include "numera/Numerics/Random/Random.h"

namespace numera {

/// The blocks of two groups: a word each in the low halves of the lanes.
struct RandomBlocks {
  typedef uint64_t Lanes __attribute__((ext_vector_type(32)));
  typedef uint32_t Words __attribute__((ext_vector_type(32)));
  Lanes word[4];
};

/// The keys of all rounds.
struct RoundKeys {
  static constexpr int rounds = 10;
  explicit RoundKeys(RandomKey key) {
    for (int round = 0; round < rounds; ++round) {
      low[round] = key.low;
      high[round] = key.high;
      key = {key.low + 0x9e3779b9, key.high + 0xbb67ae85};
    }
  }
  uint64_t low[rounds], high[rounds];
};

/// philox(key, {{first + lane, upper half of it, id, sample}}).
inline RandomBlocks philoxBlocks(const RoundKeys &keys, uint64_t first,
                                 uint32_t id, uint32_t sample) {
  using Lanes = RandomBlocks::Lanes;
  constexpr uint64_t low = 0xffffffff;
  Lanes block = first + Lanes{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                              11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                              22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  Lanes a = block, b = block >> 32;
  auto c = static_cast<Lanes>(uint64_t{id});
  auto d = static_cast<Lanes>(uint64_t{sample});
#pragma clang loop unroll(full)
  for (int round = 0; round < RoundKeys::rounds; ++round) {
    Lanes x = (a & low) * uint64_t{0xd2511f53};
    Lanes y = (c & low) * uint64_t{0xcd9e8d57};
    a = (y >> 32) ^ b ^ keys.low[round];
    c = (x >> 32) ^ d ^ keys.high[round];
    b = y;
    d = x;
  }
  return {{a, b, c, d}};
}

/// The fields of two groups of blocks, `width` (8, 16 or 32) bits each, in the
/// order of the indices. The lowest bits of each field are a draw.
inline void fillGroups(uint32_t *fields, const RoundKeys &keys, uint32_t id,
                       uint32_t sample, uint64_t pair, int32_t width) {
  typedef uint32_t Group __attribute__((ext_vector_type(16)));
  RandomBlocks blocks = philoxBlocks(keys, 32 * pair, id, sample);
  int groupSize = 16 * (128 / width);
  for (int word = 0; word < 4; ++word) {
    auto words =
        __builtin_convertvector(blocks.word[word], RandomBlocks::Words);
    for (int from = 0; from < 32; from += width) {
      RandomBlocks::Words field = words >> uint32_t(from);
      Group first = field.lo, second = field.hi;
      uint32_t *place = fields + 16 * ((32 * word + from) / width);
      __builtin_memcpy(place, &first, sizeof first);
      __builtin_memcpy(place + groupSize, &second, sizeof second);
    }
  }
}

/// Sets the lowest `bits` bits of draws[i] to draw(key, id, sample, index + i,
/// bits), for i < count. The other bits are unspecified.
inline void fillDraws(uint32_t *draws, RandomKey key, uint32_t id,
                      uint64_t sample, uint64_t index, uint64_t count,
                      int32_t bits) {
  int32_t width = bits <= 8 ? 8 : bits <= 16 ? 16 : 32;
  uint64_t pairSize = 2 * 16 * (128 / uint64_t(width));
  uint32_t part[2 * 256];
  RoundKeys keys(key);
  for (uint64_t i = 0; i < count;) {
    uint64_t pair = (index + i) / pairSize, from = (index + i) % pairSize;
    uint64_t rest = pairSize - from;
    uint64_t wanted = rest < count - i ? rest : count - i;
    uint32_t *fields = wanted == pairSize ? draws + i : part;
    fillGroups(fields, keys, id, static_cast<uint32_t>(sample), pair, width);
    if (fields == part)
      __builtin_memcpy(draws + i, part + from, wanted * sizeof(uint32_t));
    i += wanted;
  }
}

} // namespace numera

#endif // NUMERA_NUMERICS_RANDOM_RANDOMFILL_H
