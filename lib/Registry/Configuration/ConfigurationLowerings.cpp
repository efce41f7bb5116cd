// SPDX-License-Identifier: MIT
//
// The section `lowerings`.

#include "ConfigurationReader.h"
#include "numera/Registry/Symbols/ReservedNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace numera;
using llvm::StringRef;
using llvm::Twine;

bool ConfigurationReader::readLowerings(const YamlNode &section) {
  if (!section.isSequence())
    return file.fail(section.place,
                     "found " + section.kindName() +
                         ", 'lowerings' is a list: begin each with '- '");
  size_t first = registry.registered.size();
  if (!llvm::all_of(section.items,
                    [&](const YamlNode &entry) { return readLowering(entry); }))
    return false;
  auto added = llvm::ArrayRef(registry.registered).drop_front(first);
  return llvm::all_of(llvm::zip_equal(section.items, added), [&](auto pair) {
    return checkCarrier(std::get<0>(pair), std::get<1>(pair));
  });
}

bool ConfigurationReader::readLowering(const YamlNode &entry) {
  Lowering lowering{};
  if (!checkKeys(entry, "a lowering", keys::lowering) ||
      !readOperation(entry, lowering))
    return false;
  auto readTypes = lowering.operation == OpKind::Cast
                       ? &ConfigurationReader::readCast
                   : lowering.operation == OpKind::RoundTo
                       ? &ConfigurationReader::readRoundTo
                       : &ConfigurationReader::readOperands;
  if (!(this->*readTypes)(entry, lowering) || !readCarried(entry, lowering) ||
      !readPredicate(entry, lowering) || !readRounding(entry, lowering) ||
      !checkChanges(entry, lowering) || !readTarget(entry, lowering) ||
      !readFunctionName(entry, "a lowering", lowering.symbol) ||
      !readProduct(entry, lowering) || !readLibraryOf(entry, lowering) ||
      !readVector(entry, lowering) || !checkWide(entry, lowering))
    return false;
  lowering.location = file.location(entry.place);
  registry.registered.push_back(std::move(lowering));
  return true;
}

bool ConfigurationReader::readOperation(const YamlNode &entry,
                                        Lowering &lowering) {
  const YamlNode *op = requireScalar(entry, "op", "a lowering");
  if (!op)
    return false;
  auto operation = operationFromName(op->text);
  if (!operation)
    operation = libraryFunctionFromName(op->text);
  if (operation) {
    lowering.operation = *operation;
    return true;
  }
  static constexpr StringRef names[] = {
#define NUMERA_OPERATION(enumerator, name, operands, ...) #name,
#define NUMERA_FUNCTION(enumerator, name, operands) name,
#include "numera/Numerics/Core/Operations.def"
#include "numera/Registry/Formats/LibraryFunctions.def"
  };
  return file.fail(op->place, "unknown operation '" + Twine(op->text) + "'" +
                                  expectation(op->text, names));
}

bool ConfigurationReader::readCastType(const YamlNode &value, CastType &type) {
  if (value.isScalar())
    if (auto integer = integerFromName(value.text)) {
      type = *integer;
      return true;
    }
  return readFormatReference(value, type.format);
}

bool ConfigurationReader::readCast(const YamlNode &entry, Lowering &lowering) {
  for (StringRef key : {"format", "operands", "result"})
    if (const YamlNode *extra = entry.find(key))
      return file.fail(extra->keyPlace,
                       "a cast has no '" + key + "', expected from and to");
  const YamlNode *from = requireScalar(entry, "from", "a cast");
  const YamlNode *to = from ? requireScalar(entry, "to", "a cast") : nullptr;
  CastType source, result;
  if (!to || !readCastType(*from, source) || !readCastType(*to, result))
    return false;
  if (!source.format && !result.format)
    return file.fail(to->place, "a cast from '" + Twine(from->text) + "' to '" +
                                    to->text +
                                    "' has no format, expected one side to "
                                    "be a format");
  lowering.operands = {source.format};
  lowering.result = result.format;
  lowering.fromInteger = source.integer;
  lowering.toInteger = result.integer;
  lowering.integerIsSigned = source.isSigned && result.isSigned;
  return true;
}

