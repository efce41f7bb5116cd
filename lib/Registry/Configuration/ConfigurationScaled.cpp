// SPDX-License-Identifier: MIT
//
// Scaled formats of the section `formats`, and the roles of `policy` that may
// have one.

#include "ConfigurationReader.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace numera;
using llvm::StringRef;
using llvm::Twine;

bool ConfigurationReader::isScaledFamily(const YamlNode &entry) {
  const YamlNode *family = entry.find("family");
  return family && family->isScalar() &&
         llvm::is_contained({"block", "scaled"}, family->text);
}

bool ConfigurationReader::readPartOfScaled(
    const YamlNode &entry, StringRef key,
    Format (*lookup)(FormatLookup, StringRef, std::string &), Format &format) {
  const YamlNode *value = entry.find(key);
  if (!value)
    return true;
  if (!expectScalar(*value))
    return false;
  std::string error;
  format = lookup(
      [&](StringRef name, std::string &fault) {
        return registry.lookupFormat(name, fault);
      },
      value->text, error);
  if (format)
    return true;
  if (llvm::is_contained(scaledNames, value->text) ||
      llvm::any_of(registry.scaled, [&](const auto &scaled) {
        return scaled.name == value->text;
      }))
    return file.fail(value->place, "'" + Twine(value->text) +
                                       "' is a scaled format itself, expected "
                                       "one of numbers");
  return file.fail(value->place, error);
}

bool ConfigurationReader::readPositive(const YamlNode &value, StringRef key,
                                       float &number) {
  double parsed = 0;
  if (StringRef(value.text).getAsDouble(parsed) || !(float(parsed) > 0) ||
      !std::isfinite(float(parsed)))
    return file.fail(value.place, key + " is '" + Twine(value.text) +
                                      "', expected a number above 0");
  number = float(parsed);
  return true;
}

/// `packed`, or `plain`: a code in the smallest integer that holds it.
bool ConfigurationReader::readStorage(const YamlNode &value, bool &isPacked) {
  if (!expectScalar(value))
    return false;
  if (value.text != "packed" && value.text != "plain")
    return file.fail(value.place, "storage is '" + Twine(value.text) +
                                      "', expected packed or plain");
  isPacked = value.text == "packed";
  return true;
}

bool ConfigurationReader::readScaled(const YamlNode &entry) {
  bool isBlock = entry.find("family")->text == "block";
  std::string what = "format '" + entry.key + "'";
  bool hasKnownKeys =
      isBlock ? checkKeys(entry, "a format of family 'block'", keys::block)
              : checkKeys(entry, "a format of family 'scaled'", keys::scaled);
  if (!hasKnownKeys || !requireScalar(entry, "element", what) ||
      (isBlock && !requireScalar(entry, "size", what)))
    return false;
  ScaledFormat format;
  Format scale = isBlock ? powersOfTwo() : formatF32();
  if (!readPartOfScaled(entry, "element", lookupElement, format.element) ||
      !readPartOfScaled(entry, "scale", lookupScale, scale))
    return false;
  format.scaling = defaultScaling(isBlock, scale);
  if (const YamlNode *size = entry.find("size"))
    if (StringRef(size->text).getAsInteger(10, format.scaling.block) ||
        format.scaling.block < 2)
      return file.fail(size->place, "size is '" + Twine(size->text) +
                                        "', expected the elements of a block, "
                                        "2 or more");
  if (const YamlNode *rule = entry.find("rule")) {
    auto known = scaleRuleFromName(rule->text);
    if (!expectScalar(*rule))
      return false;
    if (!known)
      return file.fail(rule->place,
                       "unknown rule '" + Twine(rule->text) + "'" +
                           expectation(rule->text, scaleRuleNames()));
    format.scaling.rule = *known;
  }
  if (const YamlNode *both = entry.find("tensor-scale")) {
    if (both->text != "true" && both->text != "false")
      return file.fail(both->place, "tensor-scale is '" + Twine(both->text) +
                                        "', expected true or false");
    format.scaling.hasTensorScale = both->text == "true";
  }
  if (const YamlNode *storage = entry.find("storage"))
    if (!readStorage(*storage, format.scaling.isPacked))
      return false;
  if (const YamlNode *full = entry.find("full-scale"))
    if (!readPositive(*full, "full-scale", format.scaling.fullScale))
      return false;
  std::string fault = checkScaledFormat(format);
  if (!fault.empty())
    return file.fail(entry.keyPlace, fault);
  registry.scaled.push_back(
      {entry.key, format, isBuiltin, file.location(entry.keyPlace)});
  return true;
}

//===----------------------------------------------------------------------===//
// policy
//===----------------------------------------------------------------------===//

bool ConfigurationReader::readRoleFormat(const YamlNode &value, Role &role) {
  if (value.isScalar()) {
    std::string error;
    role.scaled = registry.lookupScaledFormat(value.text, error);
    if (!error.empty())
      return file.fail(value.place, error);
    if (role.scaled)
      return true;
    if (isIntegerElement(value.text)) {
      role.format = registry.lookupElement(value.text, error);
      return true;
    }
  }
  return readFormatReference(value, role.format);
}

