// SPDX-License-Identifier: MIT
//
// The built-in names, look-up, and which lowering answers.

#include "numera/Registry/Registry.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace numera;

namespace {

Format named(const Registry &registry, llvm::StringRef name) {
  std::string error;
  Format format = registry.lookupFormat(name, error);
  EXPECT_TRUE(format) << error;
  return format;
}

std::string lookupError(llvm::StringRef name) {
  std::string error;
  EXPECT_FALSE(Registry().lookupFormat(name, error));
  return error;
}

/// The largest finite value of a built-in format.
double largest(llvm::StringRef name) {
  Format format = named(Registry(), name);
  const FormatFamily &family = format.getFamily();
  Unpacked value = family.decode(format, family.largest(format));
  return std::ldexp(static_cast<double>(value.significand),
                    value.exponent - 63);
}

TEST(Builtin, NamesInOrder) {
  std::vector<std::string> names, spellings;
  Registry registry;
  for (const Registry::NamedFormat &format : registry.formats()) {
    EXPECT_TRUE(format.isBuiltin);
    names.push_back(format.name + " " + format.format.spelling());
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "f32 float<8,23>",
                       "f64 float<11,52>",
                       "bf16 float<8,7>",
                       "f16 float<5,10>",
                       "tf32 float<8,10>",
                       "f8E4M3FN float<4,3,fn>",
                       "f8E5M2 float<5,2>",
                       "f8E4M3FNUZ float<4,3,fnuz>",
                       "f8E5M2FNUZ float<5,2,fnuz>",
                       "f8E4M3 float<4,3>",
                       "f8E3M4 float<3,4>",
                       "f6E3M2FN float<3,2,finite>",
                       "f6E2M3FN float<2,3,finite>",
                       "f4E2M1FN float<2,1,finite>",
                       "f8E8M0FNU float<8,0,fnu>",
                       "posit8 posit<8,2>",
                       "posit16 posit<16,2>",
                       "posit32 posit<32,2>",
                   }));
}

TEST(Builtin, LargestValues) {
  EXPECT_EQ(largest("f32"), 0x1.fffffep+127);
  EXPECT_EQ(largest("f64"), 0x1.fffffffffffffp+1023);
  EXPECT_EQ(largest("bf16"), 0x1.fep+127);
  EXPECT_EQ(largest("f16"), 65504);
  EXPECT_EQ(largest("tf32"), 0x1.ffcp+127);
  EXPECT_EQ(largest("f8E4M3FN"), 448);
  EXPECT_EQ(largest("f8E5M2"), 57344);
  EXPECT_EQ(largest("f8E4M3FNUZ"), 240);
  EXPECT_EQ(largest("f8E5M2FNUZ"), 57344);
  EXPECT_EQ(largest("f8E4M3"), 240);
  EXPECT_EQ(largest("f8E3M4"), 15.5);
  EXPECT_EQ(largest("f6E3M2FN"), 28);
  EXPECT_EQ(largest("f6E2M3FN"), 7.5);
  EXPECT_EQ(largest("f4E2M1FN"), 6);
  EXPECT_EQ(largest("f8E8M0FNU"), 0x1p127);
  EXPECT_EQ(largest("posit8"), 0x1p24);
  EXPECT_EQ(largest("posit16"), 0x1p56);
  EXPECT_EQ(largest("posit32"), 0x1p120);
}

TEST(Registry, LooksUpNamesAndSpellings) {
  Registry registry;
  EXPECT_EQ(named(registry, "posit16"), named(registry, "posit<16, 2>"));
  EXPECT_EQ(registry.nameOf(named(registry, "float<8,7>")), "bf16");
  EXPECT_EQ(registry.nameOf(named(registry, "float<8,9>")), "");
  EXPECT_EQ(formatF32(), named(registry, "f32"));
  EXPECT_EQ(formatF64(), named(registry, "f64"));
}

