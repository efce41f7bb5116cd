// SPDX-License-Identifier: MIT
//
// Configuration files: what is said about wrong ones.

#include "ConfigurationErrors.h"
#include "TestFolder.h"
#include "numera/Registry/Registry.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;
using namespace numera::test;

namespace {

TEST(ConfigurationError, FileThatIsNotThere) {
  Registry registry;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  EXPECT_FALSE(registry.load("no/such.yaml", stream));
  EXPECT_EQ(errors, "no/such.yaml:1:1: error: the file cannot be read (no such "
                    "file or directory), expected a configuration\n");
}

TEST(ConfigurationError, Syntax) {
  EXPECT_EQ(errorOf("formats: {a: {family: posit\n"),
            "f.yaml:1:28: error: not valid YAML: unexpected token, expected "
            "Key, Flow Entry, or Flow Mapping End; is a '}' missing before "
            "it?\n");
  EXPECT_EQ(errorOf("formats:\n  a: {family: opaque, bits: 16, equivalent: "
                    "float<8,7>}\n"),
            "f.yaml:2:53: error: found '7>', a spelling with commas needs "
            "quotes, as in 'posit<16,2>'\n");
  EXPECT_EQ(errorOf("formats: &x {}\n"),
            "f.yaml:1:13: error: found the anchor 'x', expected a value "
            "without anchor\n");
  EXPECT_EQ(errorOf("formats: {}\n---\nformats: {}\n"),
            "f.yaml:3:1: error: found a second document, expected one\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, target: *, call: f}"),
            "f.yaml:4:35: error: not valid YAML: got empty alias or anchor; a "
            "star is written \"*\"\n");
  EXPECT_EQ(errorOf("formats:\n\ta: {family: posit, bits: 8}\n"),
            "f.yaml:2:1: error: not valid YAML: found a tab, lines are "
            "indented by spaces\n");
  EXPECT_EQ(errorOf("formats:\n  \xe4: {}\n"),
            "f.yaml:2:3: error: found a byte that is no text, expected a file "
            "in UTF-8\n");
  std::string deep(40, '[');
  EXPECT_EQ(errorOf("formats: " + deep),
            "f.yaml:1:26: error: nested too deeply, expected at most 16 "
            "levels\n");
}

TEST(ConfigurationError, EntriesThatAreNotThere) {
  EXPECT_EQ(errorOfLowering("{op: add,, format: my, call: f}"),
            "f.yaml:4:14: error: found ',' where an entry is expected\n");
  EXPECT_EQ(errorOfLowering("{,op: add, format: my, call: f}"),
            "f.yaml:4:6: error: found ',' where an entry is expected\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my,\n     , call: f}"),
            "f.yaml:5:6: error: found ',' where an entry is expected\n");
  EXPECT_EQ(errorOfLowering("{op: add, operands: [my, , my], call: f}"),
            "f.yaml:4:30: error: found ',' where an entry is expected\n");
  EXPECT_EQ(errorOfLowering("{op: add, format: my, call: f,,}"),
            "f.yaml:4:35: error: found ',' where an entry is expected\n");
  // In quotes, and behind the last entry, a comma is one.
  Registry registry;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  EXPECT_TRUE(registry.loadText(
      "formats: {a: {family: posit, bits: 8,}, 'b': {family: float, "
      "exponent: 4, mantissa: 3,},}\npolicy:\n  default: 'float<4,3>'\n  "
      "accumulate: f32\n",
      "f.yaml", "", stream))
      << errors;
}

TEST(ConfigurationError, UnknownSection) {
  EXPECT_EQ(errorOf("format: {}\n"), "f.yaml:1:1: error: unknown key 'format' "
                                     "of a configuration, did you mean "
                                     "'formats'?\n");
  EXPECT_EQ(errorOf("things: {}\n"),
            "f.yaml:1:1: error: unknown key 'things' of a configuration, "
            "expected formats, libraries, lowerings, policy or fallback\n");
  EXPECT_EQ(errorOf("formats: {}\nformats: {}\n"),
            "f.yaml:2:1: error: 'formats' is given twice, give it once\n");
}

