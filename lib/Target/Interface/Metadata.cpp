// SPDX-License-Identifier: MIT
//
// What a program says about itself: as JSON inside it, and as a C header beside
// it.

#include "numera/Target/Interface/Metadata.h"
#include "Support/Embedded.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace numera;

StringRef numera::version() { return NUMERA_VERSION; }

// ---- JSON

static json::Array printTensors(ArrayRef<TensorSignature> tensors) {
  json::Array array;
  for (const TensorSignature &tensor : tensors)
    array.push_back(json::Object{{"name", json::fixUTF8(tensor.name)},
                                 {"dtype", nameOf(tensor.dtype)},
                                 {"shape", json::Array(tensor.shape)}});
  return array;
}

json::Array numera::printUses(ArrayRef<LibraryUse> uses) {
  json::Array array;
  for (const LibraryUse &use : uses) {
    json::Object object{{"operation", use.operation},
                        {"format", json::fixUTF8(use.format)},
                        {"equivalent", nullptr},
                        {"proven", use.isProven}};
    if (!use.equivalent.empty())
      object["equivalent"] = use.equivalent;
    if (use.isProven)
      object["exceptions"] = int64_t(use.exceptions);
    array.push_back(std::move(object));
  }
  return array;
}

static std::vector<LibraryUse> parseUses(const json::Array *array) {
  std::vector<LibraryUse> uses;
  for (const json::Value &value : array ? *array : json::Array()) {
    const json::Object *object = value.getAsObject();
    if (!object)
      continue;
    auto text = [&](StringRef key) {
      return object->getString(key).value_or("").str();
    };
    uses.push_back({text("operation"), text("format"), text("equivalent"),
                    object->getBoolean("proven").value_or(false),
                    unsigned(object->getInteger("exceptions").value_or(0))});
  }
  return uses;
}

json::Array numera::printRules(ArrayRef<RuleUse> rules) {
  json::Array array;
  for (const RuleUse &rule : rules) {
    json::Array operations;
    for (const std::string &name : rule.operations)
      operations.push_back(json::fixUTF8(name));
    json::Object object{{"match", json::fixUTF8(rule.match)},
                        {"format", json::fixUTF8(rule.format)},
                        {"accumulate", json::fixUTF8(rule.accumulate)},
                        {"operations", std::move(operations)}};
    json::Object roles;
    for (const auto &[role, format] : rule.roles)
      roles[role] = json::fixUTF8(format);
    if (!roles.empty())
      object["roles"] = std::move(roles);
    array.push_back(std::move(object));
  }
  return array;
}

static std::vector<RuleUse> parseRules(const json::Array *array) {
  std::vector<RuleUse> rules;
  for (const json::Value &value : array ? *array : json::Array()) {
    const json::Object *object = value.getAsObject();
    if (!object)
      continue;
    RuleUse &rule = rules.emplace_back();
    rule.match = object->getString("match").value_or("").str();
    rule.format = object->getString("format").value_or("").str();
    rule.accumulate = object->getString("accumulate").value_or("").str();
    if (const json::Object *roles = object->getObject("roles"))
      for (const auto &[role, format] : *roles)
        rule.roles.emplace_back(role.str(),
                                format.getAsString().value_or("").str());
    if (const json::Array *operations = object->getArray("operations"))
      for (const json::Value &name : *operations)
        rule.operations.push_back(name.getAsString().value_or("").str());
  }
  return rules;
}

std::string numera::printMetadata(const numera::Metadata &metadata) {
  json::Array functions;
  for (const FunctionSignature &function : metadata.functions)
    functions.push_back(
        json::Object{{"name", json::fixUTF8(function.name)},
                     {"symbol", entrySymbol(function.name)},
                     {"inputs", printTensors(function.inputs)},
                     {"outputs", printTensors(function.outputs)},
                     {"shares_batch", function.sharesBatch},
                     {"independent_rows", function.hasIndependentRows}});
  json::Object object{{"abi", NUMERA_ABI},
                      {"version", metadata.version},
                      {"target", metadata.target},
                      {"format", metadata.format},
                      {"accumulate", metadata.accumulate},
                      {"rounding", metadata.rounding},
                      {"overflow", metadata.overflow},
                      {"seed", metadata.seed},
                      {"functions", std::move(functions)}};
  if (!metadata.libraryUses.empty())
    object["library_uses"] = printUses(metadata.libraryUses);
  if (!metadata.rules.empty())
    object["rules"] = printRules(metadata.rules);
  return formatv("{0}", json::Value(std::move(object)));
}

