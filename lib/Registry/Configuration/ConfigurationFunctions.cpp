// SPDX-License-Identifier: MIT
//
// Lowerings of functions that are not operations of the dialect: roundings in a
// carrier, products of whole tensors, identities, accumulators.

#include "ConfigurationReader.h"
#include "numera/Registry/Lowerings/Derivation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;
using llvm::StringRef;
using llvm::Twine;

/// `{op: round_to, format: my}`: from the carrier of an opaque format to the
/// carrier.
bool ConfigurationReader::readRoundTo(const YamlNode &entry,
                                      Lowering &lowering) {
  for (StringRef key : {"from", "to", "operands", "result", "rounding"})
    if (const YamlNode *extra = entry.find(key))
      return file.fail(extra->keyPlace,
                       "'round_to' has no '" + key +
                           "', expected format, whose rounding it is");
  const YamlNode *format = requireScalar(entry, "format", "'round_to'");
  if (!format || !readFormatReference(*format, lowering.result))
    return false;
  Format carrier = registry.exactCarrierOf(lowering.result);
  if (!carrier)
    return file.fail(format->place,
                     "'round_to' rounds in the carrier of an opaque format, "
                     "and '" +
                         Twine(format->text) +
                         "' names none; expected 'carrier: f32' or 'carrier: "
                         "f64' in the entry of the format");
  lowering.operands = {carrier};
  const YamlNode *equivalent = entry.find("equivalent");
  if (!equivalent)
    return true;
  if (!readFormatReference(*equivalent, lowering.equivalent))
    return false;
  const FormatFamily &family = lowering.equivalent.getFamily();
  bool hasStep =
      family.hasArithmetic() &&
      lowering.equivalent.getRoundingMode() == Rounding::NearestEven &&
      family.carrierStep(lowering.equivalent).bits == 32;
  return (hasStep && carrier == formatF32()) ||
         file.fail(equivalent->place,
                   "'" + Twine(equivalent->text) +
                       "' is not a format whose sums of products Numera rounds "
                       "in f32, expected one such as bf16, and 'carrier: f32'");
}

/// `operations: [add, mul]` of a `round_to`.
bool ConfigurationReader::readCarried(const YamlNode &entry,
                                      Lowering &lowering) {
  for (StringRef key : {"operations", "equivalent"}) {
    const YamlNode *found = entry.find(key);
    if (found && lowering.operation != OpKind::RoundTo)
      return file.fail(found->keyPlace,
                       "'" + key + "' belongs to 'round_to', found it with '" +
                           nameOf(lowering.operation) + "'");
  }
  llvm::SmallVector<StringRef> names;
  for (OpKind operation : carriedOperations())
    names.push_back(nameOf(operation));
  return readEach(entry, "operations", [&](const YamlNode &item) {
    std::optional<OpKind> operation = operationFromName(item.text);
    if (!operation || !llvm::is_contained(carriedOperations(), *operation))
      return file.fail(item.place, "'" + Twine(item.text) +
                                       "' is no operation of a carrier" +
                                       expectation(item.text, names));
    lowering.carried |= uint64_t{1} << unsigned(*operation);
    return true;
  });
}