TEST(ConfigurationError, SectionOfTheWrongKind) {
  EXPECT_EQ(errorOf("- formats\n"),
            "f.yaml:1:1: error: found a list, a configuration is a mapping\n");
  EXPECT_EQ(errorOf("formats: [a]\n"),
            "f.yaml:1:10: error: found a list, 'formats' is a mapping\n");
  EXPECT_EQ(errorOf("lowerings: {op: add}\n"),
            "f.yaml:1:12: error: found a mapping, 'lowerings' is a list: begin "
            "each with '- '\n");
}

TEST(ConfigurationError, NameOfAFormat) {
  EXPECT_EQ(errorOfFormat("posit16: {family: posit, bits: 12}"),
            "f.yaml:2:3: error: format 'posit16' is built in, choose another "
            "name\n");
  EXPECT_EQ(errorOfFormat("a: {family: posit, bits: 8}\n  a: {family: posit, "
                          "bits: 9}"),
            "f.yaml:3:3: error: format 'a' is already defined at f.yaml:2:3, "
            "choose another name\n");
  EXPECT_EQ(
      errorOfFormat("my-format: {family: posit, bits: 8}"),
      "f.yaml:2:3: error: 'my-format' is not a valid format name, expected "
      "letters, digits and '_', no digit first\n");
  EXPECT_EQ(errorOfFormat("i32: {family: posit, bits: 8}"),
            "f.yaml:2:3: error: 'i32' has a meaning of its own, choose another "
            "name\n");
  EXPECT_EQ(errorOfFormat("tensorcore: {family: posit, bits: 8}"),
            "f.yaml:2:3: error: 'tensorcore' has a meaning of its own, choose "
            "another name\n");
  EXPECT_EQ(errorOfFormat("p3109_k8p3se: {family: posit, bits: 8}"),
            "f.yaml:2:3: error: 'p3109_k8p3se' has a meaning of its own, "
            "choose another name\n");
}

TEST(ConfigurationError, Family) {
  EXPECT_EQ(errorOfFormat("a: {bits: 8}"),
            "f.yaml:2:3: error: 'family' is missing, format 'a' needs it\n");
  EXPECT_EQ(errorOfFormat("a: {family: posits, bits: 8}"),
            "f.yaml:2:15: error: unknown family 'posits', did you mean "
            "'posit'?\n");
  EXPECT_EQ(errorOfFormat("a: {family: block, size: 32}"),
            "f.yaml:2:3: error: 'element' is missing, format 'a' needs it\n");
  EXPECT_EQ(errorOfFormat("a: posit"),
            "f.yaml:2:6: error: found a scalar, format 'a' is a mapping, as in "
            "{family: float, exponent: 5, mantissa: 7}\n");
  EXPECT_EQ(errorOfFormat("a:"),
            "f.yaml:2:3: error: found nothing, format 'a' is a mapping, as in "
            "{family: float, exponent: 5, mantissa: 7}\n");
  EXPECT_EQ(errorOfFormat("a: {family:float, exponent: 4, mantissa: 3}"),
            "f.yaml:2:7: error: found 'family:float', a colon has a space "
            "behind it, as in 'family: float'\n");
  EXPECT_EQ(errorOfFormat("a: {family: float, exponent:4, mantissa: 3}"),
            "f.yaml:2:22: error: found 'exponent:4', a colon has a space "
            "behind it, as in 'family: float'\n");
  EXPECT_EQ(errorOfFormat("a:\n    family:float"),
            "f.yaml:3:5: error: found 'family:float', a colon has a space "
            "behind it, as in 'family: float'\n");
  EXPECT_EQ(errorOfFormat("a: {family: block, element: b, size: 4}\n"
                          "  b: {family: block, element: a, size: 4}"),
            "f.yaml:2:31: error: 'b' is a scaled format itself, expected one "
            "of numbers\n");
}