bool ConfigurationReader::readOperands(const YamlNode &entry,
                                       Lowering &lowering) {
  StringRef name = nameOf(lowering.operation);
  for (StringRef key : {"from", "to"})
    if (const YamlNode *extra = entry.find(key))
      return file.fail(extra->keyPlace, "'" + key +
                                            "' belongs to a cast, expected "
                                            "format for '" +
                                            name + "'");
  const YamlNode *format = entry.find("format");
  if (!format)
    return readMixedOperands(entry, lowering);
  for (StringRef key : {"operands", "result"})
    if (const YamlNode *extra = entry.find(key))
      return file.fail(extra->keyPlace,
                       "'" + key +
                           "' is given beside format, expected "
                           "format, or operands and result");
  if (!readFormatReference(*format, lowering.result))
    return false;
  lowering.operands.assign(operandCount(lowering.operation), lowering.result);
  return true;
}

/// `operands: [f8, f8, f32], result: f32`.
bool ConfigurationReader::readMixedOperands(const YamlNode &entry,
                                            Lowering &lowering) {
  StringRef name = nameOf(lowering.operation);
  const YamlNode *operands = entry.find("operands");
  const YamlNode *result = entry.find("result");
  bool givesNoNumber =
      lowering.operation == OpKind::Cmp || lowering.operation == OpKind::IsNaN;
  if (givesNoNumber && (operands || result))
    return file.fail((operands ? operands : result)->keyPlace,
                     "'" + name +
                         "' has operands of one format, expected "
                         "format");
  if (!operands && !result)
    return file.fail(entry.place, "'format' is missing, a lowering of '" +
                                      name + "' needs it");
  if (!operands || !result)
    return file.fail((operands ? operands : result)->keyPlace,
                     "found " + Twine(operands ? "operands" : "result") +
                         " alone, expected operands and result");
  unsigned count = operandCount(lowering.operation);
  if (!operands->isSequence())
    return file.fail(operands->place, "found " + operands->kindName() +
                                          ", expected a list of formats as in "
                                          "[f32, f32]");
  if (operands->items.size() != count)
    return file.fail(operands->place,
                     "'" + name + "' takes " + Twine(count) +
                         (count == 1 ? " operand" : " operands") + ", found " +
                         Twine(operands->items.size()));
  for (const YamlNode &item : operands->items)
    if (!readFormatReference(item, lowering.operands.emplace_back()))
      return false;
  return readFormatReference(*result, lowering.result);
}

bool ConfigurationReader::readPredicate(const YamlNode &entry,
                                        Lowering &lowering) {
  const YamlNode *predicate = entry.find("predicate");
  if (!predicate)
    return true;
  if (lowering.operation != OpKind::Cmp)
    return file.fail(predicate->keyPlace,
                     "'" + nameOf(lowering.operation) +
                         "' has no predicate, only 'cmp' does");
  if (!expectScalar(*predicate))
    return false;
  if (!llvm::is_contained(keys::predicates, predicate->text))
    return file.fail(predicate->place,
                     "unknown predicate '" + Twine(predicate->text) +
                         "', expected " + listed(keys::predicates));
  lowering.predicate = predicate->text;
  return true;
}

/// The rounding that the function does, where it is not that of the format.
bool ConfigurationReader::readRounding(const YamlNode &entry,
                                       Lowering &lowering) {
  const YamlNode *rounding = entry.find("rounding");
  if (!rounding)
    return true;
  if (!expectScalar(*rounding))
    return false;
  lowering.rounding = roundingFromName(rounding->text);
  if (lowering.rounding)
    return true;
  return file.fail(rounding->place,
                   "unknown rounding '" + Twine(rounding->text) + "'" +
                       expectation(rounding->text, supported(roundingWords())));
}

/// A function is the whole of its operation: what a format changes in it would
/// be lost.
bool ConfigurationReader::checkChanges(const YamlNode &entry,
                                       const Lowering &lowering) {
  auto check = [&](const Format &format, OpKind operation) {
    if (!format || !format.changeOf(operation))
      return true;
    return file.fail(entry.place, "format '" + registry.nameOrSpelling(format) +
                                      "' changes '" + nameOf(operation) +
                                      "', expected that or a function for '" +
                                      nameOf(lowering.operation) + "'");
  };
  if (!check(lowering.result, lowering.operation))
    return false;
  bool isProductOfTensors = isProduct(lowering.operation);
  if (lowering.operation != OpKind::Mac && !isProductOfTensors)
    return true;
  for (OpKind part : {OpKind::Mac, OpKind::Mul, OpKind::Add})
    if (isProductOfTensors && !check(lowering.result, part))
      return false;
  return check(lowering.result, OpKind::Fma) &&
         llvm::all_of(lowering.operands, [&](const Format &operand) {
           return check(operand, OpKind::Mac);
         });
}

