// SPDX-License-Identifier: MIT
//
// The sections `formats` and `policy`.

#include "ConfigurationReader.h"
#include "llvm/ADT/STLExtras.h"

using namespace numera;
using llvm::StringRef;
using llvm::Twine;

bool ConfigurationReader::read(const YamlNode &root) {
  if (root.isNothing())
    return true;
  if (!checkKeys(root, "a configuration", keys::configuration))
    return false;
  if (const YamlNode *value = root.find("fallback"))
    if (!readFallback(*value, fallback))
      return false;
  using Section = bool (ConfigurationReader::*)(const YamlNode &);
  constexpr std::pair<llvm::StringLiteral, Section> sections[] = {
      {"formats", &ConfigurationReader::readFormats},
      {"libraries", &ConfigurationReader::readLibraries},
      {"lowerings", &ConfigurationReader::readLowerings},
      {"policy", &ConfigurationReader::readPolicy}};
  for (auto [key, readSection] : sections) {
    const YamlNode *section = root.find(key);
    if (section && !section->isNothing() && !(this->*readSection)(*section))
      return false;
  }
  // Their functions are those of libraries.
  const YamlNode *formats = root.find("formats");
  return !formats || readPartsOfFormats(*formats);
}

//===----------------------------------------------------------------------===//
// What every section needs
//===----------------------------------------------------------------------===//

/// What the mappings that begin a user's first file look like.
static StringRef exampleOf(StringRef what) {
  return what.starts_with("format '")
             ? ", as in {family: float, exponent: 5, mantissa: 7}"
         : what == "'policy'" ? ", as in {default: posit16}"
                              : "";
}

bool ConfigurationReader::expectMapping(const YamlNode &node, StringRef what) {
  if (node.isMapping())
    return true;
  // In a mapping of one line, a scalar is all that there is.
  auto [key, value] = StringRef(node.text).split(':');
  if (node.isScalar() && !value.empty() && !key.contains(' '))
    return failWithoutSpace(node.text, node.place);
  return file.fail(node.isNothing() && node.keyPlace.isValid() ? node.keyPlace
                                                               : node.place,
                   "found " + node.kindName() + ", " + what + " is a mapping" +
                       exampleOf(what));
}

bool ConfigurationReader::failWithoutSpace(StringRef text, llvm::SMLoc place) {
  return file.fail(place, "found '" + text +
                              "', a colon has a space behind it, as in "
                              "'family: float'");
}

bool ConfigurationReader::expectScalar(const YamlNode &node) {
  return node.isScalar() ||
         file.fail(node.isNothing() ? node.keyPlace : node.place,
                   "'" + Twine(node.key) + "' holds " + node.kindName() +
                       ", expected a word or a number");
}

bool ConfigurationReader::checkQuotes(const YamlNode &item) {
  if (item.isNothing() && StringRef(item.key).contains(':'))
    return failWithoutSpace(item.key, item.keyPlace);
  return !StringRef(item.key).ends_with(">") || !item.isNothing() ||
         file.fail(item.keyPlace,
                   "found '" + Twine(item.key) +
                       "', a spelling with commas needs quotes, as in "
                       "'posit<16,2>'");
}

bool ConfigurationReader::checkKeys(const YamlNode &node, StringRef what,
                                    Names known) {
  if (!expectMapping(node, what))
    return false;
  for (const YamlNode &item : node.items) {
    StringRef key = item.key;
    if (!checkQuotes(item))
      return false;
    if (!llvm::is_contained(known, key))
      return file.fail(item.keyPlace, "unknown key '" + key + "' of " + what +
                                          expectation(key, known));
    if (node.find(key) != &item)
      return file.fail(item.keyPlace,
                       "'" + key + "' is given twice, give it once");
  }
  return true;
}