TEST(ConfigurationError, ParametersOfAFormat) {
  EXPECT_EQ(errorOfFormat("a: {family: float, exponnt: 5, mantissa: 7}"),
            "f.yaml:2:22: error: unknown key 'exponnt' of family 'float', did "
            "you mean 'exponent'?\n");
  EXPECT_EQ(errorOfFormat("a: {family: float, exponent: 5}"),
            "f.yaml:2:3: error: 'mantissa' is missing, family 'float' needs "
            "it\n");
  EXPECT_EQ(errorOfFormat("a: {family: float, exponent: five, mantissa: 7}"),
            "f.yaml:2:32: error: exponent is 'five', expected an integer from "
            "0 to 16\n");
  EXPECT_EQ(errorOfFormat("a: {family: float, exponent: [5], mantissa: 7}"),
            "f.yaml:2:32: error: 'exponent' holds a list, expected a word or a "
            "number\n");
  EXPECT_EQ(errorOfFormat("a: {family: posit, bits: 8, bits: 9}"),
            "f.yaml:2:31: error: 'bits' is given twice, give it once\n");
  EXPECT_EQ(errorOfFormat("a: {family: posit, family: posit, bits: 8}"),
            "f.yaml:2:22: error: unknown key 'family' of family 'posit', "
            "expected bits, es, rounding or random-bits\n");
  EXPECT_EQ(errorOfFormat("a: {family: posit, bits: 8, rounding: nearst-even}"),
            "f.yaml:2:41: error: rounding is 'nearst-even', did you mean "
            "'nearest-even'?\n");
  EXPECT_EQ(errorOfFormat("a: {family: opaque, bits: 8, rounding: up}"),
            "f.yaml:2:32: error: unknown key 'rounding' of family 'opaque', "
            "expected bits, carrier, fallback, derive, proofs, identities, "
            "equivalent or accumulator\n");
  EXPECT_EQ(errorOfFormat("a: {family: opaque, bits: 8, carier: f32}"),
            "f.yaml:2:32: error: unknown key 'carier' of family 'opaque', did "
            "you mean 'carrier'?\n");
}

TEST(ConfigurationError, ParametersOfFixedPointAndTakums) {
  EXPECT_EQ(errorOfFormat("a: {family: fixed, integer: 60, fraction: 11}"),
            "f.yaml:2:45: error: 60 integer bits, 11 fraction bits and a sign "
            "are 72 bits, expected at most 64\n");
  EXPECT_EQ(errorOfFormat("a: {family: fixed, integer: 4}"),
            "f.yaml:2:3: error: 'fraction' is missing, family 'fixed' needs "
            "it\n");
  EXPECT_EQ(errorOfFormat("a: {family: fixed, bits: 4}"),
            "f.yaml:2:22: error: unknown key 'bits' of family 'fixed', "
            "expected integer, fraction, signed, overflow, rounding or "
            "random-bits\n");
  EXPECT_EQ(errorOfFormat("a: {family: takum, bits: 65}"),
            "f.yaml:2:28: error: bits is '65', expected an integer from 2 to "
            "64\n");
  EXPECT_EQ(errorOfFormat("a: {family: takum}"),
            "f.yaml:2:3: error: 'bits' is missing, family 'takum' needs it\n");
}

