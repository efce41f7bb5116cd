// SPDX-License-Identifier: MIT
//
// The keys of an opaque format's entry, except its bits.

#include "ConfigurationReader.h"
#include "numera/Registry/Lowerings/Derivation.h"
#include "llvm/ADT/STLExtras.h"

using namespace numera;
using llvm::StringRef;
using llvm::Twine;

bool ConfigurationReader::readOpaque(const YamlNode &entry,
                                     RegistryEntries::NamedFormat &named) {
  return readEquivalent(entry, named.format, named.equivalent) &&
         readProofs(entry, named) && readCarrier(entry, named) &&
         readDerived(entry, named) && readIdentities(entry, named) &&
         readAccumulatorName(entry, named);
}

/// `equivalent: bf16`: the format that an opaque one's codes are to be read as.
bool ConfigurationReader::readEquivalent(const YamlNode &entry,
                                         const Format &format,
                                         Format &equivalent) {
  const YamlNode *value = entry.find("equivalent");
  if (!value)
    return true;
  if (!readFormatReference(*value, equivalent))
    return false;
  if (!equivalent.getFamily().hasArithmetic())
    return file.fail(value->place, "'" + Twine(value->text) +
                                       "' is opaque itself, expected a format "
                                       "with arithmetic such as bf16");
  return equivalent.width() == format.width() ||
         file.fail(value->place, "'" + Twine(value->text) + "' has " +
                                     Twine(equivalent.width()) +
                                     " bits, expected a format of " +
                                     Twine(format.width()));
}

/// `proofs: off`: the functions are called, whatever is known of them.
/// `proofs: any-nan`: a result that is NaN may be another NaN.
bool ConfigurationReader::readProofs(const YamlNode &entry,
                                     RegistryEntries::NamedFormat &named) {
  const YamlNode *value = entry.find("proofs");
  if (!value)
    return true;
  if (!expectScalar(*value))
    return false;
  using Proofs = RegistryEntries::NamedFormat::Proofs;
  if (value->text == "off")
    named.proofs = Proofs::Off;
  else if (value->text == "any-nan")
    named.proofs = Proofs::AnyNaN;
  else if (value->text != "on")
    return file.fail(value->place, "proofs is '" + Twine(value->text) +
                                       "', expected on, off or any-nan");
  return named.equivalent ||
         file.fail(value->keyPlace,
                   "'proofs' is given without 'equivalent', the format that "
                   "they are about");
}

/// f32 or f64.
bool ConfigurationReader::readFallback(const YamlNode &value, Format &format) {
  if (!expectScalar(value))
    return false;
  if (value.text != "f32" && value.text != "f64")
    return file.fail(value.place, Twine(value.key) + " is '" + value.text +
                                      "', expected f32 or f64");
  format = value.text == "f32" ? formatF32() : formatF64();
  return true;
}

/// `carrier: f32`, `fallback: f32`: where an opaque format computes what it has
/// no function for. The first says as well that the cast is exact.
bool ConfigurationReader::readCarrier(const YamlNode &entry,
                                      RegistryEntries::NamedFormat &named) {
  for (StringRef key : {"carrier", "fallback"}) {
    const YamlNode *value = entry.find(key);
    if (!value)
      continue;
    if (named.carrier)
      return file.fail(value->keyPlace,
                       "'fallback' is given beside 'carrier', which computes "
                       "the same; expected one of them");
    if (!readFallback(*value, named.carrier))
      return false;
    if (key == "carrier" && named.format.isWide())
      return file.fail(
          value->keyPlace,
          "no float of the machine has all values of a format of " +
              Twine(named.format.width()) +
              " bits, expected 'fallback', which rounds them");
    named.embedsInCarrier = key == "carrier";
  }
  if (!named.carrier)
    named.carrier = fallback;
  return true;
}

/// `accumulator: {name: my_sum, …}`: what `accumulate` calls it.
bool ConfigurationReader::readAccumulatorName(
    const YamlNode &entry, RegistryEntries::NamedFormat &named) {
  const YamlNode *section = entry.find("accumulator");
  const YamlNode *value = section ? section->find("name") : nullptr;
  if (!value)
    return true;
  if (!expectScalar(*value))
    return false;
  StringRef name = value->text;
  bool isTaken = name == named.name || name == "same" || name == "quire" ||
                 name == "tensorcore" || registry.byName.count(name) ||
                 llvm::any_of(registry.named, [&](const auto &other) {
                   return other.accumulatorName == name;
                 });
  if (isTaken || !isFormatName(value->text))
    return file.fail(value->place,
                     "an accumulator is named '" + name +
                         "', expected a name that nothing else has that "
                         "'accumulate' may be");
  named.accumulatorName = name.str();
  return true;
}

/// `derive: [sub, max]`, `derive: all`.
bool ConfigurationReader::readDerived(const YamlNode &entry,
                                      RegistryEntries::NamedFormat &named) {
  llvm::SmallVector<StringRef> names;
  uint64_t all = 0;
#define NUMERA_OPERATION(enumerator, name, operands, ...)                      \
  if (isDerivable(OpKind::enumerator)) {                                       \
    names.push_back(#name);                                                    \
    all |= uint64_t{1} << unsigned(OpKind::enumerator);                        \
  }
#include "numera/Numerics/Core/Operations.def"
  return readEach(entry, "derive", [&](const YamlNode &item) {
    std::optional<OpKind> operation = operationFromName(item.text);
    if (item.text == "all") {
      named.derived = all;
      return true;
    }
    if (!operation)
      return file.fail(item.place, "unknown operation '" + Twine(item.text) +
                                       "'" + expectation(item.text, names));
    if (!isDerivable(*operation))
      return file.fail(item.place,
                       "'" + Twine(item.text) +
                           "' does not follow from other operations without a "
                           "second rounding, expected a function for it, or "
                           "'fallback: f32'");
    named.derived |= uint64_t{1} << unsigned(*operation);
    return true;
  });
}

/// `identities: {zero: 0, lowest: 0x8001}`.
bool ConfigurationReader::readIdentities(const YamlNode &entry,
                                         RegistryEntries::NamedFormat &named) {
  const YamlNode *section = entry.find("identities");
  if (!section)
    return true;
  if (!checkKeys(*section, "'identities'", keys::identities))
    return false;
  Identities &identities = named.identities;
  std::pair<StringRef, std::optional<llvm::APInt> *> places[] = {
      {"zero", &identities.zero},
      {"one", &identities.one},
      {"lowest", &identities.lowest},
      {"highest", &identities.highest},
      {"nan", &identities.nan}};
  unsigned width = named.format.width();
  for (auto [key, place] : places) {
    const YamlNode *value = section->find(key);
    if (!value)
      continue;
    if (!expectScalar(*value))
      return false;
    if (isFormatName(value->text))
      continue; // a function, of a library that is read later
    llvm::APInt code;
    if (StringRef(value->text).getAsInteger(0, code) ||
        code.getActiveBits() > width)
      return file.fail(value->place, key + " is '" + Twine(value->text) +
                                         "', expected a code of " +
                                         Twine(width) + " bits such as 0x0");
    *place = code.zextOrTrunc(named.format.storageBits());
  }
  return true;
}
