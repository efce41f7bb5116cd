// SPDX-License-Identifier: MIT
//
// The JSON Schema of configurations. Keys are those of Keys.h and of the
// families, words those of Words.h and of Operations.def.

#include "numera/Registry/Configuration/Schema.h"

#include "Descriptions.h"
#include "Keys.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Formats/ParameterReader.h"
#include "numera/Registry/Formats/Words.h"
#include "numera/Registry/Scaling/Scaling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace numera;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

// ---- Values

static Value ofType(StringRef type) { return Object{{"type", type}}; }
static Value text() { return ofType("string"); }
static Value number() { return ofType("number"); }

static Value integer(int64_t least) {
  return Object{{"type", "integer"}, {"minimum", least}};
}
static Value integer(int64_t least, int64_t most) {
  return Object{{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}

/// One of some words. Readers of YAML take `on`, `off`, `true` and `false` for
/// truths.
static Value word(ArrayRef<StringRef> words) {
  Array values;
  bool isTruth = false;
  for (StringRef each : words) {
    values.push_back(each);
    isTruth |= llvm::is_contained({"on", "off", "true", "false"}, each);
  }
  if (isTruth) {
    values.push_back(true);
    values.push_back(false);
  }
  return Object{{"enum", std::move(values)}};
}

static Value oneOf(std::initializer_list<Value> values) {
  return Object{{"anyOf", Array(values)}};
}

static Value listOf(Value value) {
  return Object{{"type", "array"}, {"items", std::move(value)}};
}
static Value oneOrMore(Value value) {
  Value copy = value;
  return oneOf({std::move(copy), listOf(std::move(value))});
}
static Value mapOf(Value value) {
  return Object{{"type", "object"}, {"additionalProperties", std::move(value)}};
}
static Value reference(StringRef name) {
  return Object{{"$ref", ("#/$defs/" + name).str()}};
}

/// The name or the spelling of a format, or an integer type.
static Value format() { return reference("format"); }

static SmallVector<StringRef> operationNames(bool withFunctions) {
  SmallVector<StringRef> names;
#define NUMERA_OPERATION(enumerator, name, operands, ...)                      \
  names.push_back(#name);
#include "numera/Numerics/Core/Operations.def"
  if (!withFunctions)
    return names;
#define NUMERA_FUNCTION(enumerator, name, operands) names.push_back(name);
#include "numera/Registry/Formats/LibraryFunctions.def"
  return names;
}

namespace {
/// A family shows its keys to families alone, and to this list of them.
struct KeysOfFamily : FormatFamily {
  static SmallVector<StringRef> of(const FormatFamily &family) {
    SmallVector<StringRef> known = (family.*&KeysOfFamily::keys)();
    if (family.hasArithmetic())
      known.append({"rounding", "random-bits"});
    return known;
  }
  static ParameterReader::Asked askedBy(const FormatFamily &family) {
    ParameterReader::Asked asked;
    ParameterReader reader(family, asked);
    SmallVector<int32_t> parameters;
    (void)(family.*&KeysOfFamily::read)(reader, parameters);
    return asked;
  }
};
} // namespace

static constexpr int64_t mostRandomBits = 32;

// ---- Mappings

using Values = std::vector<std::pair<StringRef, Value>>;

/// With what a key of a mapping means.
static Value described(StringRef name, StringRef key, Value value) {
  StringRef text = descriptionOf(name, key);
  if (Object *object = value.getAsObject(); object && !text.empty())
    (*object)["description"] = text;
  return value;
}

/// A mapping of the keys that the reader takes. A key without a value here may
/// have any. `name` finds their descriptions.
static Value mapping(StringRef name, ArrayRef<StringRef> known,
                     const Values &values, ArrayRef<StringRef> required = {}) {
  Object properties;
  for (StringRef key : known) {
    const auto *found = llvm::find_if(
        ArrayRef(values), [&](auto &each) { return each.first == key; });
    properties[key] = described(
        name, key,
        found == ArrayRef(values).end() ? Value(Object{}) : found->second);
  }
  Object result{{"type", "object"},
                {"properties", std::move(properties)},
                {"additionalProperties", false}};
  if (!required.empty())
    result["required"] = Array(required);
  return result;
}

/// One for all roles, or one for each.
static Value ofRoles(Value value) {
  Values each;
  for (StringRef role : keys::roles)
    each.push_back({role, value});
  return oneOf({value, mapping("", keys::roles, each)});
}

/// A reference: there is one for each operation of each family.
static Value changes() {
  Object properties;
  for (StringRef name : operationNames(/*withFunctions=*/false))
    if (name != "cmp" && name != "isnan")
      properties[name] = reference("change");
  return Object{{"type", "object"},
                {"properties", std::move(properties)},
                {"additionalProperties", false}};
}

/// Of one operation.
static Value change() {
  Value made = mapping("", keys::change,
                       {{"rounding", word(supported(roundingWords()))},
                        {"random-bits", integer(1, mostRandomBits)},
                        {"overflow", word(supported(overflowWords()))},
                        {"truncate-operands", integer(0)}});
  (*made.getAsObject())["description"] = "what the operation does otherwise";
  return made;
}

static Value ofParameter(const FormatFamily &family, StringRef key,
                         const ParameterReader::Asked &asked) {
  if (key == "rounding")
    return word(supported(roundingWords()));
  if (key == "overflow")
    return word(supported(overflowWords()));
  if (key == "subnormals")
    return word({"on", "flush"});
  if (key == "signed")
    return word({"true", "false", "unsigned"});
  if (key == "infinities")
    return word({"true", "false"});
  if (key == "random-bits")
    return integer(1, mostRandomBits);
  for (const ParameterReader::Asked::Integer &each : asked.integers)
    if (each.key == key)
      return integer(each.least, each.most);
  SmallVector<StringRef> words;
  for (StringRef each : family.words())
    if (family.keyOfWord(each) == key)
      words.push_back(each);
  // What a plugin's keys are is known to the plugin.
  return words.empty() ? Value(Object{{"type", Array{"integer", "string"}}})
                       : word(words);
}

static Value ofOpaque() {
  constexpr int64_t mostOpaqueBits = 256;
  Value function = oneOf({text(), integer(0)});
  Values identities = {{"library", text()}};
  for (StringRef key : keys::identities)
    if (key != "library")
      identities.push_back({key, function});
  Values accumulator = {{"storage", integer(1)}};
  for (StringRef key : keys::accumulator)
    if (key != "storage")
      accumulator.push_back({key, text()});
  std::vector<StringRef> known = {"family"};
  llvm::append_range(known, keys::opaque);
  return mapping(
      "opaque", known,
      {{"family", word({"opaque"})},
       {"bits", integer(1, mostOpaqueBits)},
       {"carrier", word({"f32", "f64"})},
       {"fallback", word({"f32", "f64"})},
       {"derive", oneOrMore(word([] {
          auto names = operationNames(/*withFunctions=*/false);
          names.push_back("all");
          return names;
        }()))},
       {"proofs", word({"on", "any-nan", "off"})},
       {"equivalent", format()},
       {"identities", mapping("identities", keys::identities, identities)},
       {"accumulator",
        mapping("accumulator", keys::accumulator, accumulator, {"storage"})}},
      {"family", "bits"});
}

static Value ofFamily(const FormatFamily &family) {
  if (!family.hasArithmetic())
    return ofOpaque();
  Values values = {{"family", word({family.name()})},
                   {"operations", changes()}};
  std::vector<StringRef> known = {"family", "operations"};
  std::vector<StringRef> required = {"family"};
  ParameterReader::Asked asked = KeysOfFamily::askedBy(family);
  for (StringRef key : KeysOfFamily::of(family)) {
    known.push_back(key);
    if (llvm::is_contained(asked.required, key))
      required.push_back(key);
    values.push_back({key, ofParameter(family, key, asked)});
  }
  return mapping(family.name(), known, values, required);
}

static Value ofScaled(StringRef family, ArrayRef<StringRef> known) {
  SmallVector<StringRef> required = {"family", "element"};
  if (family == "block")
    required.push_back("size");
  return mapping(family, known,
                 {{"family", word({family})},
                  {"element", format()},
                  {"size", integer(2)},
                  {"scale", format()},
                  {"rule", word(scaleRuleNames())},
                  {"tensor-scale", word({"true", "false"})},
                  {"storage", word({"packed", "plain"})},
                  {"full-scale", number()}},
                 required);
}

/// By its family: an error is then one of that family, not of all.
static Value formatEntry(Object &definitions) {
  Array cases, names;
  auto add = [&](StringRef family, Value value) {
    std::string name = ("family-" + family).str();
    names.push_back(family);
    cases.push_back(Object{
        {"if",
         Object{{"properties", Object{{"family", Object{{"const", family}}}}},
                {"required", Array{"family"}}}},
        {"then", reference(name)}});
    definitions[name] = std::move(value);
  };
  for (const FormatFamily *family : allFamilies())
    add(family->name(), ofFamily(*family));
  add("block", ofScaled("block", keys::block));
  add("scaled", ofScaled("scaled", keys::scaled));
  return Object{
      {"type", "object"},
      {"required", Array{"family"}},
      {"properties",
       Object{{"family",
               described("", "family", Object{{"enum", std::move(names)}})}}},
      {"allOf", std::move(cases)}};
}

static Value library() {
  return mapping("library", keys::library,
                 {{"path", oneOrMore(text())},
                  {"include", oneOrMore(text())},
                  {"standard", text()},
                  {"flags", oneOrMore(text())},
                  {"link", oneOrMore(text())},
                  {"floats", word({"machine", "bits"})},
                  {"codes", word({"unsigned", "signed"})},
                  {"wide-codes", word(keys::wideCodes)}},
                 {"path"});
}

static Value lowering() {
  return mapping(
      "lowering", keys::lowering,
      {{"op", word(operationNames(/*withFunctions=*/true))},
       {"format", format()},
       {"from", format()},
       {"to", format()},
       {"operands", listOf(format())},
       {"result", format()},
       {"predicate", word(keys::predicates)},
       {"rounding", word(supported(roundingWords()))},
       {"target", word({"cpu", "nvptx", "*"})},
       {"call", text()},
       {"library", text()},
       {"vector", mapping("vector", keys::vector,
                          {{"call", text()}, {"lanes", integer(1)}}, {"call"})},
       {"operations", listOf(word(operationNames(/*withFunctions=*/false)))},
       {"equivalent", format()}},
      {"op", "call"});
}

static Value policy() {
  Values rule = {
      {"match", oneOf({text(), mapping("match", keys::match,
                                       {{"op", text()}, {"name", text()}})})},
      {"format", format()},
      {"accumulate", text()}};
  Values values = {
      {"default", format()},
      {"accumulate", text()},
      {"axis", ofRoles(Object{{"type", Array{"string", "integer"}}})},
      {"replace", oneOrMore(text())},
      {"scale", ofRoles(text())},
      {"scale-format", text()},
      {"scales", mapOf(oneOrMore(number()))},
      {"zero-points", mapOf(oneOrMore(ofType("integer")))},
      {"storage", ofRoles(word({"packed", "plain"}))}};
  for (StringRef role : keys::roles) {
    rule.push_back({role, format()});
    values.push_back({role, format()});
  }
  values.push_back(
      {"rules", listOf(mapping("rule", keys::rule, rule, {"match"}))});
  return mapping("policy", keys::policy, values);
}

// ---- The document

void numera::printConfigurationSchema(llvm::raw_ostream &stream) {
  Object definitions;
  definitions["format"] =
      Object{{"type", "string"},
             {"description", "the name of a format, or a spelling such as "
                             "'float<5,7>'"}};
  definitions["change"] = change();
  definitions["format-entry"] = formatEntry(definitions);
  Value root = mapping("configuration", keys::configuration,
                       {{"formats", mapOf(reference("format-entry"))},
                        {"libraries", mapOf(library())},
                        {"lowerings", listOf(lowering())},
                        {"policy", policy()},
                        {"fallback", word({"f32", "f64"})}});
  Object &schema = *root.getAsObject();
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Configurations of Numera (docs/Configuration.md)";
  schema["$defs"] = std::move(definitions);
  stream << llvm::formatv("{0:2}", root) << '\n';
}
