// SPDX-License-Identifier: MIT
//
// Configuration files: what they mean.

#include "TestFolder.h"
#include "numera/Registry/Registry.h"
#include "llvm/Support/Path.h"

using namespace numera;
using namespace numera::test;

namespace {

TEST(Configuration, SaysWhatAnOpaqueFormatsCodesMean) {
  Registry registry;
  ASSERT_TRUE(registry.loadText(
      "formats:\n"
      "  a: {family: opaque, bits: 16, equivalent: bf16}\n"
      "  b: {family: opaque, bits: 13, equivalent: 'float<5,7,up>'}\n"
      "  c: {family: opaque, bits: 8}\n",
      "f.yaml", "", llvm::errs()));
  auto equivalent = [&](llvm::StringRef name) {
    std::string error;
    Format meaning = registry.equivalentOf(registry.lookupFormat(name, error));
    return meaning ? meaning.spelling() : "";
  };
  EXPECT_EQ(equivalent("a"), "float<8,7>");
  EXPECT_EQ(equivalent("b"), "float<5,7,up>");
  EXPECT_EQ(equivalent("c"), "");
  EXPECT_EQ(equivalent("posit16"), "posit<16,2>");
}

TEST(Configuration, FilesOfLibrariesMayBePatterns) {
  Folder folder;
  for (const char *name : {"b.c", "a.c", "a_x2.c", "c.cpp", "note.txt"})
    folder.write(name, "");
  auto filesOf = [&](llvm::StringRef path) {
    Registry registry;
    EXPECT_TRUE(
        registry.loadText(("libraries: {l: {path: " + path + "}}").str(),
                          "f.yaml", folder.path, llvm::errs()));
    std::vector<std::string> names;
    for (llvm::StringRef file : registry.findLibrary("l")->paths)
      names.push_back(llvm::sys::path::filename(file).str());
    return names;
  };
  using Names = std::vector<std::string>;
  // By name, and each once.
  EXPECT_EQ(filesOf("'*.c'"), Names({"a.c", "a_x2.c", "b.c", "lib.c"}));
  EXPECT_EQ(filesOf("[b.c, '*.c']"), Names({"b.c", "a.c", "a_x2.c", "lib.c"}));
  EXPECT_EQ(filesOf("['*.c', '!*_x2.c', '!lib.c']"), Names({"a.c", "b.c"}));
  EXPECT_EQ(filesOf("'[ab].c'"), Names({"a.c", "b.c"}));
  EXPECT_EQ(filesOf("['{b,lib}.c', '?.cpp']"),
            Names({"b.c", "lib.c", "c.cpp"}));
}

TEST(Configuration, ReadsEverySection) {
  Folder folder;
  std::string path = folder.write("f.yaml", R"(
policy:                       # sections may stand in any order
  default: e5m7
  accumulate: posit32
  scale: none
formats:
  blocks: {family: block, element: e5m7, size: 8} # an element may come later
  e5m7: {family: float, exponent: 5, mantissa: 7, rounding: up,
         overflow: saturate, subnormals: flush, bias: 9, signed: true}
  posit12: {family: posit, bits: 12, es: 1}
  e4m3fn: {family: float, exponent: 4, mantissa: 3, specials: fn}
  my:
    family: opaque
    bits: 16
libraries:
  lib: {path: lib.c}
lowerings:
  - {op: cast, from: f32, to: my, target: cpu, call: from_f32, library: lib}
  - op: add
    format: my
    target: "*"
    call: add
  - {op: mul, format: 'float<5,7>', target: nvptx, call: mul}
)");
  Registry registry;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  ASSERT_TRUE(registry.load(path, stream)) << errors;

  llvm::ArrayRef<Registry::NamedFormat> formats =
      registry.formats().take_back(4);
  EXPECT_EQ(formats[0].format.spelling(),
            "float<5,7,bias=9,flush,saturate,up>");
  EXPECT_EQ(formats[1].format.spelling(), "posit<12,1>");
  EXPECT_EQ(formats[2].format.spelling(), "float<4,3,fn>");
  EXPECT_EQ(formats[3].format.spelling(), "opaque<\"my\",16>");
  EXPECT_FALSE(formats[0].isBuiltin);
  EXPECT_EQ(formats[0].location, path + ":8:3");
  EXPECT_EQ(registry.nameOf(formats[2].format), "f8E4M3FN"); // the first name

  std::string error;
  ScaledFormat blocks = registry.lookupScaledFormat("blocks", error);
  EXPECT_EQ(blocks.element, formats[0].format) << error;

  ASSERT_TRUE(registry.findLibrary("lib"));
  EXPECT_EQ(registry.findLibrary("lib")->paths,
            std::vector<std::string>({(folder.path + "/lib.c").str()}));
  ASSERT_EQ(registry.lowerings().size(), 3u);
  EXPECT_EQ(registry.lowerings()[0].library, "lib");
  EXPECT_EQ(registry.lowerings()[1].location, path + ":19:5");
  EXPECT_EQ(registry.lowerings()[2].target, Target::NVPTX);

  EXPECT_EQ(registry.policy().defaultFormat, formats[0].format);
  EXPECT_EQ(registry.policy().accumulate, Policy::Accumulate::Named);
  EXPECT_EQ(registry.policy().accumulator.spelling(), "posit<32,2>");
}

TEST(Configuration, ReadsSpecialsAndChangesOfOperations) {
  Registry registry;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  ASSERT_TRUE(registry.loadText(R"(
formats:
  a: {family: float, exponent: 5, mantissa: 7, rounding: stochastic,
      random-bits: 8,
      operations: {mul: {truncate-operands: 3, rounding: toward-zero},
                   add: {overflow: saturate}, sub: {}}}
  b: {family: float, exponent: 6, mantissa: 2, specials: p3109, signed: false,
      infinities: false}
  c: {family: float, exponent: 8, mantissa: 0, specials: fnu}
  d: {family: fixed, integer: 4, fraction: 11, signed: false, overflow: wrap}
  e: {family: takum, bits: 16, rounding: up}
lowerings:
  - {op: add, format: p3109_k8p3uf, call: add}
policy: {default: p3109_k8p3se}
)",
                                "f.yaml", "", stream))
      << errors;
  llvm::ArrayRef<Registry::NamedFormat> formats =
      registry.formats().take_back(5);
  EXPECT_EQ(formats[0].format.spelling(),
            "float<5,7,stochastic,random-bits=8,add.overflow=saturate,"
            "mul.rounding=toward-zero,mul.truncate-operands=3>");
  EXPECT_EQ(formats[1].format.spelling(),
            "float<6,2,p3109,infinities=false,unsigned>");
  EXPECT_EQ(formats[2].format.spelling(), "float<8,0,fnu>");
  EXPECT_EQ(formats[3].format.spelling(), "fixed<4,11,unsigned,wrap>");
  EXPECT_EQ(formats[4].format.spelling(), "takum<16,up>");
  EXPECT_EQ(registry.lowerings()[0].result, formats[1].format);
  EXPECT_EQ(registry.policy().defaultFormat.spelling(), "float<5,2,p3109>");
}