const YamlNode *ConfigurationReader::requireScalar(const YamlNode &mapping,
                                                   StringRef key,
                                                   StringRef what) {
  const YamlNode *value = mapping.find(key);
  if (!value) {
    for (const YamlNode &item : mapping.items)
      if (!checkQuotes(item))
        return nullptr;
    file.fail(mapping.keyPlace.isValid() ? mapping.keyPlace : mapping.place,
              "'" + key + "' is missing, " + what + " needs it");
    return nullptr;
  }
  return expectScalar(*value) ? value : nullptr;
}

bool ConfigurationReader::readFormatReference(const YamlNode &value,
                                              Format &format) {
  StringRef text = value.text;
  if (!value.isScalar())
    return file.fail(value.isNothing() ? value.keyPlace : value.place,
                     "found " + value.kindName() +
                         ", expected the name or the spelling of a format");
  if (text.contains('<') && registry.byName.count(text) == 0) {
    SpellingError fault;
    format = parseFormatSpelling(text, fault);
    if (format)
      return true;
    const char *begin = value.place.getPointer();
    size_t quote = *begin == '"' || *begin == '\'' ? 1 : 0;
    if (fault.column >= text.size() && quote == 0)
      fault.message += "; a spelling with commas needs quotes";
    return file.fail(llvm::SMLoc::getFromPointer(begin + quote + fault.column),
                     fault.message);
  }
  std::string error;
  format = registry.lookupFormat(text, error);
  return format || file.fail(value.place, error);
}

//===----------------------------------------------------------------------===//
// formats
//===----------------------------------------------------------------------===//

bool ConfigurationReader::readFormats(const YamlNode &section) {
  if (!expectMapping(section, "'formats'"))
    return false;
  for (const YamlNode &entry : section.items)
    if (isScaledFamily(entry))
      scaledNames.push_back(entry.key);
  // The elements and scales of scaled formats may stand after them.
  for (bool isScaled : {false, true})
    for (const YamlNode &entry : section.items)
      if (isScaledFamily(entry) == isScaled && !readFormat(entry))
        return false;
  return true;
}

/// Words that mean something else where a format may stand.
static bool isReserved(StringRef name) {
  return findFamily(name) ||
         llvm::is_contained({"same", "quire", "tensorcore", "block", "scaled"},
                            name) ||
         integerFromName(name) ||
         llvm::any_of(allFamilies(), [&](const FormatFamily *family) {
           return family->isRuledName(name);
         });
}

bool ConfigurationReader::checkNewName(const YamlNode &entry) {
  StringRef name = entry.key;
  if (!isFormatName(name))
    return file.fail(entry.keyPlace,
                     "'" + name +
                         "' is not a valid format name, expected "
                         "letters, digits and '_', no digit first");
  if (isReserved(name))
    return file.fail(entry.keyPlace,
                     "'" + name +
                         "' has a meaning of its own, choose another "
                         "name");
  auto isFree = [&](const auto &other) {
    if (other.name != name)
      return true;
    return file.fail(entry.keyPlace,
                     "format '" + name + "' is " +
                         (other.isBuiltin
                              ? "built in"
                              : "already defined at " + other.location) +
                         ", choose another name");
  };
  return llvm::all_of(registry.named, isFree) &&
         llvm::all_of(registry.scaled, isFree);
}

const FormatFamily *ConfigurationReader::readFamily(const YamlNode &entry) {
  std::string what = "format '" + entry.key + "'";
  const YamlNode *value = requireScalar(entry, "family", what);
  if (!value)
    return nullptr;
  StringRef name = value->text;
  if (const FormatFamily *family = findFamily(name))
    return family;
  llvm::SmallVector<StringRef> names;
  for (const FormatFamily *family : allFamilies())
    names.push_back(family->name());
  names.append({"block", "scaled"});
  file.fail(value->place,
            "unknown family '" + name + "'" + expectation(name, names));
  return nullptr;
}

