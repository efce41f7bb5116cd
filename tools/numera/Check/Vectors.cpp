// SPDX-License-Identifier: MIT

#include "Vectors.h"

#include "Eval/Outcome.h"
#include "numera/Numerics/Exact/Compare.h"
#include "numera/Numerics/Exact/Integral.h"
#include "numera/Registry/Formats/Words.h"
#include "numera/Target/Check/Vectors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace numera;

// ---- Operations

static constexpr std::pair<StringLiteral, int32_t> comparisons[] = {
    {"eq", Equal}, {"le", Less | Equal}, {"lt", Less}};

VectorOperation numera::vectorOperation(const Registry &registry,
                                        const Format &format, StringRef name,
                                        std::string &error) {
  VectorOperation found = {name.str(), {}, format, format};
  if (StringRef target = name; target.consume_front("to_")) {
    found.operation = OpKind::Cast;
    // TestFloat's ui32 is u32 here.
    std::string integer = target.str();
    if (target.starts_with("ui"))
      integer.erase(1, 1);
    if (std::optional<CastType> type = integerFromName(integer)) {
      found.integer = *type;
      return found;
    }
    found.result = registry.lookupFormat(target, error);
    return found.result ? found : VectorOperation();
  }
  for (auto [text, relations] : comparisons)
    if (text == name) {
      found.operation = OpKind::Cmp;
      found.relations = relations;
      return found;
    }
  std::optional<OpKind> operation =
      operationFromName(name == "mulAdd" ? "fma" : name);
  if (operation && operation != OpKind::Cast && operation != OpKind::Mac &&
      operation != OpKind::Cmp && operation != OpKind::IsNaN) {
    found.operation = *operation;
    return found;
  }
  error = (operation ? "no vectors of '" : "unknown operation '") + name.str() +
          "', expected one of the dialect such as add or sqrt, mulAdd, eq, le, "
          "lt, to_FORMAT, or to_i32 and the like";
  return {};
}

StringRef numera::operationOfFile(StringRef path) {
  StringRef stem = sys::path::filename(path).split('.').first;
  return stem.split('_').second;
}

// ---- Writing

/// TestFloat's flags of an outcome.
static unsigned flagsOf(numera::Outcome outcome) {
  switch (outcome) {
  case numera::Outcome::Exact:
    return 0;
  case numera::Outcome::Rounded:
    return 1;
  case numera::Outcome::Underflow:
    return 3;
  case numera::Outcome::Saturated:
  case numera::Outcome::Wrapped:
  case numera::Outcome::Overflow:
    return 5;
  case numera::Outcome::DivisionByZero:
    return 8;
  case numera::Outcome::Invalid:
    break;
  }
  return 16;
}

/// Out of range is invalid, as in TestFloat, and otherwise what is cut off
/// inexact.
static std::pair<uint64_t, unsigned> integerOf(const VectorOperation &asked,
                                               uint64_t code) {
  unsigned width = asked.integer.integer;
  bool isSigned = asked.integer.isSigned;
  Unpacked value = asked.operands.getFamily().decode(asked.operands, code);
  uint64_t bits = exact::toInteger(value, int32_t(width), isSigned);
  unsigned unused = 64 - width;
  Unpacked result = isSigned
                        ? exact::fromSigned(int64_t(bits << unused) >> unused)
                        : exact::fromUnsigned(bits);
  if (!value.isFinite() && !value.isZero())
    return {bits, 16};
  auto isResult = [&](const Unpacked &x) {
    if (x.isZero() || result.isZero())
      return x.isZero() && result.isZero();
    return x.negative == result.negative && x.exponent == result.exponent &&
           x.wide() == result.wide() && !x.sticky;
  };
  if (!isResult(exact::trunc(value)))
    return {bits, 16};
  return {bits, isResult(value) ? 0 : 1};
}

std::pair<uint64_t, unsigned> numera::referenceOf(const VectorOperation &asked,
                                                  ArrayRef<uint64_t> codes) {
  if (asked.isTruth())
    return {evaluateOperation(asked.operation, asked.operands, codes,
                              Rounding::NearestEven, asked.relations),
            0};
  if (asked.isInteger())
    return integerOf(asked, codes.front());
  SmallVector<Format, 3> formats(codes.size(), asked.operands);
  OperationRules rules = rulesOf(asked.operation, asked.result, formats);
  uint64_t code = evaluateOperation(asked.operation, rules, formats, codes);
  return {code, flagsOf(outcomeOfOperation(asked.operation, rules, formats,
                                           codes, code))};
}

VectorOperation numera::withMeaning(const Registry &registry,
                                    VectorOperation asked) {
  auto meaning = [&](const Format &format) {
    return format.isOpaque() ? registry.equivalentOf(format) : format;
  };
  asked.operands = meaning(asked.operands);
  asked.result = meaning(asked.result);
  return asked.operands && asked.result ? asked : VectorOperation();
}

static std::string hexadecimal(uint64_t code, unsigned width) {
  return utohexstr(code, /*LowerCase=*/false, (width + 3) / 4);
}

Error numera::checkTruncates(const VectorOperation &asked, StringRef rounding) {
  if (!asked.isInteger() || rounding.empty() ||
      rounding == nameOf(Rounding::TowardZero))
    return Error::success();
  return createStringError("option '--rounding' is '" + rounding +
                           "', expected toward-zero for a cast to an integer");
}

std::string VectorOperation::resultName() const {
  if (isInteger())
    return (integer.isSigned ? "i" : "u") + std::to_string(integer.integer);
  return result.spelling();
}

Error numera::checkRounding(const VectorOperation &asked) {
  if (asked.isInteger() || asked.result.getRounding() != Rounding::Stochastic)
    return Error::success();
  return createStringError("stochastic rounding has more than one result, "
                           "expected another rounding for test vectors");
}

Error numera::writeVectors(const Registry &registry,
                           const VectorOperation &asked, uint64_t draws,
                           uint64_t seed, raw_ostream &stream) {
  VectorOperation meaning = withMeaning(registry, asked);
  if (!meaning.operands) {
    Format opaque = asked.operands.isOpaque() ? asked.operands : asked.result;
    return createStringError("format '" + opaque.getOpaqueName() +
                             "' is opaque and names no 'equivalent', which "
                             "would define its results");
  }
  if (Error error = checkRounding(asked))
    return error;
  check::Checked checked;
  checked.operation = asked.operation;
  for (size_t i = 0; i < asked.count(); ++i)
    checked.operands.push_back({.format = asked.operands});
  checked.result = {.format = asked.result};
  if (asked.isInteger())
    checked.result = asked.integer;
  check::Options options;
  options.draws = draws;
  options.seed = seed;
  unsigned width = asked.operands.width();
  for (const check::Operands &all :
       check::inputsOf(registry, checked, options)) {
    ArrayRef<uint64_t> codes = ArrayRef(all).take_front(asked.count());
    auto [result, flags] = referenceOf(meaning, codes);
    for (uint64_t code : codes)
      stream << hexadecimal(code, width) << ' ';
    stream << (asked.isTruth() ? utohexstr(result)
                               : hexadecimal(result, asked.resultWidth()))
           << ' ' << hexadecimal(flags, 8) << '\n';
  }
  return Error::success();
}
