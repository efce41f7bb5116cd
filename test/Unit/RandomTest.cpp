// SPDX-License-Identifier: MIT
//
// Draws against a second transcription of the paper and of docs/Semantics/
// Stochastic.md, and their frequencies.

#include "numera/Numerics/Formats/Float.h"
#include "numera/Numerics/Formats/Posit.h"
#include "numera/Numerics/Random/RandomFill.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

using namespace numera;

namespace {

using Words = std::array<uint32_t, 4>;

/// The paper's figure: (L0, R0, L1, R1) of a round from the two halves.
Words reference(uint64_t key, Words c) {
  uint32_t k0 = key & 0xffffffff, k1 = key >> 32;
  for (int i = 0; i != 10; i++) {
    unsigned __int128 p0 = (unsigned __int128)0xD2511F53u * c[0];
    unsigned __int128 p1 = (unsigned __int128)0xCD9E8D57u * c[2];
    Words next;
    next[0] = uint32_t(p1 >> 32) ^ c[1] ^ k0;
    next[1] = uint32_t(p1);
    next[2] = uint32_t(p0 >> 32) ^ c[3] ^ k1;
    next[3] = uint32_t(p0);
    c = next;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

/// All bits of the blocks of a group, as an array of bits.
uint32_t referenceDraw(uint64_t seed, uint64_t step, uint32_t id,
                       uint64_t sample, uint64_t index, int bits) {
  Words k = reference(seed, {uint32_t(step), uint32_t(step >> 32), 0, 0});
  int w = 8;
  while (w < bits)
    w *= 2;
  uint64_t n = 128 / w;
  uint64_t group = index / (16 * n), j = index % (16 * n);
  uint64_t block = 16 * group + j % 16;
  Words words =
      reference(uint64_t(k[1]) << 32 | k[0],
                {uint32_t(block), uint32_t(block >> 32), id, uint32_t(sample)});
  uint32_t result = 0;
  for (int bit = 0; bit < bits; ++bit) {
    uint64_t place = w * (j / 16) + bit;
    result |= (words[place / 32] >> place % 32 & 1) << bit;
  }
  return result;
}

// Clauses: D3 D4 D5.
TEST(Random, KeysAndPlacesAreTheDocumentedOnes) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    uint64_t seed = random() >> random() % 64, step = random() >> random() % 64,
             sample = random() >> random() % 64,
             index = random() >> random() % 64;
    auto id = uint32_t(random() >> random() % 32);
    for (int bits = 1; bits <= 32; ++bits)
      ASSERT_EQ(draw(randomKey(seed, step), id, sample, index, bits),
                referenceDraw(seed, step, id, sample, index, bits))
          << seed << " " << step << " " << id << " " << sample << " " << index
          << " " << bits;
  }
}

// Clauses: D5.
TEST(Random, AGroupUsesEveryBitOnce) {
  RandomKey key = randomKey(1, 2);
  std::vector<uint32_t> blocks, fields;
  for (uint32_t block = 0; block < 16; ++block)
    for (uint32_t word : philox(key, {{block, 0, 3, 4}}).word)
      for (int byte = 0; byte < 4; ++byte)
        blocks.push_back(word >> 8 * byte & 255);
  for (uint64_t index = 0; index < 256; ++index)
    fields.push_back(draw(key, 3, 4, index, 8));
  std::ranges::sort(blocks);
  std::ranges::sort(fields);
  EXPECT_EQ(blocks, fields);
}

// Clauses: D5.
TEST(Random, FillsAreDraws) {
  RandomKey key = randomKey(5, 6);
  constexpr uint32_t untouched = 0x5ca1ab1e;
  uint64_t sample = 0x123456789, far = (uint64_t{1} << 38) - 100;
  for (int bits = 1; bits <= 32; ++bits)
    for (uint64_t index : {uint64_t{0}, uint64_t{1}, uint64_t{63}, uint64_t{64},
                           uint64_t{200}, far})
      for (uint64_t count : {0, 1, 15, 16, 64, 129, 256, 700}) {
        std::vector<uint32_t> filled(count + 1, untouched);
        fillDraws(filled.data(), key, 9, sample, index, count, bits);
        ASSERT_EQ(filled[count], untouched) << bits << " " << index;
        uint32_t mask = ~uint32_t{0} >> (32 - bits);
        for (uint64_t i = 0; i < count; ++i)
          ASSERT_EQ(filled[i] & mask, draw(key, 9, sample, index + i, bits))
              << bits << " " << index << " " << count << " " << i;
      }
}

constexpr int draws = 1000000;

/// Whether `count` of `draws` events is what probability `p` gives, to within 4
/// standard deviations.
void expectFrequency(int count, double p, const char *what, int bits) {
  double sigma = std::sqrt(p * (1 - p) / draws);
  EXPECT_LE(std::abs(double(count) / draws - p), 4 * sigma)
      << what << " with " << bits << " bits: " << count << " of " << draws
      << ", expected " << p * draws;
}

// Clauses: D3.
TEST(Random, EveryNumberOfBitsIsUniform) {
  RandomKey key = randomKey(2026, 0);
  for (int bits = 1; bits <= 32; ++bits) {
    uint64_t all = uint64_t{1} << bits;
    std::array<uint64_t, 3> bounds = {all / 2, std::max<uint64_t>(all / 3, 1),
                                      all - std::max<uint64_t>(all / 7, 1)};
    std::array<int, 3> below{};
    for (int i = 0; i < draws; ++i) {
      uint32_t value = draw(key, 1, uint64_t(i) / 1000, i % 1000, bits);
      ASSERT_LT(value, all);
      for (size_t k = 0; k < bounds.size(); ++k)
        below[k] += value < bounds[k];
    }
    for (size_t k = 0; k < bounds.size(); ++k)
      expectFrequency(below[k], double(bounds[k]) / double(all), "draws", bits);
  }
}

/// How often `value`, at `place` between its neighbours, goes to the upper one.
template <typename F>
void checkRounding(const F &format, const Unpacked &value, uint64_t lower,
                   double place, const char *what) {
  for (int bits = 1; bits <= 32; ++bits) {
    RandomKey key = randomKey(99, uint64_t(bits));
    int up = 0;
    for (int i = 0; i < draws; ++i) {
      RoundingMode mode(Rounding::Stochastic, bits, draw(key, 5, 0, i, bits));
      uint64_t code = format.encode(value, mode);
      ASSERT_TRUE(code == lower || code == lower + 1) << code;
      up += code != lower;
    }
    double p = std::floor(std::ldexp(place, bits)) / std::ldexp(1.0, bits);
    expectFrequency(up, p, what, bits);
  }
}

// Clauses: D1.
TEST(Random, ValuesGoUpAsOftenAsTheyAreFarUp) {
  // 1 + 5/8 of a unit in the last place of bf16.
  FloatFormat bf16 =
      FloatFormat::of(std::array<int32_t, 7>{8, 7, 127, 0, 1, 1, 0}.data());
  checkRounding(bf16, Unpacked::fromInteger(false, 1024 + 5, -10), 0x3f80,
                0.625, "bf16");
  // 2^20 and 2^24 are neighbours in posit8: the place is in value, not in the
  // logarithm.
  PositFormat posit8 = PositFormat::of(std::array<int32_t, 2>{8, 2}.data());
  checkRounding(posit8, Unpacked::fromInteger(false, 6, 20), 0x7e, 5.0 / 15,
                "posit8");
}

// Clauses: D2.
TEST(Random, ExactValuesNeverMove) {
  PositFormat posit8 = PositFormat::of(std::array<int32_t, 2>{8, 2}.data());
  for (uint64_t code = 0; code < 256; ++code)
    for (uint32_t random : {0u, 1u, 0x80000000u, 0xffffffffu})
      for (int bits : {1, 8, 31, 32})
        EXPECT_EQ(posit8.encode(posit8.decode(code),
                                {Rounding::Stochastic, bits, random}),
                  code);
}

} // namespace
