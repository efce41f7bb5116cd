// SPDX-License-Identifier: MIT
//
// Configuration files: what is said about wrong policies and rules.

#include "ConfigurationErrors.h"

using namespace numera;
using namespace numera::test;

namespace {

TEST(PolicyError, Policy) {
  EXPECT_EQ(errorOf("policy: {default: posit17}\n"),
            "f.yaml:1:19: error: unknown format 'posit17', did you mean "
            "'posit<17,2>'?\n");
  EXPECT_EQ(errorOf("policy: {acumulate: f32}\n"),
            "f.yaml:1:10: error: unknown key 'acumulate' of 'policy', did you "
            "mean 'accumulate'?\n");
  EXPECT_EQ(errorOf("policy: {replace: [f32, f17]}\n"),
            "f.yaml:1:25: error: unknown float type 'f17', expected one of "
            "MLIR's: f64 f32 tf32 f16 bf16 f8E4M3FN f8E5M2 f8E4M3 f8E3M4 "
            "f8E4M3FNUZ f8E5M2FNUZ f6E3M2FN f6E2M3FN f4E2M1FN f8E8M0FNU\n");
  EXPECT_EQ(errorOf("policy: {replace: []}\n"),
            "f.yaml:1:19: error: 'replace' is empty, expected f32 or other "
            "float types\n");
  EXPECT_EQ(errorOf("policy: {scale: big}\n"),
            "f.yaml:1:17: error: scale is 'big', expected none, per-tensor, "
            "per-channel or block(N) with N elements, 2 or more\n");
  EXPECT_EQ(errorOf("policy: {default: mxfp8, axis: rows}\n"),
            "f.yaml:1:32: error: axis is 'rows', expected summed, channel, "
            "first, last or a number\n");
  EXPECT_EQ(errorOf("policy: {weights: mxfp8, axis: {activations: last}}\n"),
            "f.yaml:1:46: error: axis of 'activations', which has no blocks; "
            "expected a block format or scale block(N)\n");
  EXPECT_EQ(errorOf("policy: {outputs: mxfp8, axis: summed}\n"),
            "f.yaml:1:32: error: axis of 'outputs' is 'summed', which results "
            "do not have; expected channel, first, last or a number\n");
  EXPECT_EQ(errorOf("policy: {default: f8E4M3FN, axis: last}\n"),
            "f.yaml:1:35: error: axis of a policy without blocks; expected a "
            "block format or scale block(N)\n");
}

/// An entry of `rules`, which begins at line 3, column 7.
static std::string errorOfRule(llvm::StringRef rule) {
  return errorOf("policy:\n  rules:\n    - " + rule.str() + "\n");
}

TEST(PolicyError, Rules) {
  EXPECT_EQ(errorOf("policy:\n  rules: bf16\n"),
            "f.yaml:2:10: error: found a scalar, 'rules' is a list: begin each "
            "with '- '\n");
  EXPECT_EQ(errorOf("policy:\n  rules:\n"),
            "f.yaml:2:3: error: found nothing, 'rules' is a list: begin each "
            "with '- '\n");
  EXPECT_EQ(errorOfRule("conv1"),
            "f.yaml:3:7: error: found a scalar, a rule is a mapping\n");
  EXPECT_EQ(errorOfRule("{match: conv1, formats: bf16}"),
            "f.yaml:3:22: error: unknown key 'formats' of a rule, did you mean "
            "'format'?\n");
  EXPECT_EQ(errorOfRule("{format: bf16}"),
            "f.yaml:3:7: error: 'match' is missing, a rule needs it\n");
  EXPECT_EQ(errorOfRule("{match: conv1}"),
            "f.yaml:3:7: error: the rule changes nothing, expected format, "
            "accumulate, weights, activations or outputs beside 'match'\n");
  EXPECT_EQ(errorOfRule("{match: [conv1], format: bf16}"),
            "f.yaml:3:15: error: 'match' holds a list, expected a name or a "
            "mapping with op or name\n");
  EXPECT_EQ(errorOfRule("{match: \"\", format: bf16}"),
            "f.yaml:3:15: error: 'match' is empty, expected a name, in which * "
            "stands for any characters and ? for one\n");
  EXPECT_EQ(errorOfRule("{match: {}, format: bf16}"),
            "f.yaml:3:15: error: 'match' is empty, expected op or name\n");
  EXPECT_EQ(
      errorOfRule("{match: {operator: softmax}, format: bf16}"),
      "f.yaml:3:16: error: unknown key 'operator' of 'match', expected op "
      "or name\n");
  EXPECT_EQ(errorOfRule("{match: {op: \"\"}, format: bf16}"),
            "f.yaml:3:20: error: 'op' is empty, expected a name, in which * "
            "stands for any characters and ? for one\n");
  EXPECT_EQ(errorOfRule("{match: conv1, format: posit17}"),
            "f.yaml:3:30: error: unknown format 'posit17', did you "
            "mean 'posit<17,2>'?\n");
  EXPECT_EQ(errorOfRule("{match: conv1, accumulate: posit17}"),
            "f.yaml:3:34: error: unknown format 'posit17', did you "
            "mean 'posit<17,2>'?\n");
  EXPECT_EQ(errorOfRule("{match: *, format: bf16}"),
            "f.yaml:3:15: error: not valid YAML: got empty alias or anchor; a "
            "star is written \"*\"\n");
}

TEST(PolicyError, FallbackOfAll) {
  EXPECT_EQ(errorOf("fallback: bf16\n"),
            "f.yaml:1:11: error: fallback is 'bf16', expected f32 or f64\n");
  EXPECT_EQ(errorOf("fallback: {a: f32}\n"),
            "f.yaml:1:11: error: 'fallback' holds a mapping, expected a word "
            "or a number\n");
}

} // namespace
