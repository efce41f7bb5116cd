// SPDX-License-Identifier: MIT
//
// Configuration files: what is said about wrong lowerings.

#include "ConfigurationErrors.h"
#include "llvm/ADT/Twine.h"

using namespace numera;
using namespace numera::test;

namespace {

TEST(LoweringError, AFunctionForAnOperationThatIsChanged) {
  constexpr llvm::StringLiteral format =
      "formats: {a: {family: posit, bits: 8, operations: {fma: "
      "{rounding: up}, mac: {truncate-operands: 1}}}}\nlowerings:\n  - ";
  EXPECT_EQ(errorOf((format + "{op: fma, format: a, call: f}\n").str()),
            "f.yaml:3:5: error: format 'a' changes 'fma', expected that or a "
            "function for 'fma'\n");
  EXPECT_EQ(errorOf((format + "{op: mac, operands: [a, a, f32], result: f32, "
                              "call: f}\n")
                        .str()),
            "f.yaml:3:5: error: format 'a' changes 'mac', expected that or a "
            "function for 'mac'\n");
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  EXPECT_TRUE(Registry().loadText(
      (format + "{op: add, format: a, call: f}\n").str(), "f.yaml", "", stream))
      << errors;
}

TEST(LoweringError, OperationOfALowering) {
  EXPECT_EQ(errorOfLowering("{format: my, call: f}"),
            "f.yaml:4:5: error: 'op' is missing, a lowering needs it\n");
  EXPECT_EQ(errorOfLowering("{op: ad, format: my, call: f}"),
            "f.yaml:4:10: error: unknown operation 'ad', did you mean "
            "'add'?\n");
  EXPECT_EQ(errorOfLowering("{op: add, fromat: my, call: f}"),
            "f.yaml:4:15: error: unknown key 'fromat' of a lowering, did you "
            "mean 'format'?\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, rounding: upp, call: f}"),
            "f.yaml:4:37: error: unknown rounding 'upp', did you mean "
            "'up'?\n");
}

TEST(LoweringError, FormatsOfALowering) {
  EXPECT_EQ(errorOfLowering("{op: add, call: f}"),
            "f.yaml:4:5: error: 'format' is missing, a lowering of 'add' needs "
            "it\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: posit17, call: f}"),
            "f.yaml:4:23: error: unknown format 'posit17', did you mean "
            "'posit<17,2>'?\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: 'float<5,99>', call: f}"),
            "f.yaml:4:32: error: mantissa is '99', expected an integer from 0 "
            "to 52\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: float<5,7>, call: f}"),
            "f.yaml:4:31: error: found '7>', a spelling with commas needs "
            "quotes, as in 'posit<16,2>'\n");
  EXPECT_EQ(errorOfLowering("{op: add, from: my, to: f32, call: f}"),
            "f.yaml:4:15: error: 'from' belongs to a cast, expected format for "
            "'add'\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, result: f32, call: f}"),
            "f.yaml:4:27: error: 'result' is given beside format, expected "
            "format, or operands and result\n");
  EXPECT_EQ(errorOfLowering("{op: add, result: my, call: f}"),
            "f.yaml:4:15: error: found result alone, expected operands and "
            "result\n");
  EXPECT_EQ(errorOfLowering("{op: fma, operands: [my, my], result: my, call: "
                            "f}"),
            "f.yaml:4:25: error: 'fma' takes 3 operands, found 2\n");
  EXPECT_EQ(errorOfLowering("{op: cmp, operands: [my, f32], call: f}"),
            "f.yaml:4:15: error: 'cmp' has operands of one format, expected "
            "format\n");
}

TEST(LoweringError, Casts) {
  EXPECT_EQ(errorOfLowering("{op: cast, from: my, call: f}"),
            "f.yaml:4:5: error: 'to' is missing, a cast needs it\n");
  EXPECT_EQ(errorOfLowering("{op: cast, format: my, call: f}"),
            "f.yaml:4:16: error: a cast has no 'format', expected from and "
            "to\n");
  EXPECT_EQ(errorOfLowering("{op: cast, from: i32, to: i64, call: f}"),
            "f.yaml:4:31: error: a cast from 'i32' to 'i64' has no format, "
            "expected one side to be a format\n");
}

