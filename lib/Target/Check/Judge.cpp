// SPDX-License-Identifier: MIT

#include "Judge.h"

#include "numera/Numerics/Exact/Compare.h"
#include "numera/Numerics/Exact/Integral.h"
#include "numera/Registry/Formats/ExactValue.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace numera::check {

StringRef nameOf(Fault fault) {
  switch (fault) {
  case Fault::OneUlp:
    return "rounding (1 ulp)";
  case Fault::Far:
    return "wrong by more than 1 ulp";
  case Fault::Sign:
    return "wrong sign";
  case Fault::SignOfZero:
    return "sign of zero";
  case Fault::Swapped:
    return "operands swapped";
  case Fault::NaNExpected:
    return "NaN expected";
  case Fault::NaNGiven:
    return "NaN given";
  case Fault::Infinity:
    return "infinity or saturation";
  case Fault::Flushed:
    return "subnormal flushed";
  case Fault::OtherCode:
    return "another code of the value";
  case Fault::Integer:
    return "wrong integer";
  case Fault::Truth:
    return "wrong truth value";
  case Fault::HighBits:
    return "bits above the width set";
  case Fault::Unsteady:
    return "two runs differ";
  case Fault::Law:
    return "law broken";
  }
  return {};
}

/// The relations of which a predicate is the union, as the dialect has them.
static int32_t relationsOf(StringRef predicate) {
  int32_t unordered = predicate.starts_with("u") ? Unordered : 0;
  return StringSwitch<int32_t>(predicate)
             .Case("ord", Equal | Greater | Less)
             .Case("uno", 0)
             .EndsWith("eq", Equal)
             .EndsWith("gt", Greater)
             .EndsWith("ge", Greater | Equal)
             .EndsWith("lt", Less)
             .EndsWith("le", Less | Equal)
             .EndsWith("ne", Greater | Less)
             .Default(0) |
         unordered;
}

/// What a sum of one term is: a product, or the value itself.
static OpKind judgedAs(OpKind operation) {
  return operation == OpKind::AccumulatorMac   ? OpKind::Mul
         : operation == OpKind::AccumulatorAdd ? OpKind::Cast
                                               : operation;
}

Judge::Judge(const Registry &registry, const Checked &checked)
    : checked(checked), operation(judgedAs(checked.operation)) {
  for (const CastType &operand : checked.numbers()) {
    meanings.push_back(meaningOf(registry, operand));
    known &= operand.integer != 0 || bool(meanings.back());
  }
  known &= !checked.rounded && !isProduct(operation);
  result = meaningOf(registry, checked.result);
  known &= checked.result.integer != 0 || bool(result);
  if (known && result)
    rules = checked.operation == OpKind::Mac
                ? stepRules(result, {}, meanings[0], meanings[1]).sum
                : rulesOf(operation, result, meanings);
  // An opaque format rounds as the one it is equivalent to, unless its lowering
  // says how.
  bool isNamed = checked.lowering && checked.lowering->rounding;
  if (isNamed || !checked.result.format || !checked.result.format.isOpaque())
    rules.rounding = checked.rounding;
  relations = relationsOf(checked.predicate);
}

Unpacked Judge::valueOf(size_t operand, uint64_t bits) const {
  const CastType &type = checked.operands[operand];
  if (meanings[operand])
    return meanings[operand].getFamily().decode(meanings[operand], bits);
  if (!type.isSigned)
    return exact::fromUnsigned(bits);
  unsigned unused = 64 - type.integer;
  return exact::fromSigned(int64_t(bits << unused) >> unused);
}

uint64_t Judge::expect(const Operands &operands) const {
  size_t count = meanings.size();
  SmallVector<uint64_t, 3> codes(operands.begin(), operands.begin() + count);
  if (operation == OpKind::Cmp || operation == OpKind::IsNaN)
    return meanings[0].getFamily().evaluateExactly(
        operation, meanings[0], codes, rules.rounding, relations);
  if (operation == OpKind::Cast && !result)
    return exact::toInteger(valueOf(0, operands[0]),
                            int32_t(checked.result.integer),
                            checked.result.isSigned);
  RoundingMode mode = rules.rounding;
  if (checked.drawsRandom())
    mode.random = uint32_t(operands[count]);
  for (auto [j, cut] : enumerate(rules.truncation))
    if (cut != 0)
      codes[j] = meanings[j].getFamily().truncate(meanings[j], codes[j], cut);
  const FormatFamily &family = result.getFamily();
  bool isUniform = all_of(meanings, [&](const Format &each) {
    return each && haveSameCodes(each, result);
  });
  if (operation != OpKind::Cast && isUniform)
    return family.evaluateExactly(operation, rules.encoding, codes, mode);
  SmallVector<Unpacked, 3> values;
  for (size_t j = 0; j < count; ++j) {
    values.push_back(valueOf(j, codes[j]));
    if (operation != OpKind::Cast)
      values.back() = values.back().operand();
  }
  return family.encode(rules.encoding, exactValue(operation, values, mode),
                       mode);
}