/// `block(32)`: the elements of a block; 0 for any other word.
static int32_t blockOf(StringRef text) {
  int32_t size = 0;
  if (!text.consume_front("block(") || !text.consume_back(")") ||
      text.getAsInteger(10, size) || size < 2)
    return 0;
  return size;
}

bool ConfigurationReader::readScale(const YamlNode &value, const Format &scale,
                                    Role &role) {
  if (!expectScalar(value))
    return false;
  StringRef text = value.text;
  int32_t block = blockOf(text);
  bool isPerTensor = text == "per-tensor", isPerChannel = text == "per-channel";
  if (text == "none")
    return true;
  if (!block && !isPerTensor && !isPerChannel)
    return file.fail(value.place,
                     "scale is '" + text +
                         "', expected none, per-tensor, per-channel or "
                         "block(N) with N elements, 2 or more");
  Format element =
      role.format ? role.format : registry.filePolicy.defaultFormat;
  if (role.scaled || !element)
    return file.fail(value.place,
                     role.scaled
                         ? "'" + Twine(value.key) +
                               "' has a scaled format already, expected "
                               "scale none"
                         : "'scale: " + text +
                               "' needs a format to scale, expected "
                               "'default'");
  scalesDefault |= !role.format;
  role.scaled.element = element;
  bool isBlock = block != 0;
  Format own = scale ? scale : isBlock ? powersOfTwo() : formatF32();
  role.scaled.scaling = defaultScaling(isBlock, own);
  role.scaled.scaling.block = block;
  if (role.scaled.scaling.rule == ScaleRule::Range)
    role.scaled.scaling.rule = ScaleRule::Absmax;
  role.isPerChannel = isPerChannel;
  role.format = {};
  std::string fault = checkScaledFormat(role.scaled);
  return fault.empty() || file.fail(value.place, fault);
}

bool ConfigurationReader::readOfRoles(
    const YamlNode &node,
    llvm::function_ref<bool(const YamlNode &, StringRef, Role &)> readOne) {
  Policy &policy = registry.filePolicy;
  Role *roles[] = {&policy.weights, &policy.activations, &policy.outputs};
  if (node.isMapping() && !checkKeys(node, "'" + node.key + "'", keys::roles))
    return false;
  for (auto [name, role] : llvm::zip_equal(keys::roles, roles)) {
    const YamlNode *value = node.isMapping() ? node.find(name) : &node;
    if (value && !(expectScalar(*value) && readOne(*value, name, *role)))
      return false;
  }
  return true;
}

bool ConfigurationReader::readRoleStorage(const YamlNode &storage) {
  return readOfRoles(
      storage, [&](const YamlNode &value, StringRef, Role &role) {
        return readStorage(value, role.scaled ? role.scaled.scaling.isPacked
                                              : role.isPacked);
      });
}

/// Nothing for what is no axis.
static std::optional<BlockAxis> blockAxisOf(StringRef text) {
  BlockAxis axis{BlockAxis::Kind::Number};
  if (text == "summed")
    return BlockAxis{BlockAxis::Kind::Summed};
  if (text == "channel")
    return BlockAxis{BlockAxis::Kind::Channel};
  if (text == "last")
    axis.number = -1;
  else if (text != "first" && text.getAsInteger(10, axis.number))
    return std::nullopt;
  return axis;
}

bool ConfigurationReader::readRoleAxis(const YamlNode &node) {
  const Policy &policy = registry.filePolicy;
  bool isOfAny = false;
  auto readOne = [&](const YamlNode &value, StringRef name, Role &role) {
    auto axis = blockAxisOf(value.text);
    if (!axis)
      return file.fail(value.place, "axis is '" + Twine(value.text) +
                                        "', expected summed, channel, first, "
                                        "last or a number");
    bool isOutput = &role == &policy.outputs;
    bool hasDefault = !role.scaled && !role.format && !isOutput;
    bool hasBlocks =
        hasDefault ? policy.defaultScaled.isBlock() : role.scaled.isBlock();
    if (!hasBlocks && node.isMapping())
      return file.fail(value.place, "axis of '" + name +
                                        "', which has no blocks; expected a "
                                        "block format or scale block(N)");
    if (hasBlocks && isOutput && axis->kind == BlockAxis::Kind::Summed)
      return file.fail(value.place,
                       "axis of 'outputs' is 'summed', which results do not "
                       "have; expected channel, first, last or a number");
    role.blockAxis = *axis;
    isOfAny |= hasBlocks;
    return true;
  };
  if (!readOfRoles(node, readOne))
    return false;
  return isOfAny || file.fail(node.place, "axis of a policy without blocks; "
                                          "expected a block format or scale "
                                          "block(N)");
}

