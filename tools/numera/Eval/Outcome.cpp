// SPDX-License-Identifier: MIT

#include "Outcome.h"

#include "numera/Registry/Formats/ExactValue.h"
#include "numera/Registry/Formats/FlagsOfRounding.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace numera;

StringRef numera::nameOf(Outcome outcome) {
  switch (outcome) {
  case Outcome::Exact:
    return "exact";
  case Outcome::Rounded:
    return "rounded";
  case Outcome::Underflow:
    return "underflowed";
  case Outcome::Saturated:
    return "saturated";
  case Outcome::Wrapped:
    return "wrapped";
  case Outcome::Overflow:
    return "overflowed";
  case Outcome::DivisionByZero:
    return "divided by zero";
  case Outcome::Invalid:
    break;
  }
  return "invalid";
}

/// The sign of a zero does not count.
static bool isSame(const Unpacked &x, const Unpacked &y) {
  if (x.kind != y.kind)
    return false;
  if (x.isFinite())
    return x.negative == y.negative && x.exponent == y.exponent &&
           x.wide() == y.wide() && !x.sticky && !y.sticky;
  return !x.isInfinite() || x.negative == y.negative;
}

/// By the flags of rounding `exact`, which is not NaN, and by what came out.
static Outcome fromFlags(const Format &format, const Unpacked &exact,
                         numera::RoundingMode mode, const Unpacked &result,
                         bool isExact) {
  uint8_t flags = flagsOfRounding(format, exact, mode);
  if (flags & flag::invalid)
    return Outcome::Invalid;
  if (flags & flag::overflow) {
    if (!result.isFinite() && !result.isZero())
      return Outcome::Overflow;
    return format.getFamily().overflow(format) == Overflow::Wrap
               ? Outcome::Wrapped
               : Outcome::Saturated;
  }
  if (flags & flag::underflow)
    return Outcome::Underflow;
  return isExact ? Outcome::Exact : Outcome::Rounded;
}

Outcome numera::outcomeOfConstant(const Format &format, const Unpacked &exact,
                                  uint64_t code) {
  const FormatFamily &family = format.getFamily();
  Unpacked result = family.decode(format, code);
  if (exact.isNaN())
    return result.isNaN() ? Outcome::Exact : Outcome::Invalid;
  // A decoded value of an irrational family is cut off: what rounds alike in
  // both directions is a number of the format.
  bool isExact = family.isIrrational()
                     ? family.encode(format, exact, Rounding::Up) ==
                           family.encode(format, exact, Rounding::Down)
                     : isSame(exact, result);
  return fromFlags(format, exact, format.getConstantRounding(), result,
                   isExact);
}

/// Whether an operation rounds alike in both directions, operands as they are.
static bool isExactInBothDirections(OpKind operation, OperationRules rules,
                                    ArrayRef<Format> operands,
                                    ArrayRef<uint64_t> codes, uint64_t code) {
  rules.truncation.clear();
  return all_of(ArrayRef{Rounding::Up, Rounding::Down}, [&](Rounding mode) {
    rules.rounding = mode;
    return evaluateOperation(operation, rules, operands, codes) == code;
  });
}

Outcome numera::outcomeOfOperation(OpKind operation,
                                   const OperationRules &rules,
                                   ArrayRef<Format> operands,
                                   ArrayRef<uint64_t> codes, uint64_t code) {
  const Format &format = rules.encoding;
  const FormatFamily &family = format.getFamily();
  SmallVector<Unpacked, 3> values;
  bool anyNaN = false, anyInfinite = false;
  for (auto [operand, operandCode] : zip_equal(operands, codes)) {
    Unpacked value = operand.getFamily().decode(operand, operandCode);
    anyNaN |= value.isNaN();
    anyInfinite |= value.isInfinite();
    values.push_back(operation == OpKind::Cast ? value : value.operand());
  }
  Unpacked exact = exactValue(operation, values, rules.rounding);
  Unpacked result = family.decode(format, code);
  if (exact.isNaN())
    return anyNaN && result.isNaN() ? Outcome::Exact : Outcome::Invalid;
  if (exact.isInfinite() && !anyInfinite)
    return Outcome::DivisionByZero;
  bool isExact =
      family.isIrrational()
          ? isExactInBothDirections(operation, rules, operands, codes, code)
          : isSame(exact, result);
  return fromFlags(format, exact, rules.rounding, result, isExact);
}
