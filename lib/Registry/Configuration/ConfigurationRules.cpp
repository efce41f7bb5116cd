// SPDX-License-Identifier: MIT
//
// The list `rules` of the section `policy`.

#include "ConfigurationReader.h"
#include "llvm/ADT/STLExtras.h"

using namespace numera;
using llvm::StringRef;
using llvm::Twine;

bool ConfigurationReader::readPattern(const YamlNode &value,
                                      std::string &pattern) {
  if (!expectScalar(value))
    return false;
  pattern = value.text;
  return !pattern.empty() ||
         file.fail(value.place, "'" + Twine(value.key) +
                                    "' is empty, expected a name, in which * "
                                    "stands for any characters and ? for one");
}

/// A name, or a mapping with one, the operator, or both.
bool ConfigurationReader::readMatch(const YamlNode &value, Policy::Rule &rule) {
  if (!value.isMapping() && !value.isScalar())
    return file.fail(value.isNothing() ? value.keyPlace : value.place,
                     "'match' holds " + value.kindName() +
                         ", expected a name or a mapping with op or name");
  if (value.isScalar())
    return readPattern(value, rule.name);
  if (!checkKeys(value, "'match'", keys::match))
    return false;
  if (value.items.empty())
    return file.fail(value.place, "'match' is empty, expected op or name");
  const YamlNode *name = value.find("name"), *operation = value.find("op");
  return (!name || readPattern(*name, rule.name)) &&
         (!operation || readPattern(*operation, rule.operation));
}

bool ConfigurationReader::readRule(const YamlNode &entry) {
  if (!checkKeys(entry, "a rule", keys::rule))
    return false;
  Policy::Rule rule;
  rule.location = file.location(entry.place);
  const YamlNode *match = entry.find("match");
  if (!match)
    return file.fail(entry.place, "'match' is missing, a rule needs it");
  if (!readMatch(*match, rule))
    return false;
  if (entry.items.size() == 1)
    return file.fail(entry.place,
                     "the rule changes nothing, expected format, accumulate, "
                     "weights, activations or outputs beside 'match'");
  Role numbers;
  for (auto [key, role] : {std::pair<StringRef, Role *>{"format", &numbers},
                           {"weights", &rule.weights},
                           {"activations", &rule.activations},
                           {"outputs", &rule.outputs}})
    if (const YamlNode *value = entry.find(key))
      if (!readRoleFormat(*value, *role))
        return false;
  rule.format = numbers.format;
  rule.scaled = numbers.scaled;
  if (const YamlNode *value = entry.find("accumulate"))
    if (!readAccumulate(*value, rule.accumulate, rule.accumulator))
      return false;
  registry.filePolicy.rules.push_back(std::move(rule));
  return true;
}

bool ConfigurationReader::readRules(const YamlNode &section) {
  if (!section.isSequence())
    return file.fail(section.isNothing() ? section.keyPlace : section.place,
                     "found " + section.kindName() +
                         ", 'rules' is a list: begin each with '- '");
  registry.filePolicy.rules.clear();
  return llvm::all_of(section.items,
                      [&](const YamlNode &entry) { return readRule(entry); });
}