TEST(Configuration, KnowsTheCarriersOfOpaqueFormats) {
  Registry registry;
  ASSERT_TRUE(
      registry.loadText("formats:\n"
                        "  a: {family: opaque, bits: 16, carrier: f64}\n"
                        "  b: {family: opaque, bits: 16}\n",
                        "f.yaml", "", llvm::errs()));
  std::string error;
  EXPECT_EQ(registry.carrierOf(registry.lookupFormat("a", error)), formatF64());
  EXPECT_FALSE(registry.carrierOf(registry.lookupFormat("b", error)));
  EXPECT_FALSE(registry.carrierOf(registry.lookupFormat("bf16", error)));
}

TEST(Configuration, ReadsVectorVariants) {
  Registry registry;
  ASSERT_TRUE(registry.loadText(
      R"(
formats: {my: {family: opaque, bits: 12}}
lowerings:
  - {op: add, format: my, call: f, vector: {call: f_32, lanes: 32}}
  - {op: cast, from: my, to: i8, call: g, vector: {call: g_n}}
  - {op: cmp, format: my, call: h, vector: {call: h_8, lanes: 8}}
  - {op: neg, format: my, call: k}
)",
      "f.yaml", "", llvm::errs()));
  llvm::ArrayRef<Lowering> lowerings = registry.lowerings();
  EXPECT_EQ(lowerings[0].vector->symbol, "f_32");
  EXPECT_EQ(lowerings[0].vector->lanes, 32u);
  EXPECT_EQ(lowerings[1].vector->symbol, "g_n");
  EXPECT_EQ(lowerings[1].vector->lanes, 0u);
  EXPECT_EQ(lowerings[2].vector->lanes, 8u);
  EXPECT_FALSE(lowerings[3].vector);
}