TEST(Registry, SuggestsNearNames) {
  EXPECT_EQ(lookupError("posit17"),
            "unknown format 'posit17', did you mean 'posit<17,2>'?");
  EXPECT_EQ(lookupError("F16"), "unknown format 'F16', did you mean 'f16'?");
  EXPECT_EQ(lookupError("zebra"),
            "unknown format 'zebra', expected a name such as posit16, a "
            "spelling such as posit<16,2>, or a name that a file of formats "
            "gives");
  EXPECT_EQ(lookupError("posit65"),
            "unknown format 'posit65', did you mean 'posit8'?");
  EXPECT_EQ(lookupError("float<5,99>"),
            "in 'float<5,99>': mantissa is '99', expected an integer from 0 "
            "to 52");
}

TEST(Registry, SuggestsFormatsByTheNamesOfOtherTools) {
  constexpr std::pair<const char *, const char *> names[] = {
      {"bfloat16", "bf16"},
      {"float16", "f16"},
      {"half", "f16"},
      {"fp16", "f16"},
      {"Float32", "f32"},
      {"double", "f64"},
      {"fp8", "f8E4M3FN"},
      {"e4m3", "f8E4M3FN"},
      {"float8_e4m3fn", "f8E4M3FN"},
      {"float8_e4m3", "f8E4M3"},
      {"float8_e4m3b11fnuz", "float<4,3,fnuz,bias=11>"},
      {"e5m2", "f8E5M2"},
      {"fp6", "f6E2M3FN"},
      {"fp4", "f4E2M1FN"},
      {"i8", "fixed<7,0>"},
      {"int8", "fixed<7,0>"},
      {"posit10", "posit<10,2>"},
      {"takum16", "takum<16>"},
      {"e5m7", "float<5,7>"},
      {"uint8", "fixed<8,0,unsigned>"},
  };
  for (auto [theirs, ours] : names) {
    EXPECT_EQ(lookupError(theirs), "unknown format '" + std::string(theirs) +
                                       "', did you mean '" + ours + "'?");
    std::string error;
    EXPECT_TRUE(Registry().lookupFormat(ours, error)) << error;
  }
}

TEST(Registry, KnowsEveryFormatOfP3109ByName) {
  Registry registry;
  int small = 0, all = 0;
  for (int k = 3; k <= 16; ++k)
    for (bool isSigned : {true, false})
      for (int p = 1; p <= (isSigned ? k - 1 : k); ++p)
        for (char domain : {'e', 'f'}) {
          std::string name = "p3109_k" + std::to_string(k) + "p" +
                             std::to_string(p) + (isSigned ? 's' : 'u') +
                             domain;
          Format format = named(registry, name);
          ASSERT_TRUE(format);
          EXPECT_EQ(registry.nameOf(format), name);
          EXPECT_EQ(format, named(registry, format.spelling()));
          EXPECT_EQ(format.width(), unsigned(k));
          EXPECT_EQ(format.getFamily().range(format).precision, p);
          small += k <= 12;
          ++all;
        }
  EXPECT_EQ(small, 280);
  EXPECT_EQ(all, 504);
  EXPECT_EQ(named(registry, "p3109_k8p3se").spelling(), "float<5,2,p3109>");
  EXPECT_EQ(named(registry, "p3109_k8p3uf").spelling(),
            "float<6,2,p3109,infinities=false,unsigned>");
}

TEST(Registry, GivesP3109NamesToTheirFormatsAlone) {
  Registry registry;
  for (const char *text :
       {"float<5,2,p3109,up>", "float<5,2,p3109,saturate>",
        "float<5,2,p3109,bias=15>", "float<5,2,p3109,flush>", "float<1,0,fnu>",
        "float<5,2,p3109,mul.rounding=up>", "float<1,0,p3109,infinities=false>",
        "float<8,8,p3109>", "float<0,7,p3109,bias=0>"})
    EXPECT_EQ(registry.nameOf(named(registry, text)), "") << text;
}