/// An accumulator need not know the sign of a zero, nor infinities from NaN.
bool Judge::isExcusedSum(const Operands &operands, uint64_t got,
                         uint64_t expected) const {
  if (!isPartOfAccumulator(checked.operation) || !known)
    return false;
  Unpacked is = result.getFamily().decode(result, got);
  Unpacked should = result.getFamily().decode(result, expected);
  bool hasInfinity = false;
  for (size_t j = 0; j < meanings.size(); ++j)
    hasInfinity |= valueOf(j, operands[j]).isInfinite();
  return (is.isZero() && should.isZero()) || (is.isNaN() && hasInfinity);
}

Judge::Verdict Judge::judge(const Operands &operands, uint64_t got,
                            Fault &fault, uint64_t &expected) const {
  unsigned width = widthOf(checked.result);
  if (width < 64 && got >> width != 0) {
    expected = got & (~uint64_t{0} >> (64 - width));
    fault = Fault::HighBits;
    return Verdict::Wrong;
  }
  expected = known ? expect(operands) : got;
  if (got == expected || isExcusedSum(operands, got, expected))
    return Verdict::Right;
  fault = classify(operands, got, expected);
  if (fault != Fault::OtherCode || !result)
    return Verdict::Wrong;
  Unpacked value = result.getFamily().decode(result, got);
  return value.isNaN() ? Verdict::OtherNaN : Verdict::Wrong;
}

/// True of a subnormal number.
static bool isSubnormal(const Format &format, const Unpacked &value) {
  auto normal = format.getFamily().range(format).normalExponent;
  return value.isFinite() && normal && value.exponent < *normal;
}

Fault Judge::classify(const Operands &operands, uint64_t got,
                      uint64_t expected) const {
  if (checked.operation == OpKind::Cmp || checked.operation == OpKind::IsNaN)
    return Fault::Truth;
  if (!result)
    return Fault::Integer;

  const FormatFamily &family = result.getFamily();
  Unpacked is = family.decode(result, got);
  Unpacked should = family.decode(result, expected);
  if (is.isNaN() || should.isNaN())
    return !is.isNaN()      ? Fault::NaNExpected
           : should.isNaN() ? Fault::OtherCode
                            : Fault::NaNGiven;
  bool isOrdered =
      checked.operation == OpKind::Sub || checked.operation == OpKind::Div ||
      checked.operation == OpKind::Rem || checked.operation == OpKind::Pow;
  if (isOrdered && checked.operands[0].format == checked.operands[1].format &&
      got == expect({operands[1], operands[0], operands[2], operands[3]}))
    return Fault::Swapped;
  if (is.isZero() && should.isZero())
    return is.negative != should.negative ? Fault::SignOfZero
                                          : Fault::OtherCode;
  if (is.pack() == should.pack())
    return Fault::OtherCode;
  if (is.isInfinite() || should.isInfinite())
    return Fault::Infinity;
  if (is.isZero()) {
    bool isFlush = isSubnormal(result, should);
    for (size_t j = 0; j < meanings.size(); ++j)
      isFlush |=
          meanings[j] && isSubnormal(meanings[j], valueOf(j, operands[j]));
    if (isFlush)
      return Fault::Flushed;
  }
  // Codes of one sign ascend or descend with their values.
  if ((got + 1 == expected || expected + 1 == got) &&
      (is.negative == should.negative || is.isZero() || should.isZero()))
    return Fault::OneUlp;
  Unpacked mirrored = is;
  mirrored.negative = !is.negative;
  return mirrored.pack() == should.pack() ? Fault::Sign : Fault::Far;
}

} // namespace numera::check