/// A rounding in the carrier needs the casts between it and the format.
bool ConfigurationReader::checkCarrier(const YamlNode &entry,
                                       const Lowering &lowering) {
  if (lowering.operation != OpKind::RoundTo)
    return true;
  const Format &carrier = lowering.operands.front();
  if (lowering.equivalent && lowering.target == Target::NVPTX)
    return file.fail(entry.find("equivalent")->keyPlace,
                     "'equivalent' is proven by running the function here, "
                     "expected target cpu or \"*\"");
  for (auto [from, to] : {std::pair(carrier, lowering.result),
                          std::pair(lowering.result, carrier)}) {
    Lowering cast{};
    cast.operation = OpKind::Cast;
    cast.target = lowering.target;
    cast.operands = {from};
    cast.result = to;
    if (!registry.findLowering(cast))
      return file.fail(entry.place, "'round_to' replaces two casts, and one "
                                    "is not registered: " +
                                        registry.suggest(cast));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Wide formats
//===----------------------------------------------------------------------===//

/// What a function on codes of more than 64 bits cannot be.
bool ConfigurationReader::checkWide(const YamlNode &entry,
                                    const Lowering &lowering) {
  std::vector<Format> formats = lowering.operands;
  formats.push_back(lowering.result);
  auto wide = llvm::find_if(
      formats, [](const Format &format) { return format && format.isWide(); });
  if (wide == formats.end())
    return true;
  auto fail = [&](StringRef key, const Twine &what) {
    const YamlNode *found = entry.find(key);
    return file.fail(found ? found->place : entry.place,
                     "format '" + registry.nameOrSpelling(*wide) + "' has " +
                         Twine(wide->width()) + " bits, and " + what);
  };
  if (lowering.target == Target::NVPTX)
    return fail("target", "programs for a GPU have formats of at most 64");
  if (isProduct(lowering.operation))
    return fail("op",
                "products of tensors have formats of at most 64; expected "
                "add, mul or fma");
  if (lowering.vector)
    return fail("vector", "vector variants have formats of at most 64");
  if (lowering.getRoundingMode() == Rounding::Stochastic)
    return fail("rounding",
                "functions that draw random bits have formats of at "
                "most 64");
  return true;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `{op: matmul, format: my, target: cpu, call: my_matmul}`: a function on
/// memory is called by the processor that has it, and draws nothing.
bool ConfigurationReader::readProduct(const YamlNode &entry,
                                      const Lowering &lowering) {
  if (!isProduct(lowering.operation))
    return true;
  StringRef name = nameOf(lowering.operation);
  if (const YamlNode *vector = entry.find("vector"))
    return file.fail(vector->keyPlace, "'" + name +
                                           "' works on arrays already, found a "
                                           "vector variant of it");
  if (lowering.getRoundingMode() == Rounding::Stochastic)
    return file.fail(entry.place, "'" + name +
                                      "' draws no random bits, expected a "
                                      "format with another rounding");
  const YamlNode *target = entry.find("target");
  return lowering.target == Target::CPU ||
         file.fail(target ? target->place : entry.place,
                   "'" + name +
                       "' is a function on tensors in memory, which a GPU's "
                       "threads have no call for; expected target: cpu");
}

//===----------------------------------------------------------------------===//
// Identities and accumulators
//===----------------------------------------------------------------------===//

bool ConfigurationReader::readPartsOfFormats(const YamlNode &formats) {
  return llvm::all_of(formats.items, [&](const YamlNode &entry) {
    const YamlNode *accumulator = entry.find("accumulator");
    const YamlNode *identities = entry.find("identities");
    if (!accumulator && !identities)
      return true;
    // An opaque format: no other has these keys.
    RegistryEntries::NamedFormat &named =
        registry.named[registry.byName[entry.key]];
    return (!identities || readIdentityFunctions(*identities, named)) &&
           (!accumulator || readAccumulator(*accumulator, named));
  });
}

/// The function that is registered for a part of a format; `section` may name
/// its library.
bool ConfigurationReader::readPart(const YamlNode &section,
                                   const YamlNode &value, OpKind part,
                                   const Format &format) {
  Lowering lowering{};
  lowering.operation = part;
  lowering.result = format;
  lowering.operands = {format};
  lowering.location = file.location(value.place);
  if (!expectScalar(value) || !readLibraryOf(section, lowering))
    return false;
  if (!isFormatName(value.text))
    return file.fail(value.place, "'" + Twine(value.text) +
                                      "' is not a function, expected the name "
                                      "of a C function");
  lowering.symbol = value.text;
  registry.registered.push_back(std::move(lowering));
  return true;
}

/// `identities: {zero: my_zero}`, beside those that are codes.
bool ConfigurationReader::readIdentityFunctions(
    const YamlNode &section, const RegistryEntries::NamedFormat &named) {
  std::pair<StringRef, OpKind> identities[] = {
#define NUMERA_IDENTITY(enumerator, name, operands) {name, OpKind::enumerator},
#include "numera/Registry/Formats/LibraryFunctions.def"
  };
  return llvm::all_of(identities, [&](const auto &identity) {
    const YamlNode *value = section.find(identity.first);
    return !value || !isFormatName(value->text) ||
           readPart(section, *value, identity.second, named.format);
  });
}

/// `accumulator: {storage: 32, init: f, mac: g, round: h}`.
bool ConfigurationReader::readAccumulator(const YamlNode &section,
                                          RegistryEntries::NamedFormat &named) {
  constexpr unsigned most = 512;
  if (!checkKeys(section, "an accumulator", keys::accumulator))
    return false;
  const YamlNode *storage = requireScalar(section, "storage", "an accumulator");
  if (!storage)
    return false;
  if (StringRef(storage->text).getAsInteger(10, named.accumulatorBytes) ||
      named.accumulatorBytes == 0 || named.accumulatorBytes > most)
    return file.fail(storage->place, "storage is '" + Twine(storage->text) +
                                         "', expected 1 to " + Twine(most) +
                                         " bytes");
  if (named.format.isWide())
    return file.fail(section.keyPlace,
                     "an accumulator adds up codes of at most 64 bits, and '" +
                         Twine(named.name) + "' has " +
                         Twine(named.format.width()) +
                         "; expected sums in a format, such as 'accumulate: "
                         "same'");
  std::string code = "uint" + llvm::utostr(named.format.storageBits()) + "_t";
  std::tuple<OpKind, StringRef, std::string> parts[] = {
      {OpKind::AccumulatorInit, "init", ""},
      {OpKind::AccumulatorMac, "mac",
       "void mac(void *, " + code + ", " + code + ")"},
      {OpKind::AccumulatorAdd, "add", ""},
      {OpKind::AccumulatorRound, "round", code + " round(const void *)"}};
  for (const auto &[part, key, prototype] : parts) {
    const YamlNode *value = section.find(key);
    if (!value && prototype.empty())
      continue;
    if (!value)
      return file.fail(section.keyPlace, "'" + key +
                                             "' is missing, an accumulator "
                                             "needs it: " +
                                             prototype);
    if (!readPart(section, *value, part, named.format))
      return false;
  }
  return true;
}