bool ConfigurationReader::readTarget(const YamlNode &entry,
                                     Lowering &lowering) {
  const YamlNode *target = entry.find("target");
  if (!target)
    return true;
  if (!expectScalar(*target))
    return false;
  for (Target known : {Target::Any, Target::CPU, Target::NVPTX})
    if (nameOf(known) == target->text) {
      lowering.target = known;
      return true;
    }
  return file.fail(target->place,
                   "unknown target '" + Twine(target->text) + "'" +
                       expectation(target->text, {"cpu", "nvptx", "\"*\""}));
}

/// `call: my_add`.
bool ConfigurationReader::readFunctionName(const YamlNode &mapping,
                                           StringRef what,
                                           std::string &symbol) {
  const YamlNode *call = requireScalar(mapping, "call", what);
  if (!call)
    return false;
  // A C identifier and the name of a format are the same letters.
  if (!isFormatName(call->text))
    return file.fail(call->place, "'" + Twine(call->text) +
                                      "' is not a function, expected the name "
                                      "of a C function");
  if (isReservedName(call->text))
    return file.fail(call->place, reservedNameError(call->text));
  symbol = call->text;
  return true;
}

bool ConfigurationReader::readLibraryOf(const YamlNode &entry,
                                        Lowering &lowering) {
  const YamlNode *name = entry.find("library");
  if (!name)
    return true;
  if (!expectScalar(*name))
    return false;
  const Library *library = registry.findLibrary(name->text);
  if (!library) {
    llvm::SmallVector<StringRef> names;
    for (const Library &known : registry.libs)
      names.push_back(known.name);
    return file.fail(name->place,
                     "unknown library '" + Twine(name->text) + "'" +
                         (names.empty() ? ", define it in the section libraries"
                                        : expectation(name->text, names)));
  }
  if (lowering.target == Target::NVPTX &&
      llvm::all_of(library->paths, isMachineCode))
    return file.fail(name->place,
                     "library '" + Twine(name->text) + "' is a " +
                         llvm::sys::path::extension(library->paths.front()) +
                         " of the host, expected .c, .cc, .cpp, "
                         ".bc or .ll for the target nvptx");
  lowering.library = name->text;
  return true;
}

/// `vector: {call: my_add_16, lanes: 16}`.
bool ConfigurationReader::readVector(const YamlNode &entry,
                                     Lowering &lowering) {
  const YamlNode *vector = entry.find("vector");
  if (!vector)
    return true;
  if (!checkKeys(*vector, "a vector variant", keys::vector))
    return false;
  if (lowering.target == Target::NVPTX)
    return file.fail(vector->keyPlace,
                     "a vector variant is for the target cpu, found nvptx");
  lowering.vector.emplace();
  return readFunctionName(*vector, "a vector variant",
                          lowering.vector->symbol) &&
         readLanes(*vector, lowering);
}

/// The bits of what a lowering's function takes and returns.
static llvm::SmallVector<unsigned> bitsOfSignature(const Lowering &lowering) {
  auto bitsOf = [](const Format &format, unsigned integer) {
    return format ? format.storageBits() : integer;
  };
  bool isTest =
      lowering.operation == OpKind::Cmp || lowering.operation == OpKind::IsNaN;
  llvm::SmallVector<unsigned> bits = {
      isTest ? 8 : bitsOf(lowering.result, lowering.toInteger)};
  for (const Format &operand : lowering.operands)
    bits.push_back(bitsOf(operand, lowering.fromInteger));
  if (lowering.getRoundingMode() == Rounding::Stochastic)
    bits.push_back(32);
  return bits;
}

/// Vectors of other sizes travel in other ways, each compiler its own.
bool ConfigurationReader::readLanes(const YamlNode &vector,
                                    Lowering &lowering) {
  const YamlNode *lanes = vector.find("lanes");
  if (!lanes)
    return true;
  if (!expectScalar(*lanes))
    return false;
  unsigned &count = lowering.vector->lanes;
  static constexpr unsigned counts[] = {2, 4, 8, 16, 32, 64};
  if (StringRef(lanes->text).getAsInteger(10, count) ||
      !llvm::is_contained(counts, count))
    return file.fail(lanes->place, "lanes is '" + Twine(lanes->text) +
                                       "', expected 2, 4, 8, 16, 32 or 64");
  for (unsigned bits : bitsOfSignature(lowering))
    if (!llvm::is_contained({64u, 128u, 256u, 512u}, count * bits))
      return file.fail(lanes->place,
                       Twine(count) + " lanes of " + Twine(bits) +
                           " bits are " + Twine(count * bits) +
                           ", expected 64, 128, 256 or 512; or no lanes, for "
                           "a function on arrays");
  return true;
}
