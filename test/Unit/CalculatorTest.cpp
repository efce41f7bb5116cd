// SPDX-License-Identifier: MIT
//
// The calculator: notation, formats, draws, and what it says of roundings.

#include "Eval/CalculationReport.h"
#include "numera/Numerics/Random/Random.h"
#include "numera/Registry/Description/Decimal.h"
#include "numera/Registry/Formats/Number.h"

#include <gtest/gtest.h>

using namespace numera;

namespace {

std::optional<Calculation> calculationOf(llvm::StringRef text,
                                         std::vector<Instruction> &program,
                                         std::string &message, uint64_t seed) {
  static const Registry registry;
  ExpressionError error;
  std::optional<ExpressionFormat> front = formatOf(text, error);
  Format format;
  if (front)
    format = registry.lookupFormat(front->name, error.message);
  message = error.message;
  if (!format)
    return std::nullopt;
  auto parsed = parseExpression(text, front->end, format, registry, error);
  message = std::to_string(error.column + 1) + ": " + error.message;
  if (!parsed)
    return std::nullopt;
  program = std::move(*parsed);
  return calculate(program, seed);
}

/// The result in decimal; what is wrong otherwise.
std::string evaluate(llvm::StringRef text, uint64_t seed = 0) {
  std::vector<Instruction> program;
  std::string message;
  std::optional<Calculation> found =
      calculationOf(text, program, message, seed);
  if (!found)
    return message;
  std::string result;
  const FormatFamily &family = found->format.getFamily();
  for (uint64_t code : found->result.codes)
    result +=
        (result.empty() ? "" : " ") +
        (found->isTruth ? std::to_string(code)
                        : printDecimal(family.decode(found->format, code)));
  return found->result.isVector ? "[" + result + "]" : result;
}

/// What is said of its roundings.
std::string outcomes(llvm::StringRef text) {
  std::vector<Instruction> program;
  std::string message;
  std::optional<Calculation> found = calculationOf(text, program, message, 0);
  return found ? printOutcomes(*found) : message;
}

/// Expressions and what they come to.
void expectAll(
    std::initializer_list<std::pair<llvm::StringRef, llvm::StringRef>> facts) {
  for (auto [text, result] : facts)
    EXPECT_EQ(evaluate(text), result) << text.str();
}

TEST(Calculator, BindsAsInC) {
  expectAll({
      {"f32: 1 + 2 * 3", "7"},
      {"f32: (1 + 2) * 3", "9"},
      {"f32: 8 - 4 - 2", "2"},
      {"f32: 16 / 4 / 2", "2"},
      {"f32: 7 % 4 * 2", "6"},
      {"f32: 1 - -2", "3"},
      {"f32: -2 * 3", "-6"},
      {"f32: 1 + 1 == 2", "1"},
      {"f32:1+2", "3"},
  });
}

TEST(Calculator, KnowsTheOperationsOfTheDialect) {
  expectAll({
      {"f32: sqrt(9)", "3"},
      {"f32: rsqrt(4)", "0.5"},
      {"f32: fma(2, 3, 4)", "10"},
      {"f32: exp2(10)", "1024"},
      {"f32: log2(8)", "3"},
      {"f32: pow(3, 4)", "81"},
      {"f32: min(1, nan)", "nan"},
      {"f32: minnum(1, nan)", "1"},
      {"f32: max(-0, 0)", "0"},
      {"f32: maxnum(nan, -7)", "-7"},
      {"f32: floor(-1.5)", "-2"},
      {"f32: ceil(-1.5)", "-1"},
      {"f32: trunc(-1.5)", "-1"},
      {"f32: round(2.5)", "3"},
      {"f32: roundeven(2.5)", "2"},
      {"f32: neg(abs(-3))", "-3"},
      {"f32: isnan(nan)", "1"},
      {"f32: isnan(1) + 2", "2"},
      {"f32: cast(1)",
       "6: unknown function, variable or format 'cast', did you mean 'cbrt'?"},
  });
}

TEST(Calculator, ComparesAsTheFormatDoes) {
  expectAll({
      {"f32: 1 < 2", "1"},
      {"f32: 2 <= 1", "0"},
      {"f32: 2 >= 2", "1"},
      {"f32: 2 > 2", "0"},
      {"f32: 0 == -0", "1"},
      {"f32: nan == nan", "0"},
      {"f32: nan != nan", "1"},
      {"f32: nan < 1", "0"},
      // NaR equals itself and is below every number.
      {"posit8: nan == nan", "1"},
      {"posit8: nan != nan", "0"},
      {"posit8: nan < -16", "1"},
      // A truth goes on as a number.
      {"f32: (1 < 2) + 1", "2"},
  });
}

TEST(Calculator, RoundsLiteralsOnceWithTheirSign) {
  EXPECT_EQ(evaluate("f8E4M3FN: 1.0625"), "1"); // a tie
  EXPECT_EQ(evaluate("f8E4M3FN: 1.06250000000000000000000000001"), "1.125");
  EXPECT_EQ(evaluate("float<4,3,up>: -1.1"), "-1");
  EXPECT_EQ(evaluate("float<4,3,up>: -(1.1)"), "-1.125");
  EXPECT_EQ(evaluate("float<4,3,up>: 1.1"), "1.125");
  EXPECT_EQ(evaluate("f32: 0x1.8p+1"), "3");
  EXPECT_EQ(evaluate("f32: --1"), "1");
  EXPECT_EQ(evaluate("f32: -inf"), "-inf");
  EXPECT_EQ(evaluate("f32: -nan"), "nan");
  EXPECT_EQ(evaluate("f32: code(0x40490fdb)"), evaluate("f32: pi"));
  EXPECT_EQ(evaluate("f32: -code(0x40490fdb)"), evaluate("f32: -pi"));
  EXPECT_EQ(evaluate("f32: code(1)"), evaluate("f32: 0x1p-149"));
}

TEST(Calculator, RoundsConstantsCorrectly) {
  EXPECT_EQ(evaluate("f64: pi"),
            printDecimal(*parseNumber("0x1.921fb54442d18p+1")));
  EXPECT_EQ(evaluate("f64: e"),
            printDecimal(*parseNumber("0x1.5bf0a8b145769p+1")));
  // More digits than any format holds.
  EXPECT_EQ(evaluate("posit<64,0>: pi"),
            evaluate("posit<64,0>: 3.14159265358979323846264338327950288"));
  EXPECT_EQ(evaluate("posit<64,0>: e"),
            evaluate("posit<64,0>: 2.71828182845904523536028747135266250"));
}

TEST(Calculator, ComputesInTheFormatAroundAndCasts) {
  expectAll({
      // 1/3 in 4 significant bits, 2 in 8.
      {"bf16: f8E4M3FN(1/3)", "0.34375"},
      {"bf16: f8E4M3FN(1/3) + 1/3", "0.6796875"},
      {"f8E4M3FN: bf16(1/3)", "0.34375"},
      {"f64: posit<12,1>(sqrt(2))", "1.4140625"},
      {"f64: float<4,3,fn>(bf16(1/3))", "0.34375"},
      {"f8E5M2: f64(1e300)", "inf"},
      {"posit8: f32(inf)", "nan"},
  });
}

TEST(Calculator, KnowsEveryOperationByName) {
  expectAll({
      {"posit16: atan(1) * 4", "3.1416015625"},
      {"posit16: atan2(0, -1)", "3.1416015625"},
      {"f32: hypot(3, -4)", "5"},
      {"f32: cbrt(-27)", "-3"},
      {"f32: log10(1000)", "3"},
      {"f32: copysign(2, -0)", "-2"},
      {"f32: atanh(-1)", "-inf"},
      {"f8E4M3FN: acosh(0.5)", "nan"},
  });
}

TEST(Calculator, AppliesTheChangesOfAFormat) {
  expectAll({
      // 1.5 loses the half.
      {"float<5,7,mul.truncate-operands=7>: 1.5 * 1.5", "1"},
      {"float<5,7,mul.truncate-operands=7>: 1.5 + 1.5", "3"},
      {"float<4,3,div.rounding=up>: 1 / 3", "0.34375"},
      {"float<4,3,div.rounding=down>: 1 / 3", "0.3125"},
      {"float<4,3,add.overflow=saturate>: 240 + 240", "240"},
      {"float<4,3,add.overflow=saturate>: 240 * 2", "inf"},
      {"float<4,3,cast.rounding=up>: f32(1.01)", "1.125"},
  });
}

TEST(Calculator, DrawsByTheNumberOfTheOperation) {
  // Two operations with the same operands draw twice; each result is the
  // neighbour that its own draw picks.
  for (uint64_t seed = 0; seed < 64; ++seed) {
    auto rounded = [&](uint32_t id) {
      // 1/3 = (10 + 2/3) / 32 between 10/32 and 11/32.
      uint32_t random = draw(randomKey(seed, 0), id, 0, 0, 8);
      return random < 170 ? 11 : 10; // floor(2/3 * 256)
    };
    auto sum = evaluate("float<9,20>: float<4,3,stochastic,random-bits=8>(1/3)"
                        " * 32 + float<4,3,stochastic,random-bits=8>(1/3) * 32",
                        seed);
    // Operations: 1 div, 2 cast, 3 mul, 4 div, …
    EXPECT_EQ(sum, std::to_string(rounded(1) + rounded(4))) << seed;
  }
}

TEST(Calculator, HasVariables) {
  expectAll({
      {"f32: x = 1.5; x*x", "2.25"},
      {"f32: x = 1.5; y = x + 1; x = y; x * y;", "6.25"},
      {"f32: x = 1 < 2; x + 1", "2"},
      {"f32: x == 2", "6: unknown function, variable or format 'x'"},
      {"f32: x = 2; x == 2", "1"},
      // The value of an assignment.
      {"f32: x = 7", "7"},
      // Rounded where it is assigned, and cast where it is used.
      {"f8E4M3FN: x = 1.0626; f32(x)", "1.125"},
      {"f32: x = 1.0626; f8E4M3FN(x)", "1.125"},
      {"f32: x = 1; 2; x", "13: nothing takes the value of this expression, "
                           "expected NAME = EXPRESSION before a ';'"},
      {"f32: pi = 3; pi",
       "6: 'pi' is a constant, expected another name of a variable"},
      {"f32: sqrt = 3",
       "6: 'sqrt' is a function, expected another name of a variable"},
      {"f32: ulp = 3",
       "6: 'ulp' is a function, expected another name of a variable"},
      {"f32: bf16 = 3",
       "6: 'bf16' is a format, expected another name of a variable"},
      {"f32: x = ", "10: the expression ends, expected a number"},
      {"f32: x = 1;;", "12: found ';', expected a number"},
  });
}

TEST(Calculator, HasVectors) {
  expectAll({
      {"f32: [1, 2, 3] + 1", "[2 3 4]"},
      {"f32: 2 * [1, 2]", "[2 4]"},
      {"f32: [1, 2] * [3, 4] + [5, 6]", "[8 14]"},
      {"f32: x = [1, 4, 9]; sqrt(x) - 1", "[0 1 2]"},
      {"f32: fma([1, 2], 3, [4, 5])", "[7 11]"},
      {"f32: -[1, -2]", "[-1 2]"},
      {"f32: [1, 2] < [2, 1]", "[1 0]"},
      {"f32: ([1, 2] < [2, 1]) + 1", "[2 1]"},
      {"f32: [7]", "[7]"},
      {"f32: f8E4M3FN([1.0626, 2])", "[1.125 2]"},
      {"f32: [1, 2] + [1, 2, 3]", "13: vectors of 2 and of 3 elements"},
      {"f32: [1] + [1, 2, 3]", "10: vectors of 1 and of 3 elements"},
      {"f32: [[1], 2]", "7: a vector in a vector, expected a number"},
      {"f32: []", "7: found ']', expected a number"},
      {"f32: [1, 2", "11: the expression ends, expected an operator, ',' or "
                     "']'"},
  });
  // Each element draws with its own index.
  for (uint64_t seed = 0; seed < 16; ++seed) {
    std::string expected;
    for (uint64_t index = 0; index < 3; ++index) {
      uint32_t random = draw(randomKey(seed, 0), 1, 0, index, 8);
      expected += (index ? " " : "[") +
                  std::string(random < 170 ? "0.34375" : "0.3125");
    }
    EXPECT_EQ(
        evaluate("float<4,3,stochastic,random-bits=8>: [1, 1, 1] / 3", seed),
        expected + "]");
  }
}

TEST(Calculator, KnowsNeighboursByName) {
  expectAll({
      {"f64: ulp(1)", "2.220446049250313080847263336181640625e-16"},
      {"f32: nextup(0) == 0x1p-149", "1"},
      {"f16: nextup(65504)", "inf"},
      {"f16: nextdown(inf)", "65504"},
      {"f8E4M3FN: nextup(448)", "448"},
      {"f16: nextafter(1, 2) - 1", "0.0009765625"},
      {"f16: nextafter(1, 0) - 1", "-0.00048828125"},
      {"f16: nextafter(1, 1)", "1"},
      {"f16: nextafter(1, nan)", "nan"},
      {"f16: nextafter(0, -0)", "-0"},
      {"f16: nextdown(nextup(0))", "0"},
      {"f16: nextup(nextdown(0))", "-0"},
      {"f16: ulp(-4)", "0.00390625"},
      {"posit16: nextup(NaR)", "nan"},
      {"bf16: ulp([1, 2, 4])", "[0.0078125 0.015625 0.03125]"},
      {"f16: nextafter(1)", "6: 'nextafter' takes 2 operands, found 1"},
  });
}

TEST(Calculator, SaysWhatWasRounded) {
  for (auto [text, expected] :
       std::initializer_list<std::pair<llvm::StringRef, llvm::StringRef>>{
           {"f32: 1 + 2 * 3", "exact"},
           {"f32: sqrt(9) + exp2(10) + log2(8)", "exact"},
           {"f32: 1/3", "rounded: div"},
           {"f32: 0.1", "rounded: 0.1"},
           {"f32: pi", "rounded: pi"},
           {"f32: sin(0)", "exact"},
           {"f32: sin(1)", "rounded: sin"},
           {"f32: 1/3 + 1/3 + 0.1", "rounded: 0.1, div (2 times), add"},
           {"f8E4M3FN: 448 + 8", "rounded: add"},
           {"f8E4M3FN: 448 + 16", "rounded: add"}, // a tie, which 448 wins
           {"f8E4M3FN: 448 + 32", "saturated: add"},
           {"f8E4M3FN: 1e9 * 1", "saturated: 1e9"},
           {"f8E5M2: 57344 * 2", "overflowed: mul"},
           {"f16: 65504 + 16", "overflowed: add"},
           {"f16: 65504 + 15", "rounded: add"},
           {"f16: 0x1p-24 / 2", "underflowed: div"},
           {"f16: 0x1p-24 * 3", "exact"},
           {"f16: 1/0", "divided by zero: div"},
           {"f16: 0/0", "invalid: div"},
           {"f16: inf - inf", "invalid: sub"},
           {"f16: inf + 1", "exact"},
           {"f16: nan + 1", "exact"},
           {"f16: -0 + 0", "exact"},
           {"posit8: 0x1p24 * 2", "saturated: mul"},
           {"posit8: 0x1p-24 / 2", "underflowed: div"},
           {"posit8: 1/0", "divided by zero: div"},
           {"posit8: inf", "invalid: inf"},
           {"posit8: NaR + 1", "exact"},
           {"fixed<3,4>: 7.5 + 1", "saturated: add"},
           {"fixed<3,4,wrap>: 7.5 + 1", "wrapped: add"},
           {"fixed<3,4>: 1/3", "rounded: div"},
           {"fixed<3,4,unsigned>: 1 - 2", "saturated: sub"},
           {"lns<4,10>: 2 * 4", "exact"},
           {"lns<4,10>: sqrt(2)", "exact"},
           {"lns<4,10>: sqrt(2) + 1", "rounded: add"},
           {"lns<4,10>: 3", "rounded: 3"},
           {"float<5,7,mul.truncate-operands=7>: 1.5 * 1.5", "rounded: mul"},
           {"bf16: f8E4M3FN(1.125)", "exact"},
           {"f8E4M3FN: bf16(1.0625)", "rounded: cast"},
           {"f16: 1 < 0.1", "rounded: 0.1"},
           {"f16: ulp([1, 2]) * nextup(1)", "exact"},
           {"f16: [1, 2, 3] / 3", "rounded: div (2 times)"},
           {"f16: code(0x3555)", "exact"},
       })
    EXPECT_EQ(outcomes(text), expected) << text.str();
}

TEST(Calculator, ManyTermsNeedNoStack) {
  std::string text = "f32: 0";
  for (int i = 0; i < 50000; ++i)
    text += " + 1";
  EXPECT_EQ(evaluate(text), "50000");
}

} // namespace