/// The operations that a format may change: all that give a number.
std::string changeableOperations() {
  std::vector<std::string> names;
#define NUMERA_OPERATION(enumerator, name, ...)                                \
  if (OpKind::enumerator != OpKind::Cmp &&                                     \
      OpKind::enumerator != OpKind::IsNaN)                                     \
    names.push_back(#name);
#include "numera/Numerics/Core/Operations.def"
  std::string last = names.back();
  names.pop_back();
  return llvm::join(names, ", ") + " or " + last;
}

TEST(ConfigurationError, OperationsOfAFormat) {
  auto errorOfOperations = [](llvm::StringRef operations) {
    return errorOfFormat(
        "a: {family: posit, bits: 8, operations: " + operations.str() + "}");
  };
  EXPECT_EQ(errorOfOperations("{mull: {rounding: up}}"),
            "f.yaml:2:44: error: unknown key 'mull' of 'operations', did you "
            "mean 'mul'?\n");
  EXPECT_EQ(errorOfOperations("{cmp: {rounding: up}}"),
            "f.yaml:2:44: error: unknown key 'cmp' of 'operations', expected " +
                changeableOperations() + "\n");
  EXPECT_EQ(errorOfOperations("{mul: {round: up}}"),
            "f.yaml:2:50: error: unknown key 'round' of a change of an "
            "operation, expected rounding, random-bits, overflow or "
            "truncate-operands\n");
  EXPECT_EQ(errorOfOperations("{mul: {rounding: upp}}"),
            "f.yaml:2:60: error: mul.rounding is 'upp', did you mean 'up'?\n");
  EXPECT_EQ(errorOfOperations("{mul: {rounding: [up]}}"),
            "f.yaml:2:60: error: 'rounding' holds a list, expected a word or a "
            "number\n");
  EXPECT_EQ(errorOfOperations("{mul: {overflow: wrap}}"),
            "f.yaml:2:60: error: overflow 'wrap' is not one of family "
            "'posit'\n");
  EXPECT_EQ(errorOfOperations("{mul: {truncate-operands: 9}}"),
            "f.yaml:2:69: error: mul.truncate-operands is '9', expected an "
            "integer from 0 to 3\n");
  EXPECT_EQ(errorOfOperations("{mul: {rounding: up}, mul: {rounding: down}}"),
            "f.yaml:2:65: error: 'mul' is given twice, give it once\n");
  EXPECT_EQ(errorOfOperations("up"), "f.yaml:2:43: error: found a scalar, "
                                     "'operations' is a mapping\n");
  EXPECT_EQ(errorOfOperations("{mul: up}"),
            "f.yaml:2:49: error: found a scalar, a change of an operation is "
            "a mapping\n");
  EXPECT_EQ(errorOfFormat("a: {family: posit, bits: 8, operations: {mul: "
                          "{rounding: up}}, mul.rounding: down}"),
            "f.yaml:2:66: error: 'mul.rounding' is given twice, give it "
            "once\n");
  EXPECT_EQ(errorOfFormat("a: {family: posit, bits: 8, operations: {}, "
                          "operations: {}}"),
            "f.yaml:2:47: error: 'operations' is given twice, give it once\n");
  EXPECT_EQ(errorOfFormat("a: {family: opaque, bits: 8, equivalent: bf16}"),
            "f.yaml:2:44: error: 'bf16' has 16 bits, expected a format of 8\n");
  EXPECT_EQ(
      errorOfFormat("a: {family: opaque, bits: 8, equivalent: bf8}"),
      "f.yaml:2:44: error: unknown format 'bf8', did you mean 'f8E5M2'?\n");
  EXPECT_EQ(errorOfFormat("a: {family: posit, bits: 8, equivalent: posit8}"),
            "f.yaml:2:31: error: unknown key 'equivalent' of family 'posit', "
            "expected bits, es, rounding or random-bits\n");
  EXPECT_EQ(errorOf("formats:\n"
                    "  a: {family: opaque, bits: 8}\n"
                    "  b: {family: opaque, bits: 8, equivalent: a}\n"),
            "f.yaml:3:44: error: 'a' is opaque itself, expected a format with "
            "arithmetic such as bf16\n");
  EXPECT_EQ(errorOfFormat("a: {family: opaque, bits: 8, operations: {}}"),
            "f.yaml:2:32: error: unknown key 'operations' of family 'opaque', "
            "expected bits, carrier, fallback, derive, proofs, identities, "
            "equivalent or accumulator\n");
}

TEST(ConfigurationError, Libraries) {
  Folder folder;
  auto errorIn = [&](llvm::StringRef text) {
    Registry registry;
    std::string errors;
    llvm::raw_string_ostream stream(errors);
    EXPECT_FALSE(registry.loadText(text, "f.yaml", folder.path, stream));
    return errors;
  };
  EXPECT_EQ(errorIn("libraries:\n  a: {path: none.c}\n"),
            "f.yaml:2:13: error: there is no library file 'none.c', tried '" +
                (folder.path + "/none.c'\n").str());
  EXPECT_EQ(errorIn("libraries:\n  a: {path: 'none*.c'}\n"),
            "f.yaml:2:13: error: no library file is like 'none*.c', tried the "
            "names in '" +
                (folder.path + "'\n").str());
  EXPECT_EQ(errorIn("libraries:\n  a: {path: 'lib[.c'}\n"),
            "f.yaml:2:13: error: 'lib[.c' is no pattern: invalid glob "
            "pattern, unmatched '['\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: [lib.c, '!lib.c']}\n"),
            "f.yaml:2:13: error: no file is left of library 'a', expected "
            "patterns that leave some\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: ['!l*.c', lib.c]}\n"),
            "f.yaml:2:14: error: '!l*.c' removes none of the files before it, "
            "expected it behind the pattern that takes them\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: lib.py}\n"),
            "f.yaml:2:13: error: the library file 'lib.py' has the extension "
            "'.py', expected .c, .cc, .cpp, .cxx, .bc, .ll, .a, .o or "
            ".so\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {}\n"),
            "f.yaml:2:3: error: 'path' is missing, library 'a' needs it\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: lib.c}\n  a: {path: lib.c}\n"),
            "f.yaml:3:3: error: library 'a' is already defined at f.yaml:2:3, "
            "choose another name\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: []}\n"),
            "f.yaml:2:13: error: 'path' is empty, expected files\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: [lib.c, {}]}\n"),
            "f.yaml:2:21: error: 'path' holds a mapping, expected words or "
            "numbers\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: lib.c, include: none}\n"),
            "f.yaml:2:29: error: there is no folder 'none', tried '" +
                (folder.path + "/none'\n").str());
  EXPECT_EQ(errorIn("libraries:\n  a: {path: lib.so, include: .}\n"),
            "f.yaml:2:21: error: 'include' is for sources, found none: '" +
                (folder.path + "/lib.so' is compiled already\n").str());
  EXPECT_EQ(errorIn("libraries:\n  a: {path: lib.c, defines: {-D: 1}}\n"),
            "f.yaml:2:30: error: '-D' is not a macro, expected letters, digits "
            "and '_', no digit first\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: lib.c, standard: 11}\n"),
            "f.yaml:2:30: error: standard is '11', expected one that clang "
            "knows, such as c11 or c++20\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: lib.c, floats: soft}\n"),
            "f.yaml:2:28: error: floats is 'soft', expected machine (float and "
            "double) or bits (uint32_t and uint64_t, or structs of them)\n");
  EXPECT_EQ(errorIn("libraries:\n  a: {path: lib.c, codes: int}\n"),
            "f.yaml:2:27: error: codes is 'int', expected unsigned (uint8_t to "
            "uint64_t) or signed (int8_t to int64_t)\n");
  EXPECT_EQ(errorIn("libraries: {a: {path: lib.so}}\nlowerings:\n  - {op: add, "
                    "format: f16, target: nvptx, call: f, library: a}\n"),
            "f.yaml:3:61: error: library 'a' is a .so of the host, expected "
            ".c, .cc, .cpp, .bc or .ll for the target nvptx\n");
}

