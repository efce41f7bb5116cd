// SPDX-License-Identifier: MIT

#include "Sampler.h"

namespace numera::test {

uint64_t Sampler::code() {
  uint64_t random = engine(), shape = engine();
  auto length = static_cast<int>(shape >> 8 & 63) % width;
  switch (shape & 3) {
  case 0: // few significant bits
    return random & mask() & (~uint64_t{0} << length);
  case 1: // beside a run of ones
    return ((~uint64_t{0} << length) + (random & 7) - 3 +
            ((random >> 8 & 1) << (width - 1))) &
           mask();
  default:
    return random & mask();
  }
}

uint64_t Sampler::codeNear(uint64_t other) {
  uint64_t random = engine(), shape = engine();
  auto length = static_cast<int>(shape >> 8 & 63) % width;
  uint64_t low = (random & ((uint64_t{1} << length) - 1)) << (shape >> 16 & 7);
  uint64_t sign = (shape >> 24 & 1) << (width - 1);
  return ((shape & 1 ? other + low : other - low) ^ sign) & mask();
}

std::vector<uint64_t> runsOfOnes(int width) {
  std::vector<uint64_t> codes{0, uint64_t{1} << (width - 1)};
  uint64_t mask = ~uint64_t{0} >> (64 - width);
  for (int high = 1; high <= width; ++high)
    for (int low = 0; low < high; ++low) {
      uint64_t run = ~uint64_t{0} >> (64 - (high - low)) << low;
      codes.push_back(run);
      codes.push_back((0 - run) & mask); // a posit's other sign
    }
  return codes;
}

} // namespace numera::test