TEST(Registry, SaysWhatIsWrongWithANameOfP3109) {
  for (const char *name : {"p3109_k8p3xx", "p3109_", "p3109_k8p3s",
                           "p3109_k8p3see", "p3109_p3k8se", "p3109_k08p3se",
                           "p3109_k8p0se", "p3109_k8pse", "p3109_kp3se"})
    EXPECT_EQ(lookupError(name),
              "unknown format '" + std::string(name) +
                  "', expected p3109_k<bits>p<precision> and se, sf, ue or uf, "
                  "as in p3109_k8p3se");
  EXPECT_EQ(lookupError("p3109_k17p3se"),
            "format 'p3109_k17p3se' has k = 17, expected 3 to 16 bits");
  EXPECT_EQ(lookupError("p3109_k2p1se"),
            "format 'p3109_k2p1se' has k = 2, expected 3 to 16 bits");
  EXPECT_EQ(lookupError("p3109_k99999999999p3se"),
            "format 'p3109_k99999999999p3se' has k = 99999999999, expected 3 "
            "to 16 bits");
  EXPECT_EQ(lookupError("p3109_k8p9se"),
            "format 'p3109_k8p9se' has p = 9, expected a precision from 1 to "
            "7");
  EXPECT_EQ(lookupError("p3109_k8p8se"),
            "format 'p3109_k8p8se' has p = 8, expected a precision from 1 to "
            "7");
  EXPECT_EQ(lookupError("p3109_k8p9uf"),
            "format 'p3109_k8p9uf' has p = 9, expected a precision from 1 to "
            "8");
}

TEST(OpKind, NamesComeBack) {
  EXPECT_EQ(nameOf(OpKind::RoundEven), "roundeven");
  EXPECT_EQ(operationFromName("minnum"), OpKind::MinNum);
  EXPECT_EQ(operationFromName("Add"), std::nullopt);
  EXPECT_EQ(operandCount(OpKind::Fma), 3u);
}

TEST(Integer, NamesAreThoseOfTheMachine) {
  EXPECT_EQ(integerFromName("i8")->integer, 8u);
  EXPECT_TRUE(integerFromName("i64")->isSigned);
  EXPECT_FALSE(integerFromName("u16")->isSigned);
  EXPECT_FALSE(integerFromName("i7"));
  EXPECT_FALSE(integerFromName(""));
}

class Lowerings : public testing::Test {
protected:
  void SetUp() override {
    std::string text = R"(
formats:
  my: {family: opaque, bits: 16}
lowerings:
  - {op: add, format: my, call: add_any}
  - {op: add, format: my, target: cpu, call: add_cpu}
  - {op: mul, format: my, call: mul_first}
  - {op: mul, format: my, call: mul_second}
  - {op: cast, from: i32, to: my, call: from_i32}
  - {op: cast, from: u32, to: my, call: from_u32}
  - {op: cast, from: my, to: i32, call: to_i32}
  - {op: cmp, format: my, predicate: olt, call: less}
  - {op: cmp, format: my, call: compare}
  - {op: fma, operands: [my, my, f32], result: f32, call: wide_fma}
)";
    std::string errors;
    llvm::raw_string_ostream stream(errors);
    ASSERT_TRUE(registry.loadText(text, "f.yaml", "", stream)) << errors;
    my = named(registry, "my");
  }

  /// The symbol that answers; empty if none does.
  std::string answer(const Lowering &key) const {
    const Lowering *found = registry.findLowering(key);
    return found ? found->symbol : "";
  }
  Lowering binary(OpKind operation, Target target) const {
    Lowering key{};
    key.operation = operation;
    key.target = target;
    key.result = my;
    key.operands = {my, my};
    return key;
  }

  Registry registry;
  Format my;
};

TEST_F(Lowerings, OfTheTargetGoBeforeThoseOfAny) {
  EXPECT_EQ(answer(binary(OpKind::Add, Target::CPU)), "add_cpu");
  EXPECT_EQ(answer(binary(OpKind::Add, Target::NVPTX)), "add_any");
  EXPECT_EQ(answer(binary(OpKind::Sub, Target::CPU)), "");
}

TEST_F(Lowerings, LaterGoBeforeEarlier) {
  EXPECT_EQ(answer(binary(OpKind::Mul, Target::CPU)), "mul_second");
}

TEST_F(Lowerings, OfIntegerCastsMatchWidthAndSign) {
  Lowering key{};
  key.operation = OpKind::Cast;
  key.target = Target::CPU;
  key.result = my;
  key.operands = {Format()};
  key.fromInteger = 32;
  EXPECT_EQ(answer(key), "from_i32");
  key.integerIsSigned = false;
  EXPECT_EQ(answer(key), "from_u32");
  key.fromInteger = 64;
  EXPECT_EQ(answer(key), "");
  Lowering back{};
  back.operation = OpKind::Cast;
  back.operands = {my};
  back.toInteger = 32;
  EXPECT_EQ(answer(back), "to_i32");
}