TEST(ConfigurationError, OpaqueFormats) {
  auto errorOf = [](llvm::StringRef rest) {
    return errorOfFormat("a: {family: opaque, bits: 16, " + rest.str() + "}");
  };
  EXPECT_EQ(errorOf("derive: [sub, fma]"),
            "f.yaml:2:47: error: 'fma' does not follow from other operations "
            "without a second rounding, expected a function for it, or "
            "'fallback: f32'\n");
  EXPECT_EQ(errorOf("derive: flor"),
            "f.yaml:2:41: error: unknown operation 'flor', did you mean "
            "'floor'?\n");
  EXPECT_EQ(errorOf("fallback: bf16"),
            "f.yaml:2:43: error: fallback is 'bf16', expected f32 or f64\n");
  EXPECT_EQ(errorOf("carrier: f32, fallback: f32"),
            "f.yaml:2:47: error: 'fallback' is given beside 'carrier', which "
            "computes the same; expected one of them\n");
  EXPECT_EQ(errorOf("identities: {one: 0x10000}"),
            "f.yaml:2:51: error: one is '0x10000', expected a code of 16 bits "
            "such as 0x0\n");
}

TEST(ConfigurationError, RoundingsInCarriers) {
  auto errorOfLowering = [](llvm::StringRef carrier, llvm::StringRef entry) {
    return errorOf("formats:\n  a: {family: opaque, bits: 16" + carrier.str() +
                   "}\nlowerings:\n  - {op: cast, from: a, to: f32, call: f}\n"
                   "  - {" +
                   entry.str() + "}\n");
  };
  EXPECT_EQ(errorOfLowering("", "op: round_to, format: a, call: g"),
            "f.yaml:5:28: error: 'round_to' rounds in the carrier of an opaque "
            "format, and 'a' names none; expected 'carrier: f32' or 'carrier: "
            "f64' in the entry of the format\n");
  EXPECT_EQ(
      errorOfLowering(", fallback: f32", "op: round_to, format: bf16, call: g"),
      "f.yaml:5:28: error: 'round_to' rounds in the carrier of an opaque "
      "format, and 'bf16' names none; expected 'carrier: f32' or "
      "'carrier: f64' in the entry of the format\n");
  EXPECT_EQ(errorOfLowering(", carrier: f32", "op: round_to, format: a, call: "
                                              "g"),
            "f.yaml:5:5: error: 'round_to' replaces two casts, and one is not "
            "registered: - {op: cast, from: f32, to: a, target: \"*\", call: "
            "SYMBOL}\n");
  EXPECT_EQ(errorOfLowering(", carrier: f32",
                            "op: round_to, format: a, rounding: up, call: g"),
            "f.yaml:5:31: error: 'round_to' has no 'rounding', expected "
            "format, whose rounding it is\n");
  EXPECT_EQ(errorOfLowering(", carrier: f32",
                            "op: round_to, format: a, operations: [exp]"),
            "f.yaml:5:44: error: 'exp' is no operation of a carrier, expected "
            "add, sub, mul, div, fma, sqrt, neg, abs, min, max, cmp or "
            "isnan\n");
  EXPECT_EQ(errorOfLowering(", carrier: f32",
                            "op: add, format: a, operations: [mul], call: g"),
            "f.yaml:5:26: error: 'operations' belongs to 'round_to', found it "
            "with 'add'\n");
}

TEST(ConfigurationError, ChangesThatNothingWouldShow) {
  EXPECT_EQ(errorOfFormat("a: {family: posit, bits: 8, operations: {neg: "
                          "{rounding: up}}}"),
            "f.yaml:2:60: error: 'neg' is exact, its rounding has no "
            "effect\n");
  EXPECT_EQ(errorOfFormat("a: {family: float, exponent: 5, mantissa: 2, "
                          "operations: {maxnum: {overflow: saturate}}}"),
            "f.yaml:2:80: error: 'maxnum' is exact, its overflow has no "
            "effect\n");
}

} // namespace
