// SPDX-License-Identifier: MIT
//
// Many draws at once. A block of Philox serves as many indices as it has
// fields, and 16 blocks are made together, in 64-bit lanes: a round multiplies
// the low halves of lanes, and takes of the products what it needs by shifts
// alone. Six instructions a round on each vector: two products, two shifts, two
// threefold exclusive ors; what stands in the upper halves in between is of no
// account. draw() in Random.h says what they are.

#ifndef NUMERA_NUMERICS_RANDOMFILL_H
#define NUMERA_NUMERICS_RANDOMFILL_H

#include "numera/Numerics/Random.h"

namespace numera {

/// Sixteen blocks: a word each in the low halves of the lanes.
struct RandomBlocks {
  typedef uint64_t Lanes __attribute__((ext_vector_type(16)));
  typedef uint32_t Words __attribute__((ext_vector_type(16)));
  Lanes word[4];
};

/// philox(key, {{first + lane, upper half of it, id, sample}}).
inline RandomBlocks philoxBlocks(RandomKey key, uint64_t first, uint32_t id,
                                 uint32_t sample) {
  using Lanes = RandomBlocks::Lanes;
  constexpr uint64_t low = 0xffffffff;
  Lanes block =
      first + Lanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Lanes a = block, b = block >> 32;
  auto c = static_cast<Lanes>(uint64_t{id});
  auto d = static_cast<Lanes>(uint64_t{sample});
#pragma clang loop unroll(full)
  for (int round = 0; round < 10; ++round) {
    Lanes x = (a & low) * uint64_t{0xd2511f53};
    Lanes y = (c & low) * uint64_t{0xcd9e8d57};
    a = (y >> 32) ^ b ^ uint64_t{key.low};
    c = (x >> 32) ^ d ^ uint64_t{key.high};
    b = y;
    d = x;
    key = {key.low + 0x9e3779b9, key.high + 0xbb67ae85};
  }
  return {{a, b, c, d}};
}

/// The fields of a group of blocks, `width` (8, 16 or 32) bits each, in the
/// order of the indices: the lowest bits of each are a draw.
inline void fillGroup(uint32_t *fields, RandomKey key, uint32_t id,
                      uint32_t sample, uint64_t group, int32_t width) {
  RandomBlocks blocks = philoxBlocks(key, 16 * group, id, sample);
  for (int word = 0; word < 4; ++word) {
    auto words =
        __builtin_convertvector(blocks.word[word], RandomBlocks::Words);
    for (int from = 0; from < 32; from += width) {
      RandomBlocks::Words field = words >> uint32_t(from);
      __builtin_memcpy(fields + 16 * ((32 * word + from) / width), &field,
                       sizeof field);
    }
  }
}

/// The lowest `bits` bits of draws[i] become draw(key, id, sample, index + i,
/// bits), for i < count. Those above are of no account.
inline void fillDraws(uint32_t *draws, RandomKey key, uint32_t id,
                      uint64_t sample, uint64_t index, uint64_t count,
                      int32_t bits) {
  int32_t width = bits <= 8 ? 8 : bits <= 16 ? 16 : 32;
  uint64_t groupSize = 16 * (128 / uint64_t(width));
  uint32_t part[256];
  for (uint64_t i = 0; i < count;) {
    uint64_t group = (index + i) / groupSize, from = (index + i) % groupSize;
    uint64_t rest = groupSize - from;
    uint64_t wanted = rest < count - i ? rest : count - i;
    uint32_t *fields = wanted == groupSize ? draws + i : part;
    fillGroup(fields, key, id, static_cast<uint32_t>(sample), group, width);
    if (fields == part)
      __builtin_memcpy(draws + i, part + from, wanted * sizeof(uint32_t));
    i += wanted;
  }
}

} // namespace numera

#endif // NUMERA_NUMERICS_RANDOMFILL_H
