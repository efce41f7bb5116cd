// SPDX-License-Identifier: MIT
// Clauses: R1 R7 A2 C8.
//
// Operations by the rules of their format, and on mixed formats, against the
// oracle: every pair of codes of small operand formats, in every mode.

#include "numera/Registry/Formats/Evaluation.h"
#include "Oracle.h"
#include "Sweep.h"

#include "llvm/ADT/Twine.h"
#include <gtest/gtest.h>

using namespace numera;
using namespace numera::test;

namespace {

Format parse(llvm::StringRef spelling) {
  SpellingError error;
  Format format = parseFormatSpelling(spelling, error);
  EXPECT_TRUE(format) << error.message;
  return format;
}

/// The fields that the spelling was made from, for the oracle.
struct Mixed {
  Format ours;
  oracle::Oracle truth;
  Mixed(int exponentBits, int mantissaBits, int bias, oracle::Specials specials,
        llvm::StringRef words, oracle::Overflow overflow)
      : ours(parse(("float<" + llvm::Twine(exponentBits) + "," +
                    llvm::Twine(mantissaBits) + words + ">")
                       .str())),
        truth({.exponentBits = exponentBits,
               .mantissaBits = mantissaBits,
               .bias = bias,
               .specials = specials,
               .overflow = overflow}) {}
  Mixed(int bits, int es)
      : ours(parse(("posit<" + llvm::Twine(bits) + "," + llvm::Twine(es) + ">")
                       .str())),
        truth({.family = oracle::Family::Posit, .bits = bits, .es = es}) {}
  uint64_t count() const { return truth.mask() + 1; }
};

using oracle::Overflow, oracle::Specials;

struct Formats {
  Mixed f8{4, 3, 7, Specials::Fn, ",fn", Overflow::Saturate};
  Mixed f8E5M2{5, 2, 15, Specials::Ieee, "", Overflow::Infinity};
  Mixed f6{3, 2, 3, Specials::Finite, ",finite", Overflow::Saturate};
  Mixed posit6{6, 1};
  Mixed posit16{16, 2};
  Mixed bf16{8, 7, 127, Specials::Ieee, "", Overflow::Infinity};
  Mixed f16{5, 10, 15, Specials::Ieee, "", Overflow::Infinity};
  Mixed f32{8, 23, 127, Specials::Ieee, "", Overflow::Infinity};
};

/// Every pair of `x` and `y`, or sampled ones where there are too many.
template <typename Body>
void forPairs(const Mixed &x, const Mixed &y, Body body) {
  if (x.truth.width() + y.truth.width() <= 16) {
    for (uint64_t a = 0; a < x.count(); ++a)
      for (uint64_t b = 0; b < y.count(); ++b)
        body(a, b);
    return;
  }
  Sampler first(x.truth.width(), 1), second(y.truth.width(), 2);
  for (uint64_t i = 0; i < samples(20'000); ++i)
    body(first.code(), second.code());
}

void checkBinary(Tally &tally, OpKind operation, oracle::Binary exact,
                 const Mixed &x, const Mixed &y, const Mixed &result) {
  Format operands[] = {x.ours, y.ours};
  OperationRules rules = rulesOf(operation, result.ours, operands);
  oracle::Result wide;
  oracle::Real scratchX, scratchY;
  forPairs(x, y, [&](uint64_t a, uint64_t b) {
    exact(wide, x.truth.value(a, scratchX), y.truth.value(b, scratchY));
    oracle::Place place = result.truth.locate(wide);
    for (Rounding mode : modes) {
      rules.rounding = mode;
      uint64_t codes[] = {a, b};
      tally.check(evaluateOperation(operation, rules, operands, codes),
                  result.truth.round(place, modeOf(mode)),
                  nameOf(operation).data(), a, b, mode);
    }
  });
}

void checkUnary(Tally &tally, OpKind operation, oracle::Unary exact,
                const Mixed &x, const Mixed &result) {
  OperationRules rules = rulesOf(operation, result.ours, x.ours);
  oracle::Result wide;
  oracle::Real scratch;
  for (uint64_t code = 0; code < x.count(); ++code) {
    exact(wide, x.truth.value(code, scratch));
    oracle::Place place = result.truth.locate(wide);
    for (Rounding mode : modes) {
      rules.rounding = mode;
      tally.check(evaluateOperation(operation, rules, x.ours, code),
                  result.truth.round(place, modeOf(mode)),
                  nameOf(operation).data(), code, mode);
    }
  }
}

TEST(Mixed, TwoOperands) {
  Formats all;
  Tally tally;
  constexpr std::pair<OpKind, oracle::Binary> operations[] = {
      {OpKind::Add, oracle::add},       {OpKind::Sub, oracle::sub},
      {OpKind::Mul, oracle::mul},       {OpKind::Div, oracle::div},
      {OpKind::Rem, oracle::rem},       {OpKind::Min, oracle::min},
      {OpKind::Max, oracle::max},       {OpKind::MinNum, oracle::minnum},
      {OpKind::MaxNum, oracle::maxnum}, {OpKind::Atan2, oracle::atan2},
      {OpKind::Hypot, oracle::hypot},   {OpKind::CopySign, oracle::copysign},
  };
  for (auto [operation, exact] : operations) {
    checkBinary(tally, operation, exact, all.f8, all.posit6, all.f6);
    checkBinary(tally, operation, exact, all.f6, all.f8E5M2, all.posit6);
    checkBinary(tally, operation, exact, all.posit16, all.bf16, all.f16);
    checkBinary(tally, operation, exact, all.f32, all.f8, all.posit16);
  }
}

TEST(Mixed, OneOperand) {
  Formats all;
  Tally tally;
  constexpr std::pair<OpKind, oracle::Unary> operations[] = {
      {OpKind::Neg, oracle::neg},
      {OpKind::Abs, oracle::abs},
      {OpKind::Sqrt, oracle::sqrt},
      {OpKind::Rsqrt, oracle::rsqrt},
      {OpKind::Floor, oracle::floor},
      {OpKind::Ceil, oracle::ceil},
      {OpKind::Trunc, oracle::trunc},
      {OpKind::Round, oracle::round},
      {OpKind::RoundEven, oracle::roundeven},
  };
  const std::pair<const Mixed *, const Mixed *> formats[] = {
      {&all.posit16, &all.f8}, {&all.f16, &all.posit6}, {&all.bf16, &all.f16}};
  for (auto [operation, exact] : operations)
    for (auto [from, to] : formats)
      checkUnary(tally, operation, exact, *from, *to);
}

template <int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
void byMpfr(oracle::Result &result, mpfr_srcptr x) {
  result.cancelled = false;
  result.tail = function(result.value, x, MPFR_RNDZ) != 0;
  if (result.tail && mpfr_zero_p(result.value)) // below MPFR's own range
    mpfr_set_si_2exp(result.value, 1, -1'000'000, MPFR_RNDZ);
}

TEST(Mixed, ElementaryFunctions) {
  Formats all;
  Tally tally;
  constexpr std::pair<OpKind, oracle::Unary> operations[] = {
      {OpKind::Exp, byMpfr<mpfr_exp>},     {OpKind::Exp2, byMpfr<mpfr_exp2>},
      {OpKind::Expm1, byMpfr<mpfr_expm1>}, {OpKind::Log, byMpfr<mpfr_log>},
      {OpKind::Log2, byMpfr<mpfr_log2>},   {OpKind::Log1p, byMpfr<mpfr_log1p>},
      {OpKind::Sin, byMpfr<mpfr_sin>},     {OpKind::Cos, byMpfr<mpfr_cos>},
      {OpKind::Tanh, byMpfr<mpfr_tanh>},   {OpKind::Erf, byMpfr<mpfr_erf>},
      {OpKind::Cbrt, byMpfr<mpfr_cbrt>},   {OpKind::Log10, byMpfr<mpfr_log10>},
      {OpKind::Tan, byMpfr<mpfr_tan>},     {OpKind::Asin, byMpfr<mpfr_asin>},
      {OpKind::Acos, byMpfr<mpfr_acos>},   {OpKind::Atan, byMpfr<mpfr_atan>},
      {OpKind::Sinh, byMpfr<mpfr_sinh>},   {OpKind::Cosh, byMpfr<mpfr_cosh>},
      {OpKind::Asinh, byMpfr<mpfr_asinh>}, {OpKind::Acosh, byMpfr<mpfr_acosh>},
      {OpKind::Atanh, byMpfr<mpfr_atanh>}, {OpKind::Erfc, byMpfr<mpfr_erfc>},
  };
  const std::pair<const Mixed *, const Mixed *> formats[] = {
      {&all.f8, &all.f16}, {&all.posit6, &all.bf16}, {&all.f8E5M2, &all.f8}};
  for (auto [operation, exact] : operations)
    for (auto [from, to] : formats)
      checkUnary(tally, operation, exact, *from, *to);
}

/// fma : f8, f8, f32 -> f32, and one into a narrow format.
TEST(Mixed, ThreeOperands) {
  Formats all;
  Tally tally;
  oracle::Result wide(512);
  oracle::Real x, y, z;
  for (const Mixed *result : {&all.f32, &all.f6, &all.posit16}) {
    Format operands[] = {all.f8.ours, all.f8.ours, all.f32.ours};
    OperationRules rules = rulesOf(OpKind::Fma, result->ours, operands);
    Sampler addends(32, 3);
    forPairs(all.f8, all.f8, [&](uint64_t a, uint64_t b) {
      uint64_t codes[] = {a, b, addends.code()};
      oracle::fma(wide, all.f8.truth.value(a, x), all.f8.truth.value(b, y),
                  all.f32.truth.value(codes[2], z));
      oracle::Place place = result->truth.locate(wide);
      for (Rounding mode : modes) {
        rules.rounding = mode;
        tally.check(evaluateOperation(OpKind::Fma, rules, operands, codes),
                    result->truth.round(place, modeOf(mode)), "fma", a, b,
                    codes[2], mode);
      }
    });
  }
}

/// What a designer writes in C: the last bits of both operands are dropped.
TEST(Changes, TruncatedOperands) {
  Format plain = parse("float<4,3>");
  Format cut = parse("float<4,3,mul.truncate-operands=2>");
  auto isNumber = [](uint64_t code) { return (code & 0x78) != 0x78; };
  for (uint64_t a = 0; a < 256; ++a)
    for (uint64_t b = 0; b < 256; ++b) {
      uint64_t codes[] = {a, b};
      uint64_t dropped[] = {isNumber(a) ? a & ~3u : a,
                            isNumber(b) ? b & ~3u : b};
      for (Rounding mode : modes) {
        EXPECT_EQ(evaluateOperation(OpKind::Mul, cut, codes, mode),
                  evaluateOperation(OpKind::Mul, plain, dropped, mode));
        EXPECT_EQ(evaluateOperation(OpKind::Add, cut, codes, mode),
                  evaluateOperation(OpKind::Add, plain, codes, mode));
      }
    }
}

TEST(Changes, RulesOfAnOperation) {
  Format format = parse("float<5,2,up,mul.rounding=stochastic,"
                        "mul.random-bits=4,mul.overflow=saturate,"
                        "add.truncate-operands=1>");
  Format pair[] = {format, format};
  OperationRules mul = rulesOf(OpKind::Mul, format, pair);
  EXPECT_EQ(mul.rounding.rounding, Rounding::Stochastic);
  EXPECT_EQ(mul.rounding.randomBits, 4);
  EXPECT_EQ(mul.result, format);
  EXPECT_EQ(mul.encoding, format.getFamily().withOverflow(
                              format, numera::Overflow::Saturate));
  EXPECT_TRUE(mul.truncation.empty());
  OperationRules add = rulesOf(OpKind::Add, format, pair);
  EXPECT_EQ(add.rounding.rounding, Rounding::Up);
  EXPECT_EQ(add.encoding, format);
  EXPECT_EQ(add.truncation, (llvm::SmallVector<int32_t, 3>{1, 1}));
}

/// `mac` goes before `fma`, or `mul` and `add`, key by key.
TEST(Changes, RulesOfAStep) {
  Format fused = parse("float<8,7,mac.rounding=up,fma.overflow=saturate,"
                       "fma.truncate-operands=1>");
  OperationRules sum = stepRules(fused, {}, fused, fused).sum;
  EXPECT_EQ(sum.rounding.rounding, Rounding::Up);
  EXPECT_EQ(sum.encoding,
            fused.getFamily().withOverflow(fused, numera::Overflow::Saturate));
  EXPECT_EQ(sum.truncation, (llvm::SmallVector<int32_t, 3>{1, 1, 1}));

  Format narrow = parse("float<4,3,mac.truncate-operands=2>");
  StepRules wide = stepRules(formatF32(), {}, narrow, fused);
  EXPECT_EQ(wide.sum.truncation, (llvm::SmallVector<int32_t, 3>{2, 0, 0}));
  EXPECT_FALSE(wide.product);

  Format product = parse("float<4,3,mul.rounding=down,mul.truncate-operands=1,"
                         "add.rounding=up>");
  StepRules both = stepRules(product, product, narrow, product);
  ASSERT_TRUE(both.product);
  EXPECT_EQ(both.product->rounding.rounding, Rounding::Down);
  EXPECT_EQ(both.product->truncation, (llvm::SmallVector<int32_t, 3>{2, 1}));
  EXPECT_EQ(both.sum.rounding.rounding, Rounding::Up);
  EXPECT_TRUE(both.sum.truncation.empty());
}

} // namespace
