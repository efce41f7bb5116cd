// SPDX-License-Identifier: MIT
//
// Scaled formats: names, spellings, what configurations say of them, and
// tensors on the host.

#include "ConfigurationErrors.h"
#include "numera/Registry/Registry.h"
#include "numera/Registry/Scaling/Quantize.h"
#include "numera/Registry/Scaling/ScaleSteps.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace numera;
using namespace numera::test;

namespace {

ScaledFormat formatOf(const Registry &registry, llvm::StringRef text) {
  std::string error;
  ScaledFormat format = registry.lookupScaledFormat(text, error);
  EXPECT_EQ(error, "") << text.str();
  return format;
}

TEST(Scaling, NamesMeanSpellings) {
  Registry registry;
  EXPECT_EQ(formatOf(registry, "mxfp4").spelling(),
            "block<float<2,1,finite>,32>");
  EXPECT_EQ(formatOf(registry, "nvfp4").spelling(),
            "block<float<2,1,finite>,16,scale=float<4,3,fn>,tensor-scale>");
  EXPECT_EQ(formatOf(registry, "mxfp8"), formatOf(registry, "mxfp8e4m3"));
  EXPECT_EQ(registry.nameOf(formatOf(registry, "mxfp8")), "mxfp8e4m3");
  EXPECT_EQ(formatOf(registry, "scaled<i8>").spelling(), "scaled<fixed<7,0>>");
  EXPECT_EQ(formatOf(registry, "scaled<u4, scale=power-of-two>").spelling(),
            "scaled<fixed<4,0,unsigned>,scale=power-of-two>");
  std::string error;
  EXPECT_FALSE(registry.lookupScaledFormat("posit16", error));
  EXPECT_EQ(error, "");
}

TEST(Scaling, SpellingsParseBack) {
  Registry registry;
  for (const char *text :
       {"block<posit<8,1>,16>", "block<float<4,3,fn>,32,rule=even>",
        "block<fixed<3,0>,4,scale=float<8,23>>", "scaled<takum<12>>",
        "scaled<float<5,2>,scale=power-of-two>",
        "scaled<fixed<15,0>,scale=float<8,7>>",
        "scaled<fixed<15,0>,rule=absmax>"})
    EXPECT_EQ(formatOf(registry, text).spelling(), text);
}

TEST(Scaling, ErrorsOfSpellings) {
  Registry registry;
  auto errorOf = [&](llvm::StringRef text) {
    std::string error;
    EXPECT_FALSE(registry.lookupScaledFormat(text, error));
    return error;
  };
  EXPECT_EQ(errorOf("block<i8>"),
            "in 'block<i8>': found '>', expected the elements of a block, 2 or "
            "more");
  EXPECT_EQ(errorOf("block<i8,32,rule=flor>"),
            "in 'block<i8,32,rule=flor>': unknown rule 'flor', did you mean "
            "'floor'?");
  EXPECT_EQ(errorOf("scaled<i8,tensor-scale>"),
            "in 'scaled<i8,tensor-scale>': found 'tensor-scale', expected "
            "scale=FORMAT, rule=RULE, full-scale=NUMBER or storage=packed");
  EXPECT_EQ(errorOf("scaled<i8,full-scale=-1>"),
            "in 'scaled<i8,full-scale=-1>': full-scale is '-1', expected a "
            "number of f32 above 0");
  EXPECT_EQ(errorOf("block<f8E5M2,16,full-scale=1e60>"),
            "in 'block<f8E5M2,16,full-scale=1e60>': full-scale is '1e60', "
            "expected a number of f32 above 0");
  EXPECT_EQ(errorOf("block<float<5,10,bias=300>,4>"),
            "in 'block<float<5,10,bias=300>,4>': the largest number of "
            "'float<5,10,bias=300>' is 0 in f32, which scaled values are read "
            "as; expected a wider element");
  EXPECT_EQ(errorOf("scaled<f8E4M3FN,rule=min-max>"),
            "in 'scaled<f8E4M3FN,rule=min-max>': rule 'min-max' makes zero "
            "points, for 'scaled' with integers of up to 16 bits and scale "
            "f32");
  EXPECT_EQ(errorOf("block<i8,32,tensor-scale>"),
            "in 'block<i8,32,tensor-scale>': a tensor scale goes with rule "
            "'absmax', found 'floor'");
  EXPECT_EQ(errorOf("scaled<posit17>"),
            "in 'scaled<posit17>': unknown format 'posit17', did you mean "
            "'posit<17,2>'?");
  EXPECT_EQ(errorOf("scaled<opaque<\"x\",8>>"),
            "in 'scaled<opaque<\"x\",8>>': nothing says which number of "
            "'opaque<\"x\",8>', which is opaque, scales aim at; expected "
            "'full-scale'");
  EXPECT_EQ(errorOf("scaled<float<4,3,stochastic>>"),
            "in 'scaled<float<4,3,stochastic>>': elements in "
            "'float<4,3,stochastic>' round stochastically, which scaled "
            "tensors do not; expected another rounding");
  EXPECT_EQ(errorOf("scaled<f64>"),
            "in 'scaled<f64>': 'float<11,52>' has numbers beyond f32, which "
            "scaled values are read as; expected a narrower element");
}

TEST(Scaling, FormatsOfNumbersAreNoScaledOnes) {
  Registry registry;
  std::string error;
  EXPECT_FALSE(registry.lookupFormat("mxfp8", error));
  EXPECT_EQ(error, "'mxfp8' is a scaled format, which tensors have; expected a "
                   "format of numbers");
}

TEST(Scaling, FullScale) {
  Registry registry;
  EXPECT_EQ(fullScale(formatOf(registry, "mxfp8").element), 448);
  EXPECT_EQ(formatOf(registry, "mxfp8").fullScale(), 448);
  EXPECT_EQ(formatOf(registry, "scaled<i8,full-scale=100>").fullScale(), 100);
  EXPECT_EQ(fullScale(formatOf(registry, "scaled<i8>").element), 127);
  EXPECT_EQ(fullScale(formatOf(registry, "scaled<posit16>").element), 1);
  EXPECT_EQ(fullScale(formatOf(registry, "scaled<takum<16>>").element), 1);
  EXPECT_EQ(formatOf(registry, "mxfp4").bitsPerElement(), 4.25);
}

/// The scale of amax as the table of Z2 has it, an exponent.
TEST(Scaling, ScalesOfSubnormalNumbers) {
  Registry registry;
  auto exponentOf = [&](llvm::StringRef text, float amax) {
    return std::ilogb(scaleOf(formatOf(registry, text), amax));
  };
  // emax is -1.
  for (const char *text :
       {"block<fixed<0,7>,4>", "block<fixed<0,7>,4,rule=ceil>",
        "block<fixed<0,7>,4,rule=even>", "block<float<0,4,finite,bias=1>,4>"}) {
    EXPECT_EQ(exponentOf(text, 0), -127) << text;
    EXPECT_EQ(exponentOf(text, 0x1p-149f), -127) << text;
    EXPECT_EQ(exponentOf(text, 0x1p-128f), -127) << text;
    EXPECT_EQ(exponentOf(text, 0x1p-127f), -126) << text;
    EXPECT_EQ(exponentOf(text, 0x1p-126f), -125) << text;
    EXPECT_EQ(exponentOf(text, 0x1p126f), 127) << text;
    EXPECT_EQ(exponentOf(text, 0x1.fffffep127f), 127) << text;
    EXPECT_TRUE(std::isnan(scaleOf(formatOf(registry, text), INFINITY)));
  }
  // emax is -6, and -198 with a full scale that is subnormal itself.
  EXPECT_EQ(exponentOf("block<float<2,1,finite,bias=9>,4>", 0x1p-149f), -127);
  EXPECT_EQ(exponentOf("block<float<2,1,finite,bias=9>,4>", 0x1p-130f), -124);
  EXPECT_EQ(exponentOf("block<f8E5M2,4,full-scale=1e-40>", 0x1p-149f), -16);
  EXPECT_EQ(exponentOf("block<f8E5M2,4,full-scale=1e-40>", 1), 127);
  EXPECT_EQ(exponentOf("block<f8E5M2,4,full-scale=1e-40>", 0), -127);
  // Seven bits hold 127/64 · 2^-127, and do not round it up.
  EXPECT_EQ(exponentOf("block<fixed<1,6>,4,rule=even>", 0x1.fcp-127f), -127);
  EXPECT_EQ(exponentOf("block<fixed<1,6>,4,rule=even>", 0x1.fep-127f), -126);
  EXPECT_EQ(exponentOf("block<fixed<1,6>,4,rule=even>", 0x1.fep127f), 127);
}

TEST(Scaling, ScalesBeyondTheirFormat) {
  Registry registry;
  auto scale = [&](llvm::StringRef text, float amax) {
    return scaleOf(formatOf(registry, text), amax);
  };
  EXPECT_EQ(scale("block<f4E2M1FN,4,scale=f16,rule=floor>", 0x1p100f), 65504);
  EXPECT_EQ(scale("block<f4E2M1FN,4,scale=f16,rule=ceil>", 0x1p-99f), 0x1p-24f);
  EXPECT_EQ(scale("block<f4E2M1FN,4,scale=f16,rule=floor>", 0), 0x1p-24f);
  for (const char *rule :
       {"floor", "ceil", "even", "round-up-ceil", "absmax"}) {
    std::string text = "block<f4E2M1FN,4,scale=f32,rule=" + std::string(rule);
    EXPECT_EQ(scale(text + ">", 0), 1) << rule;
  }
  // Quotients that f32 does not reach.
  EXPECT_EQ(scale("block<fixed<0,7>,4,rule=round-up-ceil>", 0x1.fffffep127f),
            0x1p127f);
  EXPECT_EQ(scale("block<fixed<0,7>,4,scale=f32>", 0x1.fffffep127f),
            0x1.fffffep127f);
  EXPECT_EQ(scale("block<fixed<0,7>,4,scale=f32>", INFINITY), INFINITY);
}

/// 2^25 - 1 is 2^25 in f32, and its exponent is 24.
TEST(Scaling, ExponentsOfIntegersBeyondF32) {
  Registry registry;
  ScaledFormat format = formatOf(registry, "block<fixed<25,0>,4>");
  EXPECT_EQ(scaleOf(format, 32768.00390625f), 0x1p-9f);
  ScaleGrid grid(format.scaling, {1}, 0);
  EXPECT_EQ(quantize(format, grid, {32768.00390625f}).data,
            std::vector<uint64_t>{16777218});
}

TEST(Scaling, ConfigurationsOfFormats) {
  Registry registry;
  std::string text;
  llvm::raw_string_ostream errors(text);
  ASSERT_TRUE(registry.loadText(
      "formats:\n"
      "  a: {family: block, element: i4, size: 8, rule: even}\n"
      "  b: {family: scaled, element: 'posit<12,1>', scale: bf16}\n"
      "  c: {family: block, element: f4E2M1FN, size: 32, storage: packed}\n"
      "  d: {family: scaled, element: u8, rule: min-max}\n"
      "  e: {family: scaled, element: posit8, full-scale: 16.5}\n",
      "f.yaml", "", errors))
      << text;
  EXPECT_EQ(formatOf(registry, "a").spelling(),
            "block<fixed<3,0>,8,rule=even>");
  EXPECT_EQ(formatOf(registry, "b").spelling(),
            "scaled<posit<12,1>,scale=float<8,7>>");
  EXPECT_EQ(formatOf(registry, "c").spelling(),
            "block<float<2,1,finite>,32,storage=packed>");
  EXPECT_EQ(formatOf(registry, "d").spelling(),
            "scaled<fixed<8,0,unsigned>,rule=min-max>");
  EXPECT_EQ(formatOf(registry, "e").spelling(),
            "scaled<posit<8,2>,full-scale=16.5>");
  for (const char *name : {"a", "b", "c", "d", "e"}) {
    ScaledFormat format = formatOf(registry, name);
    EXPECT_EQ(formatOf(registry, format.spelling()), format);
  }
  EXPECT_EQ(errorOfFormat("a: {family: scaled, element: i4, storage: dense}"),
            "f.yaml:2:45: error: storage is 'dense', expected packed or "
            "plain\n");
  EXPECT_EQ(errorOfFormat("a: {family: scaled, element: i4, full-scale: 0}"),
            "f.yaml:2:48: error: full-scale is '0', expected a number above "
            "0\n");
  EXPECT_EQ(errorOfFormat("a: {family: block, element: i8}"),
            "f.yaml:2:3: error: 'size' is missing, format 'a' needs it\n");
  EXPECT_EQ(errorOfFormat("a: {family: block, element: i8, size: 1}"),
            "f.yaml:2:41: error: size is '1', expected the elements of a "
            "block, 2 or more\n");
  EXPECT_EQ(errorOfFormat("a: {family: scaled, element: i8, size: 4}"),
            "f.yaml:2:36: error: unknown key 'size' of a format of family "
            "'scaled', expected family, element, scale, rule, storage or "
            "full-scale\n");
  EXPECT_EQ(errorOfFormat("mxfp8: {family: scaled, element: i8}"),
            "f.yaml:2:3: error: format 'mxfp8' is built in, choose another "
            "name\n");
}

TEST(Scaling, Policies) {
  Registry registry;
  std::string text;
  llvm::raw_string_ostream errors(text);
  ASSERT_TRUE(registry.loadText(
      "policy:\n"
      "  default: f8E4M3FN\n"
      "  scale: {weights: per-channel, activations: block(16)}\n"
      "  scales: {conv.lhs: 0.5, conv.rhs: [1, 2.5]}\n",
      "f.yaml", "", errors))
      << text;
  const Policy &policy = registry.policy();
  EXPECT_TRUE(policy.weights.isPerChannel);
  EXPECT_EQ(policy.weights.scaled.spelling(),
            "scaled<float<4,3,fn>,rule=absmax>");
  EXPECT_EQ(policy.activations.scaled.spelling(), "block<float<4,3,fn>,16>");
  EXPECT_FALSE(policy.outputs);
  EXPECT_EQ(policy.scales.lookup("conv.rhs"), (std::vector<float>{1, 2.5}));
  EXPECT_EQ(errorOf("policy: {scale: per-tensor}\n"),
            "f.yaml:1:17: error: 'scale: per-tensor' needs a format to scale, "
            "expected 'default'\n");
  EXPECT_EQ(errorOf("policy: {weights: mxfp8, default: bf16, scale: "
                    "per-tensor}\n"),
            "f.yaml:1:48: error: 'scale' has a scaled format already, expected "
            "scale none\n");
  EXPECT_EQ(errorOf("policy: {scales: {a: -1}}\n"),
            "f.yaml:1:22: error: a scale is '-1', expected a number above 0\n");
}

/// Blocks of two along the first axis of three rows, the last one short.
TEST(Scaling, GridOfBlocks) {
  Registry registry;
  ScaledFormat format = formatOf(registry, "block<i8,2,scale=f32>");
  ScaleGrid grid(format.scaling, {3, 2}, 0);
  EXPECT_EQ(grid.groups(), 4);
  EXPECT_EQ(grid.shape().vec(), (std::vector<int64_t>{2, 2}));
  ScaledTensor tensor = quantize(format, grid, {127, -1, 12.7f, 254, -0.5f, 0});
  EXPECT_EQ(tensor.data, (std::vector<uint64_t>{127, 0, 13, 127, 0x81, 0}));
  std::vector<float> values = dequantize(format, grid, tensor);
  EXPECT_EQ(values[0], 127);
  EXPECT_EQ(values[2], 13);
  EXPECT_EQ(values[3], 254);
  EXPECT_EQ(values[4], -0.5f);
  EXPECT_EQ(values[5], 0);
}

TEST(Scaling, ElementsWithTheRangeOfF32) {
  Registry registry;
  for (const char *text :
       {"scaled<float<8,7>,rule=absmax>", "scaled<float<8,23>,rule=absmax>"}) {
    ScaledFormat format = formatOf(registry, text);
    EXPECT_EQ(scaleOf(format, 1e-30f), 1) << text;
    ScaleGrid grid(format.scaling, {4}, -1);
    ScaledTensor tensor = quantize(format, grid, {1, -0.5f, 0x1p-120f, 0});
    EXPECT_EQ(dequantize(format, grid, tensor),
              (std::vector<float>{1, -0.5f, 0x1p-120f, 0}))
        << text;
  }
  // Elements by their largest, of which the product with a scale is none of
  // f32's if it is as large as both.
  for (const char *text : {"scaled<float<8,7>>", "scaled<float<8,23>>",
                           "scaled<float<8,10>>", "scaled<lns<7,4>>"}) {
    ScaledFormat format = formatOf(registry, text);
    EXPECT_EQ(format.fullScale(), 1) << text;
    ScaleGrid grid(format.scaling, {4}, -1);
    ScaledTensor tensor = quantize(format, grid, {0x1p100f, -0x1p99f, 0, 1});
    std::vector<float> values = dequantize(format, grid, tensor);
    values.pop_back(); // lns has no 2^-100 of it
    EXPECT_EQ(values, (std::vector<float>{0x1p100f, -0x1p99f, 0})) << text;
  }
  ScaledFormat half = formatOf(registry, "scaled<float<5,10>,rule=absmax>");
  EXPECT_EQ(scaleOf(half, 1), 1 / 65504.0f);
}

/// The arithmetic of ScaleSteps by its definition: each step is computed
/// exactly, and rounded once.
class ExactArithmetic {
public:
  struct Value {
    Format format;
    uint64_t code;
  };
  static Value ofFloat(float number) {
    return {formatF32(), llvm::bit_cast<uint32_t>(number)};
  }
  static Format formatOf(const Value &x) { return x.format; }
  static Value constant(const Format &format, double number) {
    return cast(format, {formatF64(), llvm::bit_cast<uint64_t>(number)}, {});
  }
  static Value binary(OpKind kind, const Value &x, const Value &y) {
    return {x.format,
            x.format.getFamily().evaluateExactly(
                kind, x.format, {x.code, y.code}, x.format.getRoundingMode())};
  }
  static Value cast(const Format &to, const Value &x, const CastRules &rules) {
    Format encoding = to;
    if (rules.overflow)
      if (Format other = to.getFamily().withOverflow(to, *rules.overflow))
        encoding = other;
    RoundingMode mode = to.getRoundingMode();
    if (rules.rounding)
      mode.rounding = *rules.rounding;
    Unpacked number = x.format.getFamily().decode(x.format, x.code);
    return {to, to.getFamily().encode(encoding, number, mode)};
  }
  static Value nonzero(const Value &x, const Value &other) {
    return x.format.getFamily().decode(x.format, x.code).isZero() ? other : x;
  }
};

TEST(Scaling, ElementsAreThoseOfTheSteps) {
  Registry registry;
  std::mt19937 random(7);
  std::uniform_int_distribution<uint32_t> any;
  for (const char *text :
       {"mxfp8e4m3", "mxfp8e5m2", "mxfp6e3m2", "mxfp4", "mxint8", "nvfp4",
        "scaled<i8>", "scaled<i8,rule=absmax>", "scaled<posit8>",
        "scaled<float<5,10>>", "scaled<takum<12>>", "block<lns<4,3>,16>",
        "block<float<4,3,fn,up>,8>"}) {
    ScaledFormat format = formatOf(registry, text);
    std::vector<float> values = {0, -0.0f, 1, -3, 0x1p-149f, -0x1p-126f};
    while (values.size() < 512)
      values.push_back(std::ldexp(float(int32_t(any(random))) * 0x1p-31f,
                                  int(any(random) % 24) - 12));
    for (size_t i = 256; i < 320; ++i)
      values[i] *= 0x1p-125f; // quotients and products that are subnormal
    for (bool isFinite : {true, false}) {
      if (!isFinite) {
        values[40] = INFINITY;
        values[400] = NAN;
      }
      ScaleGrid grid(format.scaling, {int64_t(values.size())}, 0);
      if (!format.isBlock())
        grid = ScaleGrid(format.scaling, {int64_t(values.size())}, -1);
      ScaledTensor tensor = quantize(format, grid, values);
      std::vector<float> back = dequantize(format, grid, tensor);
      ExactArithmetic arithmetic;
      ScaleSteps<ExactArithmetic> steps(arithmetic, format);
      std::optional<ExactArithmetic::Value> tensorScale;
      if (tensor.tensorScale)
        tensorScale = ExactArithmetic::ofFloat(*tensor.tensorScale);
      for (size_t i = 0; i < values.size(); ++i) {
        ExactArithmetic::Value divisor = steps.divisor(
            {format.scaling.scale, tensor.scales[grid.groupOf(int64_t(i))]},
            tensorScale);
        ExactArithmetic::Value element =
            steps.quantize(ExactArithmetic::ofFloat(values[i]), divisor);
        EXPECT_EQ(tensor.data[i], element.code) << text << ' ' << values[i];
        float number = llvm::bit_cast<float>(
            uint32_t(steps.dequantize(element, divisor).code));
        EXPECT_TRUE(std::isnan(number) ? std::isnan(back[i])
                                       : llvm::bit_cast<uint32_t>(number) ==
                                             llvm::bit_cast<uint32_t>(back[i]))
            << text << ' ' << values[i] << ' ' << number << ' ' << back[i];
      }
    }
  }
}

TEST(Scaling, GivenScales) {
  Registry registry;
  ScaledFormat format = formatOf(registry, "scaled<i8,rule=absmax>");
  ScaleGrid grid(format.scaling, {3}, -1);
  ScaledTensor tensor = quantize(format, grid, {1, -2, 100}, {0.5f});
  EXPECT_EQ(tensor.data, (std::vector<uint64_t>{2, 0xfc, 127}));
  EXPECT_TRUE(std::isnan(dequantize(
      formatOf(registry, "mxfp4"),
      ScaleGrid(formatOf(registry, "mxfp4").scaling, {1}, 0),
      quantize(formatOf(registry, "mxfp4"),
               ScaleGrid(formatOf(registry, "mxfp4").scaling, {1}, 0),
               {INFINITY}))[0]));
}

} // namespace
