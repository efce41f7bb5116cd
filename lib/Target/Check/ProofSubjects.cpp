// SPDX-License-Identifier: MIT

#include "ProofSubjects.h"
#include "numera/Registry/Lowerings/Derivation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace numera::check {

namespace {

class Subjects {
public:
  Subjects(const Registry &registry, const Format &format, unsigned mostBits,
           std::vector<std::string> *untried)
      : registry(registry), format(format),
        meaning(registry.equivalentOf(format)), mostBits(mostBits),
        untried(untried) {}

  std::vector<ProofSubject> run() {
    bool isProvable = format.isOpaque() && format.width() <= 16 && meaning &&
                      meaning.getRounding() != Rounding::Stochastic;
    if (!isProvable)
      return {};
    addCasts();
#define NUMERA_OPERATION(enumerator, name, operands, ...)                      \
  addUniform(OpKind::enumerator, operands);
#include "numera/Numerics/Core/Operations.def"
    addTests();
    return std::move(subjects);
  }

private:
  void addUniform(OpKind operation, unsigned count) {
    // The step of a sum is a product and a sum.
    if (is_contained({OpKind::Cast, OpKind::Cmp, OpKind::IsNaN, OpKind::Mac},
                     operation))
      return;
    Checked checked;
    checked.operation = operation;
    checked.result.format = format;
    checked.operands.assign(count, checked.result);
    add(checked);
  }

  void addCast(const CastType &from, const CastType &to) {
    Checked checked;
    checked.operation = OpKind::Cast;
    checked.operands = {from};
    checked.result = to;
    add(checked);
  }

  void addBoth(const CastType &other) {
    CastType own;
    own.format = format;
    addCast(other, own);
    addCast(own, other);
  }

  void addCasts() {
    CastType other;
    for (const Format &machine : {formatF32(), formatF64()}) {
      other.format = machine;
      addBoth(other);
    }
    for (StringRef name :
         {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
      addBoth(*integerFromName(name));
    SmallVector<Format> others;
    for (const Lowering &entry : registry.lowerings())
      if (entry.operation == OpKind::Cast && !entry.fromInteger &&
          !entry.toInteger)
        for (const Format &each : {entry.operands.front(), entry.result})
          if (each.getFamily().hasArithmetic() && each != formatF32() &&
              each != formatF64() && each != meaning &&
              !is_contained(others, each))
            others.push_back(each);
    for (const Format &each : others) {
      other.format = each;
      addBoth(other);
    }
  }

  void addTests() {
    Checked checked;
    checked.result = *integerFromName("u8");
    checked.operands.resize(2);
    checked.operands[0].format = checked.operands[1].format = format;
    checked.operation = OpKind::Cmp;
    // Those that models have.
    for (StringRef predicate : {"oeq", "ogt", "oge", "olt", "ole", "une"}) {
      checked.predicate = predicate;
      add(checked);
    }
    checked.predicate.clear();
    checked.operation = OpKind::IsNaN;
    checked.operands.pop_back();
    add(checked);
  }

  /// Adds what programs have a function for, or something made of functions.
  void add(Checked checked) {
    checked.rounding = keyOf(checked).getOwnRoundingMode();
    if (!isRounded(checked.operation) || !checked.result.format)
      checked.rounding = Rounding::NearestEven;
    Lowering key = keyOf(checked);
    Provision provision = provisionOf(registry, key);
    bool isRegistered = provision.kind == Provision::Kind::Registered;
    if (provision.kind == Provision::Kind::Missing ||
        provision.kind == Provision::Kind::BuiltIn)
      return;
    unsigned bits = 0;
    for (const CastType &operand : checked.operands)
      bits += widthOf(operand);
    if (bits > mostBits) {
      if (untried && isRegistered)
        untried->push_back(describe(registry, checked) + ", 2^" + utostr(bits));
      return;
    }
    // Slow, and rarely right: computed in f32, they round twice.
    bool isRare = is_contained({OpKind::Pow, OpKind::Rem}, checked.operation);
    if (provision.kind == Provision::Kind::Fallback && isRare && bits > 16)
      return;
    checked.lowering = provision.lowering;
    if (!isRegistered)
      checked.origin =
          (provision.kind == Provision::Kind::Derived ? "derived: "
                                                      : "fallback: ") +
          provision.origin;
    subjects.push_back({checked, asMeant(checked), bits});
  }

  Checked asMeant(const Checked &checked) const {
    Checked meant = checked;
    meant.lowering = nullptr;
    meant.origin.clear();
    auto replace = [&](CastType &type) {
      if (type.format == format)
        type.format = meaning;
    };
    for_each(meant.operands, replace);
    replace(meant.result);
    if (isRounded(meant.operation) && meant.result.format)
      meant.rounding = keyOf(meant).getOwnRoundingMode();
    return meant;
  }

  const Registry &registry;
  const Format &format;
  Format meaning;
  unsigned mostBits;
  std::vector<std::string> *untried;
  std::vector<ProofSubject> subjects;
};

} // namespace

std::vector<ProofSubject> proofSubjects(const Registry &registry,
                                        const Format &format, unsigned mostBits,
                                        std::vector<std::string> *untried) {
  return Subjects(registry, format, mostBits, untried).run();
}

std::string describe(const Registry &registry, const Checked &checked) {
  auto name = [&](const CastType &type) {
    if (!type.format)
      return (type.isSigned ? "i" : "u") + utostr(type.integer);
    if (type.format.isOpaque())
      return type.format.getOpaqueName().str();
    return registry.nameOrSpelling(type.format);
  };
  std::string text = nameOf(checked.operation).str();
  if (!checked.predicate.empty())
    text += " " + checked.predicate;
  text += " of " + name(checked.operands.front());
  if (checked.operation == OpKind::Cast)
    text += " to " + name(checked.result);
  return text;
}

} // namespace numera::check
