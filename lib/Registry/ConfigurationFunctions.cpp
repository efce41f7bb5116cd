// SPDX-License-Identifier: MIT
//
// Lowerings of what is no operation of the dialect, but a function that a
// library may have beside them.

#include "ConfigurationReader.h"
#include "numera/Registry/Derivation.h"
#include "llvm/ADT/STLExtras.h"

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
  return true;
}

/// `operations: [add, mul]` of a `round_to`.
bool ConfigurationReader::readCarried(const YamlNode &entry,
                                      Lowering &lowering) {
  const YamlNode *operations = entry.find("operations");
  if (operations && lowering.operation != Operation::RoundTo)
    return file.fail(operations->keyPlace,
                     "'operations' belongs to 'round_to', found it with '" +
                         nameOf(lowering.operation) + "'");
  llvm::SmallVector<StringRef> names;
  for (Operation operation : carriedOperations())
    names.push_back(nameOf(operation));
  return readEach(entry, "operations", [&](const YamlNode &item) {
    std::optional<Operation> operation = operationFromName(item.text);
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
  if (lowering.operation != Operation::RoundTo)
    return true;
  const Format &carrier = lowering.operands.front();
  for (auto [from, to] : {std::pair(carrier, lowering.result),
                          std::pair(lowering.result, carrier)}) {
    Lowering cast{};
    cast.operation = Operation::Cast;
    cast.target = lowering.target;
    cast.operands = {from};
    cast.result = to;
    if (!registry.findLowering(cast))
      return file.fail(entry.place, "'round_to' stands for two casts, and one "
                                    "is not registered: " +
                                        registry.suggest(cast));
  }
  return true;
}