TEST(LoweringError, TheRestOfALowering) {
  EXPECT_EQ(errorOfLowering("{op: add, format: my, target: gpu, call: f}"),
            "f.yaml:4:35: error: unknown target 'gpu', did you mean 'cpu'?\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, target: x86, call: f}"),
            "f.yaml:4:35: error: unknown target 'x86', expected cpu, nvptx or "
            "\"*\"\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my}"),
            "f.yaml:4:5: error: 'call' is missing, a lowering needs it\n");
  EXPECT_EQ(
      errorOfLowering("{op: add, format: my, call: f()}"),
      "f.yaml:4:33: error: 'f()' is not a function, expected the name of a "
      "C function\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, call: malloc}"),
            "f.yaml:4:33: error: function name 'malloc' is taken by the "
            "runtime or the C library; rename it\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, call: numera_add}"),
            "f.yaml:4:33: error: function name 'numera_add' is taken by the "
            "runtime or the C library; rename it\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, call: f, library: l}"),
            "f.yaml:4:45: error: unknown library 'l', define it in the section "
            "libraries\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, call: f, predicate: olt}"),
            "f.yaml:4:36: error: 'add' has no predicate, only 'cmp' does\n");
  EXPECT_EQ(errorOfLowering("{op: cmp, format: my, call: f, predicate: lt}"),
            "f.yaml:4:47: error: unknown predicate 'lt', expected false, oeq, "
            "ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno "
            "or true\n");
}

TEST(LoweringError, Carriers) {
  EXPECT_EQ(errorOfFormat("a: {family: opaque, bits: 8, carrier: f16}"),
            "f.yaml:2:41: error: carrier is 'f16', expected f32 or f64\n");
  EXPECT_EQ(errorOfFormat("a: {family: opaque, bits: 8, carrier: [f32]}"),
            "f.yaml:2:41: error: 'carrier' holds a list, expected a word or a "
            "number\n");
  EXPECT_EQ(errorOfFormat("a: {family: opaque, bits: 8, carrier: f32, carrier: "
                          "f64}"),
            "f.yaml:2:46: error: 'carrier' is given twice, give it once\n");
  EXPECT_EQ(errorOfFormat("a: {family: posit, bits: 8, carrier: f32}"),
            "f.yaml:2:31: error: unknown key 'carrier' of family 'posit', "
            "expected bits, es, rounding or random-bits\n");
}

TEST(LoweringError, VectorVariants) {
  auto errorOfVector = [](llvm::StringRef vector) {
    return errorOfLowering(
        "{op: add, format: my, call: f, vector: " + vector.str() + "}");
  };
  EXPECT_EQ(errorOfVector("f_16"),
            "f.yaml:4:44: error: found a scalar, a vector variant is a "
            "mapping\n");
  EXPECT_EQ(errorOfVector("{lanes: 16}"),
            "f.yaml:4:36: error: 'call' is missing, a vector variant needs "
            "it\n");
  EXPECT_EQ(
      errorOfVector("{call: f-16}"),
      "f.yaml:4:51: error: 'f-16' is not a function, expected the name of a "
      "C function\n");
  EXPECT_EQ(errorOfVector("{call: free}"),
            "f.yaml:4:51: error: function name 'free' is taken by the runtime "
            "or the C library; rename it\n");
  EXPECT_EQ(errorOfVector("{call: g, lane: 16}"),
            "f.yaml:4:54: error: unknown key 'lane' of a vector variant, did "
            "you mean 'lanes'?\n");
  EXPECT_EQ(errorOfVector("{call: g, lanes: 12}"),
            "f.yaml:4:61: error: lanes is '12', expected 2, 4, 8, 16, 32 or "
            "64\n");
  EXPECT_EQ(errorOfVector("{call: g, lanes: 2}"),
            "f.yaml:4:61: error: 2 lanes of 16 bits are 32, expected 64, 128, "
            "256 or 512; or no lanes, for a function on arrays\n");
  EXPECT_EQ(errorOfLowering("{op: cast, from: my, to: f64, call: f, vector: "
                            "{call: g, lanes: 16}}"),
            "f.yaml:4:69: error: 16 lanes of 64 bits are 1024, expected 64, "
            "128, 256 or 512; or no lanes, for a function on arrays\n");
  EXPECT_EQ(errorOfLowering("{op: cmp, format: my, call: f, vector: {call: g, "
                            "lanes: 4}}"),
            "f.yaml:4:61: error: 4 lanes of 8 bits are 32, expected 64, 128, "
            "256 or 512; or no lanes, for a function on arrays\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, target: nvptx, call: f, "
                            "vector: {call: g}}"),
            "f.yaml:4:51: error: a vector variant is for the target cpu, found "
            "nvptx\n");
}

} // namespace