bool ConfigurationReader::readRoles(const YamlNode &section) {
  Policy &policy = registry.filePolicy;
  Role *roles[] = {&policy.weights, &policy.activations, &policy.outputs};
  for (auto [name, role] : llvm::zip_equal(keys::roles, roles))
    if (const YamlNode *value = section.find(name))
      if (!readRoleFormat(*value, *role))
        return false;
  Format scale;
  if (!readPartOfScaled(section, "scale-format", lookupScale, scale))
    return false;
  const YamlNode *scales = section.find("scale");
  if (scales && !scales->isMapping()) {
    // Operands; what a contraction gives stays as it is.
    if (!readScale(*scales, scale, policy.weights) ||
        !readScale(*scales, scale, policy.activations))
      return false;
  } else if (scales) {
    if (!checkKeys(*scales, "'scale'", keys::roles))
      return false;
    for (auto [name, role] : llvm::zip_equal(keys::roles, roles))
      if (const YamlNode *value = scales->find(name))
        if (!readScale(*value, scale, *role))
          return false;
  }
  if (const YamlNode *storage = section.find("storage"))
    if (!readRoleStorage(*storage))
      return false;
  if (const YamlNode *axis = section.find("axis"))
    if (!readRoleAxis(*axis))
      return false;
  // Scaled are the tensors; the numbers between are those of f32.
  if (scalesDefault)
    policy.defaultFormat = {};
  return true;
}

bool ConfigurationReader::readScales(const YamlNode &section) {
  if (!expectMapping(section, "'scales'"))
    return false;
  for (const YamlNode &entry : section.items) {
    std::vector<float> &scales = registry.filePolicy.scales[entry.key];
    auto readOne = [&](const YamlNode &value) {
      return readPositive(value, "a scale", scales.emplace_back());
    };
    if (!readEach(section, entry.key, readOne))
      return false;
  }
  return true;
}

bool ConfigurationReader::readZeroPoints(const YamlNode &section) {
  if (!expectMapping(section, "'zero-points'"))
    return false;
  for (const YamlNode &entry : section.items) {
    auto scales = registry.filePolicy.scales.find(entry.key);
    size_t wanted =
        scales == registry.filePolicy.scales.end() ? 0 : scales->second.size();
    std::vector<float> &zeros = registry.filePolicy.zeroPoints[entry.key];
    auto readOne = [&](const YamlNode &value) {
      int32_t zero = 0;
      if (!expectScalar(value) ||
          StringRef(value.text).getAsInteger(10, zero) ||
          std::abs(zero) > 65535)
        return file.fail(value.place, "a zero point is '" + value.text +
                                          "', expected an integer of up to 16 "
                                          "bits");
      zeros.push_back(static_cast<float>(zero));
      return true;
    };
    if (!readEach(section, entry.key, readOne))
      return false;
    if (zeros.size() != wanted)
      return file.fail(entry.place, "'" + entry.key + "' has " +
                                        Twine(zeros.size()) +
                                        " zero points and " + Twine(wanted) +
                                        " in 'scales', expected as many");
  }
  return true;
}

/// `replace: [f32, f64]`, or one of them.
bool ConfigurationReader::readReplaced(const YamlNode &value) {
  std::vector<Format> &replaced = registry.filePolicy.replaced;
  replaced.clear();
  auto readOne = [&](const YamlNode &item) {
    std::string error;
    if (!expectScalar(item))
      return false;
    Format format = registry.lookupFloatType(item.text, error);
    if (format)
      replaced.push_back(format);
    return format || file.fail(item.place, error);
  };
  if (!value.isSequence())
    return readOne(value);
  return llvm::all_of(value.items, readOne) &&
         (!replaced.empty() ||
          file.fail(value.place, "'replace' is empty, expected f32 or other "
                                 "float types"));
}

bool ConfigurationReader::readPolicy(const YamlNode &section) {
  if (!checkKeys(section, "'policy'", keys::policy))
    return false;
  Policy &policy = registry.filePolicy;
  if (const YamlNode *value = section.find("default")) {
    Role role;
    if (!readRoleFormat(*value, role))
      return false;
    policy.defaultFormat = role.format;
    policy.defaultScaled = role.scaled;
  }
  if (const YamlNode *value = section.find("accumulate"))
    if (!readAccumulate(*value, policy.accumulate, policy.accumulator))
      return false;
  if (const YamlNode *value = section.find("replace"))
    if (!readReplaced(*value))
      return false;
  if (const YamlNode *scales = section.find("scales"))
    if (!readScales(*scales))
      return false;
  if (const YamlNode *zeros = section.find("zero-points"))
    if (!readZeroPoints(*zeros))
      return false;
  if (const YamlNode *rules = section.find("rules"))
    if (!readRules(*rules))
      return false;
  if (!readRoles(section))
    return false;
  // Without a format here, the command may name one that is scaled.
  auto isScaled = [](const auto &of) {
    return of.weights.scaled || of.activations.scaled || of.outputs.scaled;
  };
  auto isScaledRule = [&](const Policy::Rule &rule) {
    return rule.scaled || isScaled(rule);
  };
  const YamlNode *scales = section.find("scales");
  if (scales && policy.defaultFormat && !policy.defaultScaled &&
      !isScaled(policy) && !llvm::any_of(policy.rules, isScaledRule))
    return file.fail(scales->place,
                     "scales for a policy that scales nothing; add 'scale', "
                     "as in 'scale: per-tensor', or leave them out");
  return true;
}
