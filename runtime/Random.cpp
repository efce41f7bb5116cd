// SPDX-License-Identifier: MIT
//
// The entry that draws the bits of stochastic rounding. Pure and small: it is
// inlined, and what depends on seed and step alone leaves the loops.

#include "numera/Numerics/Random.h"

extern "C" uint32_t numera_random_32(uint64_t seed, uint64_t step, uint32_t id,
                                     uint64_t sample, uint64_t index,
                                     int32_t bits) {
  return numera::draw(numera::randomKey(seed, step), id, sample, index, bits);
}
