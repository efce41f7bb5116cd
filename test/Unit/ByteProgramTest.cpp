// SPDX-License-Identifier: MIT
//
// Programs on bytes against the exact path, on all pairs of codes.

#include "numera/Registry/Tables/ByteProgram.h"
#include "numera/Numerics/Operations/Operations.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include "gtest/gtest.h"

using namespace numera;

namespace {

constexpr FloatFormat f8E4M3FN{
    4, 3, 7, Specials::Fn, true, true, Overflow::Saturate};
constexpr FloatFormat f8E5M2{5, 2, 15};
constexpr FloatFormat f8E3M4{3, 4, 3};

Format formatOf(const FloatFormat &f) {
  int32_t parameters[FloatFormat::parameterCount];
  f.store(parameters);
  return Format(*findFamily("float"), parameters);
}

uint8_t exactly(const FloatFormat &f, OpKind operation, unsigned x,
                unsigned y) {
  RoundingMode mode = Rounding::NearestEven;
  switch (operation) {
  case OpKind::Add:
    return static_cast<uint8_t>(reference::add(f, x, y, mode));
  case OpKind::Sub:
    return static_cast<uint8_t>(reference::sub(f, x, y, mode));
  case OpKind::Mul:
    return static_cast<uint8_t>(reference::mul(f, x, y, mode));
  default:
    return static_cast<uint8_t>(reference::div(f, x, y, mode));
  }
}

std::vector<uint8_t> tableOf(const FloatFormat &f, OpKind operation) {
  std::vector<uint8_t> results;
  for (unsigned x = 0; x < 256; ++x)
    for (unsigned y = 0; y < 256; ++y)
      results.push_back(exactly(f, operation, x, y));
  return results;
}

std::optional<ByteProgram> find(const FloatFormat &f, OpKind operation,
                                const std::vector<uint8_t> &results) {
  return byteProgramOf(operation, formatOf(f), [&] { return results; });
}

void expectProgram(const FloatFormat &f, OpKind operation) {
  std::vector<uint8_t> results = tableOf(f, operation);
  std::optional<ByteProgram> program = find(f, operation, results);
  ASSERT_TRUE(program) << formatOf(f).spelling() << " "
                       << static_cast<int>(operation);
  // A vector of 64 codes is to stay faster than computing in f32.
  EXPECT_LE(program->getSteps().size(), 60u);
  for (unsigned x = 0; x < 256; ++x)
    for (unsigned y = 0; y < 256; ++y)
      ASSERT_EQ(program->run(static_cast<uint8_t>(x), static_cast<uint8_t>(y)),
                results[256 * x + y])
          << x << " " << y;
}

constexpr OpKind arithmetic[] = {OpKind::Add, OpKind::Sub, OpKind::Mul,
                                 OpKind::Div};

// NaN, infinities, -0, subnormal numbers and what overflows are among them.
TEST(ByteProgram, ComputesFloatsOfEightBits) {
  for (OpKind operation : arithmetic)
    for (FloatFormat f : {f8E4M3FN, f8E5M2, f8E3M4}) {
      // The quotients of the widest binades do not fit a byte.
      if (f == f8E3M4 && operation == OpKind::Div)
        continue;
      expectProgram(f, operation);
      if (f.specials != Specials::Ieee)
        continue;
      f.overflow = Overflow::Saturate;
      expectProgram(f, operation);
    }
}

TEST(ByteProgram, ComputesNothingElse) {
  std::vector<uint8_t> results = tableOf(f8E4M3FN, OpKind::Mul);
  results[256 * 0x31 + 0xb5] ^= 1;
  EXPECT_FALSE(find(f8E4M3FN, OpKind::Mul, results));
  EXPECT_FALSE(find(f8E4M3FN, OpKind::Add, results));
  EXPECT_FALSE(find(f8E4M3FN, OpKind::Sqrt, results));
  // No sign, no -0, no subnormal numbers, other widths.
  for (FloatFormat f :
       {FloatFormat{4, 4, 7, Specials::Fn, true, false},
        FloatFormat{4, 3, 8, Specials::Fnuz},
        FloatFormat{4, 3, 7, Specials::Fn, false}, FloatFormat{3, 2, 3}})
    EXPECT_FALSE(find(f, OpKind::Mul, results));
}

} // namespace