TEST(Configuration, MayBeEmpty) {
  for (const char *text : {"", "# nothing\n", "formats:\n", "formats: {}\n"}) {
    Registry registry;
    std::string errors;
    llvm::raw_string_ostream stream(errors);
    EXPECT_TRUE(registry.loadText(text, "f.yaml", "", stream)) << errors;
  }
}

TEST(Configuration, AccumulatesInTheSameFormat) {
  Registry registry;
  ASSERT_TRUE(registry.loadText("policy: {accumulate: same}", "f.yaml", "",
                                llvm::errs()));
  EXPECT_EQ(registry.policy().accumulate, Policy::Accumulate::Same);
}

TEST(Configuration, AccumulatesExactly) {
  Registry registry;
  EXPECT_TRUE(registry.policy().replaced.empty());
  ASSERT_TRUE(registry.loadText("policy: {replace: [f32, bf16]}", "f.yaml", "",
                                llvm::errs()));
  ASSERT_EQ(registry.policy().replaced.size(), 2u);
  EXPECT_EQ(registry.nameOf(registry.policy().replaced[1]), "bf16");
  ASSERT_TRUE(registry.loadText("policy: {accumulate: quire}", "f.yaml", "",
                                llvm::errs()));
  EXPECT_EQ(registry.policy().accumulate, Policy::Accumulate::Quire);
  EXPECT_FALSE(registry.policy().accumulator);
}

TEST(Configuration, RulesOfAPolicy) {
  Registry registry;
  ASSERT_TRUE(registry.loadText(R"(
policy:
  rules:
    - {match: "conv1*", format: 'float<5,7>', accumulate: same}
    - {match: {op: softmax}, format: mxfp8}
    - {match: {name: "*/fc", op: gemm}, weights: bf16, outputs: mxfp4}
)",
                                "f.yaml", "", llvm::errs()));
  const std::vector<Policy::Rule> &rules = registry.policy().rules;
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0].pattern(), "conv1*");
  EXPECT_EQ(rules[0].format.spelling(), "float<5,7>");
  EXPECT_EQ(rules[0].accumulate, Policy::Accumulate::Same);
  EXPECT_EQ(rules[0].location, "f.yaml:4:7");
  EXPECT_EQ(rules[1].pattern(), "op softmax");
  EXPECT_EQ(rules[1].scaled.spelling(), "block<float<4,3,fn>,32>");
  EXPECT_EQ(rules[2].pattern(), "op gemm, name */fc");
  EXPECT_FALSE(rules[2].hasFormat());
  EXPECT_EQ(rules[2].weights.format.spelling(), "float<8,7>");
  EXPECT_TRUE(rules[2].outputs.scaled);
  // A later file's rules stand for those of an earlier one.
  ASSERT_TRUE(
      registry.loadText("policy: {rules: []}", "g.yaml", "", llvm::errs()));
  EXPECT_TRUE(registry.policy().rules.empty());
}

TEST(Configuration, PatternsOfRules) {
  auto matches = [](const char *pattern, const char *name) {
    Policy::Rule rule;
    rule.name = pattern;
    return rule.matches(name, "onnx.Conv");
  };
  EXPECT_TRUE(matches("conv1", "conv1"));
  EXPECT_FALSE(matches("conv1", "conv10"));
  EXPECT_FALSE(matches("conv1", "Conv1"));
  EXPECT_TRUE(matches("conv1*", "conv1"));
  EXPECT_TRUE(matches("conv?", "conv1"));
  EXPECT_FALSE(matches("conv?", "conv"));
  EXPECT_TRUE(matches("*/b*c/?", "a/b/bbc/d"));
  EXPECT_FALSE(matches("*/b*c/?", "a/b/bbc/"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_FALSE(matches("?", ""));
  auto isOf = [](const char *pattern, const char *operation) {
    Policy::Rule rule;
    rule.operation = pattern;
    return rule.matches("", operation);
  };
  EXPECT_TRUE(isOf("softmax", "onnx.Softmax"));
  EXPECT_TRUE(isOf("ONNX.softmax", "onnx.Softmax"));
  EXPECT_FALSE(isOf("max", "onnx.Softmax"));
  EXPECT_FALSE(isOf("softmax", "onnx.LogSoftmax"));
  EXPECT_TRUE(isOf("*softmax", "onnx.LogSoftmax"));
  EXPECT_TRUE(isOf("linalg.matmul", "linalg.matmul"));
  EXPECT_TRUE(isOf("matmul", "linalg.matmul"));
  EXPECT_FALSE(isOf("linalg", "linalg.matmul"));
}

} // namespace