TEST_F(Lowerings, OfOnePredicateGoBeforeThoseOfAll) {
  Lowering key = binary(OpKind::Cmp, Target::CPU);
  key.predicate = "olt";
  EXPECT_EQ(answer(key), "less");
  key.predicate = "oeq";
  EXPECT_EQ(answer(key), "compare");
}

TEST_F(Lowerings, OfMixedFormatsMatchEveryOperand) {
  Lowering key{};
  key.operation = OpKind::Fma;
  key.result = formatF32();
  key.operands = {my, my, formatF32()};
  EXPECT_EQ(answer(key), "wide_fma");
  key.operands = {my, formatF32(), formatF32()};
  EXPECT_EQ(answer(key), "");
}

TEST_F(Lowerings, KnowWhereTheyWereWritten) {
  EXPECT_EQ(registry.lowerings().front().location, "f.yaml:5:5");
}

TEST_F(Lowerings, MissingAreSuggestedAsALine) {
  EXPECT_EQ(registry.suggest(binary(OpKind::Sub, Target::CPU)),
            "- {op: sub, format: my, target: cpu, call: SYMBOL}");
  Lowering cast{};
  cast.operation = OpKind::Cast;
  cast.operands = {my};
  cast.toInteger = 8;
  cast.integerIsSigned = false;
  EXPECT_EQ(registry.suggest(cast),
            "- {op: cast, from: my, to: u8, target: \"*\", call: SYMBOL}");
  Lowering fma{};
  fma.operation = OpKind::Fma;
  fma.target = Target::NVPTX;
  fma.result = formatF32();
  fma.operands = {my, my, named(registry, "float<5,7>")};
  EXPECT_EQ(registry.suggest(fma),
            "- {op: fma, operands: [my, my, 'float<5,7>'], result: f32, "
            "target: nvptx, call: SYMBOL}");
  Lowering cmp = binary(OpKind::Cmp, Target::CPU);
  cmp.predicate = "olt";
  EXPECT_EQ(registry.suggest(cmp), "- {op: cmp, format: my, predicate: olt, "
                                   "target: cpu, call: SYMBOL}");
}

TEST_F(Lowerings, OfAnotherRoundingAreOthers) {
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  ASSERT_TRUE(registry.loadText(
      "lowerings:\n"
      "  - {op: mul, format: my, rounding: up, call: mul_up}\n"
      "  - {op: mul, format: my, rounding: stochastic, call: mul_random}\n"
      "  - {op: mul, format: 'posit<8,2,up>', call: posit_up}\n",
      "g.yaml", "", stream))
      << errors;
  Lowering key = binary(OpKind::Mul, Target::CPU);
  EXPECT_EQ(answer(key), "mul_second"); // the format's own
  key.rounding = Rounding::Up;
  EXPECT_EQ(answer(key), "mul_up");
  key.rounding = Rounding::Stochastic;
  EXPECT_EQ(answer(key), "mul_random");
  key.randomBits = 8; // a function of 32 bits
  EXPECT_EQ(answer(key), "");
  key.randomBits = 0;
  key.operation = OpKind::Add;
  EXPECT_EQ(registry.suggest(key),
            "- {op: add, format: my, rounding: stochastic, target: cpu, call: "
            "SYMBOL}");
  key.result = named(registry, "posit<8,2,up>");
  key.operands = {key.result, key.result};
  key.operation = OpKind::Mul;
  EXPECT_EQ(answer(key), "");
  key.rounding = Rounding::Up; // the format's own
  EXPECT_EQ(answer(key), "posit_up");
  key.rounding.reset();
  EXPECT_EQ(answer(key), "posit_up");
}

TEST_F(Lowerings, SuggestedAreAcceptedAndFound) {
  Lowering fma{};
  fma.operation = OpKind::Fma;
  fma.result = named(registry, "float<5,7,up>");
  fma.operands = {my, my, named(registry, "opaque<\"other\",8>")};
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  EXPECT_TRUE(registry.loadText("lowerings:\n  " + registry.suggest(fma),
                                "g.yaml", "", stream))
      << errors;
  EXPECT_EQ(answer(fma), "SYMBOL");
}

} // namespace