static bool parseTensors(const json::Object &function, StringRef key,
                         std::vector<TensorSignature> &tensors) {
  const json::Array *array = function.getArray(key);
  if (!array)
    return false;
  for (const json::Value &value : *array) {
    const json::Object *object = value.getAsObject();
    const json::Array *shape = object ? object->getArray("shape") : nullptr;
    if (!shape)
      return false;
    TensorSignature tensor;
    tensor.name = object->getString("name").value_or("").str();
    std::optional<numera_dtype> dtype =
        dtypeFromName(object->getString("dtype").value_or(""));
    if (!dtype)
      return false;
    tensor.dtype = *dtype;
    for (const json::Value &dimension : *shape)
      tensor.shape.push_back(dimension.getAsInteger().value_or(-1));
    tensors.push_back(std::move(tensor));
  }
  return true;
}

static bool parseFunction(const json::Value &value,
                          FunctionSignature &function) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return false;
  function.name = object->getString("name").value_or("").str();
  function.sharesBatch = object->getBoolean("shares_batch").value_or(true);
  function.hasIndependentRows =
      object->getBoolean("independent_rows").value_or(false);
  return parseTensors(*object, "inputs", function.inputs) &&
         parseTensors(*object, "outputs", function.outputs);
}

Expected<numera::Metadata> numera::parseMetadata(StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  const json::Array *functions =
      object ? object->getArray("functions") : nullptr;
  if (!functions)
    return createStringError("metadata has no list of functions");
  if (object->getInteger("abi") != NUMERA_ABI)
    return createStringError(
        "compiled for version %lld of the runtime's interface; expected %d",
        (long long)object->getInteger("abi").value_or(0), NUMERA_ABI);
  numera::Metadata metadata;
  for (auto [key, field] : {std::pair{"version", &metadata.version},
                            {"target", &metadata.target},
                            {"format", &metadata.format},
                            {"accumulate", &metadata.accumulate},
                            {"rounding", &metadata.rounding},
                            {"overflow", &metadata.overflow}})
    *field = object->getString(key).value_or("").str();
  if (const json::Value *seed = object->get("seed"))
    metadata.seed = seed->getAsUINT64().value_or(0);
  metadata.libraryUses = parseUses(object->getArray("library_uses"));
  metadata.rules = parseRules(object->getArray("rules"));
  for (const json::Value &function : *functions)
    if (!parseFunction(function, metadata.functions.emplace_back()))
      return createStringError("metadata of a function is malformed");
  return metadata;
}

// ---- the header

static void printTensors(raw_ostream &os, StringRef what,
                         ArrayRef<TensorSignature> tensors) {
  for (auto [i, tensor] : enumerate(tensors)) {
    os << " * " << what << " " << i << ": " << nameOf(tensor.dtype) << " [";
    interleaveComma(tensor.shape, os, [&](int64_t dimension) {
      dimension < 0 ? os << "?" : os << dimension;
    });
    os << "]";
    // A name is the model's: nothing in it may end the comment.
    if (!tensor.name.empty() && all_of(tensor.name, [](char c) {
          return isPrint(c) && c != '*' && c != '\\';
        }))
      os << " " << tensor.name;
    os << "\n";
  }
}

std::string numera::renderHeader(ArrayRef<FunctionSignature> functions,
                                 StringRef stem) {
  std::string guard = "NUMERA_PROGRAM_";
  for (char c : stem)
    guard += isAlnum(c) ? toUpper(c) : '_';
  std::string text;
  raw_string_ostream os(text);
  os << "/* Made by Numera " << version() << ". */\n#ifndef " << guard
     << "\n#define " << guard << "\n\n";
  os << embeddedHeader().getBuffer() << "\n";
  os << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const FunctionSignature &function : functions) {
    os << "\n/*\n";
    printTensors(os, "input", function.inputs);
    printTensors(os, "output", function.outputs);
    os << " */\nnumera_entry " << entrySymbol(function.name) << ";\n";
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}
