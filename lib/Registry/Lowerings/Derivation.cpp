// SPDX-License-Identifier: MIT

#include "numera/Registry/Lowerings/Derivation.h"
#include "llvm/ADT/STLExtras.h"

using namespace numera;
using llvm::StringRef;

bool numera::isDerivable(OpKind operation) {
  switch (operation) {
  case OpKind::Cast:
  case OpKind::Sub:
  case OpKind::Floor:
  case OpKind::Ceil:
  case OpKind::Trunc:
  case OpKind::Round:
  case OpKind::RoundEven:
    return true;
  default:
    // One rounding is not two: no other operations give an fma, a quotient or
    // an elementary function. What does not round follows from the values.
    return !isRounded(operation);
  }
}

namespace {

class Deriver {
public:
  Deriver(const RegistryEntries &registry, const Lowering &key)
      : registry(registry), key(key) {}

  std::optional<Derivation> run() const;
  bool holdsOperand(const Format &machine) const;
  bool isRegistered(const Format &from, const Format &to) const;
  /// The opaque format that the operation is about.
  Format subject() const;

private:
  bool isAllowed() const;
  bool isTest() const {
    return key.operation == OpKind::Cmp || key.operation == OpKind::IsNaN;
  }
  std::optional<Derivation> throughCast() const;
  std::optional<Derivation> negation() const;
  std::optional<Derivation> comparison(StringRef predicate) const;
  std::optional<Derivation> choice() const;

  const RegistryEntries &registry;
  const Lowering &key;
};

} // namespace

Format Deriver::subject() const {
  if (key.result && key.result.isOpaque())
    return key.result;
  const Format &operand = key.operands.front();
  return operand && operand.isOpaque() ? operand : Format();
}

bool Deriver::isAllowed() const {
  Format format = subject();
  const RegistryEntries::NamedFormat *entry =
      format ? registry.entryOf(format) : nullptr;
  bool isUniform = key.operation == OpKind::Cast ||
                   llvm::all_of(key.operands, [&](const Format &operand) {
                     return operand == key.result;
                   });
  bool isOwnRounding =
      !isRounded(key.operation) ||
      key.getRoundingMode().pack() == key.getOwnRoundingMode().pack();
  return entry && isUniform && isOwnRounding &&
         (entry->derived >> unsigned(key.operation) & 1);
}

bool Deriver::isRegistered(const Format &from, const Format &to) const {
  Lowering cast;
  cast.operation = OpKind::Cast;
  cast.target = key.target;
  cast.operands = {from};
  cast.result = to;
  return registry.findLowering(cast) != nullptr;
}

/// True if the operand of a cast from another type is a number of `machine`.
bool Deriver::holdsOperand(const Format &machine) const {
  if (key.fromInteger)
    return key.fromInteger <= (machine == formatF32() ? 16u : 32u);
  return embeds(key.operands.front(), machine);
}

/// f64 holds more, and is taken where both will do; the carrier of the entry
/// goes before either.
std::optional<Derivation> Deriver::throughCast() const {
  auto serves = [&](const Format &machine) {
    if (!machine || key.result == machine ||
        (key.operation == OpKind::Cast && key.operands.front() == machine))
      return false;
    auto isOwn = [](const Format &format) {
      return format && format.isOpaque();
    };
    // No machine number has all values of a wide format.
    for (const Format &operand : key.operands)
      if (isOwn(operand) && operand.isWide())
        return false;
    for (const Format &operand : key.operands)
      if (isOwn(operand) ? !isRegistered(operand, machine)
                         : !holdsOperand(machine))
        return false;
    return isTest() || !isOwn(key.result) || isRegistered(machine, key.result);
  };
  for (const Format &machine :
       {registry.carrierOf(subject()), formatF64(), formatF32()})
    if (serves(machine))
      return Derivation{Derivation::Rule::ThroughCast, machine};
  return std::nullopt;
}

/// The addition is the library's, and the negation exact.
std::optional<Derivation> Deriver::negation() const {
  Lowering add = key, neg = key;
  add.operation = OpKind::Add;
  neg.operation = OpKind::Neg;
  neg.operands.resize(1);
  bool isThere =
      registry.findLowering(add) &&
      (registry.findLowering(neg) || derive(registry, neg).has_value());
  return isThere ? std::optional(Derivation{Derivation::Rule::Negation})
                 : std::nullopt;
}

static StringRef swapped(StringRef predicate) {
  static constexpr std::pair<StringRef, StringRef> pairs[] = {
      {"olt", "ogt"}, {"ole", "oge"}, {"ult", "ugt"}, {"ule", "uge"}};
  for (auto [one, other] : pairs)
    if (predicate == one || predicate == other)
      return predicate == one ? other : one;
  return predicate;
}

static StringRef inverted(StringRef predicate) {
  static constexpr std::pair<StringRef, StringRef> pairs[] = {
      {"olt", "uge"}, {"ole", "ugt"}, {"ogt", "ule"}, {"oge", "ult"},
      {"oeq", "une"}, {"one", "ueq"}, {"ord", "uno"}, {"true", "false"}};
  for (auto [one, other] : pairs)
    if (predicate == one || predicate == other)
      return predicate == one ? other : one;
  return predicate;
}