/// `operations: {mul: {truncate-operands: 3}}` is the parameter
/// `mul.truncate-operands`, which the families read.
bool ConfigurationReader::readChanges(const YamlNode &section,
                                      std::vector<Parameter> &parameters,
                                      std::vector<const YamlNode *> &nodes) {
  llvm::SmallVector<StringRef> names;
#define NUMERA_OPERATION(enumerator, name, operands, ...)                      \
  names.push_back(#name);
#include "numera/Numerics/Core/Operations.def"
  llvm::erase(names, "cmp");
  llvm::erase(names, "isnan");
  if (!checkKeys(section, "'operations'", names))
    return false;
  for (const YamlNode &operation : section.items) {
    if (!checkKeys(operation, "a change of an operation", keys::change))
      return false;
    for (const YamlNode &item : operation.items) {
      parameters.push_back({operation.key + "." + item.key, item.text});
      nodes.push_back(&item);
    }
  }
  return true;
}

bool ConfigurationReader::readFormat(const YamlNode &entry) {
  if (!checkNewName(entry) ||
      !expectMapping(entry, "format '" + entry.key + "'"))
    return false;
  if (isScaledFamily(entry))
    return readScaled(entry);
  const FormatFamily *family = readFamily(entry);
  if (!family)
    return false;
  std::vector<Parameter> parameters;
  std::vector<const YamlNode *> nodes;
  for (const YamlNode &item : entry.items) {
    if (item.key == "family" && entry.find("family") == &item)
      continue;
    if (!checkQuotes(item))
      return false;
    if (!family->hasArithmetic() && item.key != "bits") {
      if (!llvm::is_contained(keys::opaque, item.key))
        return file.fail(item.keyPlace,
                         "unknown key '" + Twine(item.key) +
                             "' of family 'opaque'" +
                             expectation(item.key, keys::opaque));
      if (entry.find(item.key) != &item)
        return file.fail(item.keyPlace, "'" + Twine(item.key) +
                                            "' is given twice, give it once");
      continue;
    }
    if (item.key == "operations" && family->hasArithmetic()) {
      if (entry.find("operations") != &item)
        return file.fail(item.keyPlace,
                         "'operations' is given twice, give it once");
      if (!readChanges(item, parameters, nodes))
        return false;
      continue;
    }
    parameters.push_back({item.key, item.text});
    nodes.push_back(&item);
  }
  ParameterError fault;
  Format format = family->create(parameters, entry.key, fault);
  // A mapping or a list has no text: say that rather than what follows.
  if (!format && fault.index >= 0 && !fault.atKey &&
      !expectScalar(*nodes[fault.index]))
    return false;
  if (!format && fault.index >= 0)
    return file.fail(fault.atKey ? nodes[fault.index]->keyPlace
                                 : nodes[fault.index]->place,
                     fault.message);
  if (!format)
    return file.fail(entry.keyPlace, fault.message);
  RegistryEntries::NamedFormat named{entry.key, format, isBuiltin,
                                     file.location(entry.keyPlace)};
  if (!family->hasArithmetic() && !readOpaque(entry, named))
    return false;
  registry.byName[entry.key] = registry.named.size();
  registry.named.push_back(std::move(named));
  return true;
}

//===----------------------------------------------------------------------===//
// policy
//===----------------------------------------------------------------------===//

bool ConfigurationReader::readAccumulate(const YamlNode &value,
                                         Policy::Accumulate &accumulate,
                                         Format &accumulator) {
  using Accumulate = Policy::Accumulate;
  if (value.isScalar())
    accumulate = Policy::accumulateFromName(value.text);
  if (value.isScalar() && accumulate != Accumulate::Default) {
    accumulator = {};
    return true;
  }
  for (const RegistryEntries::NamedFormat &named : registry.named)
    if (value.isScalar() && !value.text.empty() &&
        named.accumulatorName == value.text) {
      accumulate = Accumulate::Quire;
      accumulator = named.format;
      return true;
    }
  accumulate = Accumulate::Named;
  if (!value.isScalar() || !isIntegerElement(value.text))
    return readFormatReference(value, accumulator);
  std::string error;
  accumulator = registry.lookupElement(value.text, error);
  return accumulator || file.fail(value.place, error);
}
