// SPDX-License-Identifier: MIT
//
// The entries that draw the bits of stochastic rounding. The first is pure and
// small, so it is inlined, and computations that depend only on seed and step
// are hoisted out of loops.

#include "numera/Numerics/Random/RandomFill.h"

extern "C" uint32_t numera_random_32(uint64_t seed, uint64_t step, uint32_t id,
                                     uint64_t sample, uint64_t index,
                                     int32_t bits) {
  return numera::draw(numera::randomKey(seed, step), id, sample, index, bits);
}

extern "C" void numera_random_fill_32(uint32_t *draws, uint64_t seed,
                                      uint64_t step, uint32_t id,
                                      uint64_t sample, uint64_t index,
                                      uint64_t count, int32_t bits) {
  numera::fillDraws(draws, numera::randomKey(seed, step), id, sample, index,
                    count, bits);
}