std::optional<Derivation> Deriver::comparison(StringRef predicate) const {
  for (bool isInverted : {false, true})
    for (bool isSwapped : {false, true}) {
      StringRef wanted = isInverted ? inverted(predicate) : predicate;
      Lowering other = key;
      other.operation = OpKind::Cmp;
      other.predicate = (isSwapped ? swapped(wanted) : wanted).str();
      if (const Lowering *found = registry.findLowering(other))
        return Derivation{
            Derivation::Rule::Comparison, {}, found, isSwapped, isInverted};
    }
  return std::nullopt;
}

/// NaN must be told by its code: comparisons have their own ideas of it. An
/// entry that gives the code has one NaN, and no two codes of one number.
std::optional<Derivation> Deriver::choice() const {
  if (!registry.entryOf(key.result)->identities.nan)
    return std::nullopt;
  std::optional<Derivation> found = comparison("olt");
  if (!found || found->isInverted)
    return std::nullopt;
  found->rule = Derivation::Rule::Choice;
  return found;
}

std::optional<Derivation> Deriver::run() const {
  if (!isAllowed())
    return std::nullopt;
  std::optional<Derivation> found;
  switch (key.operation) {
  case OpKind::Sub:
    return negation();
  case OpKind::Cmp:
    found = comparison(key.predicate);
    break;
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::MinNum:
  case OpKind::MaxNum:
    found = choice();
    break;
  default:
    break;
  }
  return found ? found : throughCast();
}

std::optional<Derivation> numera::derive(const RegistryEntries &registry,
                                         const Lowering &key) {
  return Deriver(registry, key).run();
}

bool numera::isTotallyOrdered(const RegistryEntries &registry,
                              const Format &format) {
  Format meaning = registry.equivalentOf(format);
  return meaning && meaning.getFamily().isTotallyOrdered();
}

llvm::ArrayRef<OpKind> numera::carriedOperations() {
  static constexpr OpKind operations[] = {
      OpKind::Add, OpKind::Sub,  OpKind::Mul, OpKind::Div,
      OpKind::Fma, OpKind::Sqrt, OpKind::Neg, OpKind::Abs,
      OpKind::Min, OpKind::Max,  OpKind::Cmp, OpKind::IsNaN};
  return operations;
}

bool numera::runsInCarrier(const RegistryEntries &registry,
                           const Lowering &key) {
  Deriver deriver(registry, key);
  Format format = deriver.subject();
  Format carrier = format ? registry.exactCarrierOf(format) : Format();
  if (!carrier || !deriver.isRegistered(format, carrier) ||
      !deriver.isRegistered(carrier, format))
    return false;
  const Format &operand = key.operands.front();
  if (key.operation == OpKind::Cast)
    return (operand == format && key.result == carrier) ||
           (operand == carrier && key.result == format);
  if (!llvm::is_contained(carriedOperations(), key.operation) ||
      !llvm::all_equal(key.operands) || operand != key.result ||
      key.getRoundingMode().pack() != key.getOwnRoundingMode().pack())
    return false;
  const Lowering *rounding = registry.findRoundTo(format, key.target);
  if (rounding && (rounding->carried >> unsigned(key.operation) & 1))
    return true;
  if (registry.findLowering(key))
    return false;
  std::optional<Derivation> found = derive(registry, key);
  return !found || (found->rule == Derivation::Rule::ThroughCast &&
                    found->through == carrier);
}

std::string Derivation::description() const {
  switch (rule) {
  case Rule::ThroughCast:
    return "cast to " + std::string(through == formatF32() ? "f32" : "f64");
  case Rule::Negation:
    return "add and neg";
  case Rule::Comparison:
  case Rule::Choice:
    return "cmp " + (comparison->predicate.empty() ? "of any predicate"
                                                   : comparison->predicate);
  }
  return "";
}

Provision numera::provisionOf(const RegistryEntries &registry,
                              const Lowering &key) {
  using Kind = Provision::Kind;
  if (const Lowering *found = registry.findLowering(key))
    return {Kind::Registered, found, ""};
  auto isOpaque = [](const Format &format) {
    return format && format.isOpaque();
  };
  if (!isOpaque(key.result) && llvm::none_of(key.operands, isOpaque))
    return {Kind::BuiltIn, nullptr, ""};
  if (std::optional<Derivation> found = derive(registry, key))
    return {Kind::Derived, nullptr, found->description()};
  Format subject = isOpaque(key.result) ? key.result : key.operands.front();
  Format carrier = registry.carrierOf(subject);
  if (!carrier || key.result == carrier)
    return {};
  // A cast from another type rounds once: the carrier holds its numbers.
  const Format &from = key.operands.front();
  if (from != subject &&
      (from == carrier || !Deriver(registry, key).holdsOperand(carrier)))
    return {};
  return {Kind::Fallback, nullptr, carrier == formatF32() ? "f32" : "f64"};
}
