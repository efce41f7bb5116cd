// SPDX-License-Identifier: MIT

#include "Options.h"
#include "numera/Dialect/Numera/Transforms/Retype/OutputAs.h"
#include "numera/Registry/Formats/Words.h"
#include "llvm/ADT/StringRef.h"
#include <variant>

using namespace llvm;
using namespace numera;

namespace {
struct Key {
  StringRef name;
  std::variant<std::string *, uint64_t *, std::optional<uint64_t> *> target;
  SmallVector<StringRef> choices = {};
};
} // namespace

static std::string assign(const Key &key, StringRef value) {
  auto found = [&](const Twine &expected) {
    return ("option '" + key.name + "' is '" + value + "', expected " +
            expected)
        .str();
  };
  if (!key.choices.empty() && !is_contained(key.choices, value))
    return found(listed(key.choices));
  if (auto *const *text = std::get_if<std::string *>(&key.target)) {
    **text = value.str();
    return "";
  }
  uint64_t number;
  if (value.getAsInteger(10, number))
    return found("a whole number from 0 on");
  if (auto *const *plain = std::get_if<uint64_t *>(&key.target))
    **plain = number;
  else
    *std::get<std::optional<uint64_t> *>(key.target) = number;
  return "";
}

/// Numbers between commas.
template <typename T>
static bool readNumbers(StringRef list, SmallVectorImpl<T> &numbers) {
  SmallVector<StringRef> parts;
  list.split(parts, ',', -1, /*KeepEmpty=*/!list.empty());
  return all_of(parts, [&](StringRef part) {
    return !part.getAsInteger(10, numbers.emplace_back());
  });
}

std::optional<ModelOptions> numera::readOptions(const char *const *list,
                                                std::string &error) {
  ModelOptions options;
  CompileOptions &compile = options.compile;
  std::string count, postpone, rows, quires;
  const Key keys[] = {
      {"format", &compile.format},
      {"replace", &compile.replace},
      {"accumulate", &compile.accumulate},
      {"rounding", &compile.rounding},
      {"random-bits", &compile.randomBits},
      {"overflow", &compile.overflow},
      {"seed", &options.seed},
      {"output-as", &compile.outputAs},
      {"quires", &quires},
      {"function", &compile.function},
      {"safetensors", &compile.safetensors},
      {"target", &compile.target, {"cpu", "nvptx"}},
      {"cpu", &compile.cpu},
      {"optimization", &compile.optimization, {"0", "1", "2", "3"}},
      {"code-cache", &compile.codeCache},
      {"gpu", &compile.gpu},
      {"count", &count, {"flags", "layers", "rows"}},
      {"postpone", &postpone, {"no", "yes"}},
      {"counted-rows", &rows},
      {"cuda-path", &options.gpu.cudaPath}};
  SmallVector<StringRef> names;
  for (const Key &key : keys)
    names.push_back(key.name);
  for (; list && *list; ++list) {
    auto [name, value] = StringRef(*list).split('=');
    const Key *key =
        find_if(keys, [&](const Key &k) { return k.name == name; });
    if (name.size() == StringRef(*list).size())
      error = "option '" + name.str() + "' has no value, expected key=value";
    else if (key == std::end(keys))
      error =
          "option '" + name.str() + "' is unknown" + expectation(name, names);
    else
      error = assign(*key, value);
    if (!error.empty())
      return std::nullopt;
  }
  if (!compile.outputAs.empty() && !readOutputAs(compile.outputAs)) {
    error = "option 'output-as' is '" + compile.outputAs + "', expected " +
            outputAsChoices().str();
    return std::nullopt;
  }
  if (!readNumbers(quires, compile.quires)) {
    error = "option 'quires' is '" + quires +
            "', expected numbers of results, as in 0,2";
    return std::nullopt;
  }
  if (!readNumbers(rows, compile.countedRows) ||
      any_of(compile.countedRows, [](int64_t row) { return row < 0; })) {
    error = "option 'counted-rows' is '" + rows +
            "', expected numbers of rows, as in 0,2";
    return std::nullopt;
  }
  compile.countStatusFlags = count == "flags";
  compile.postponeCounts = postpone == "yes";
  compile.showRows = count == "rows";
  compile.showLayers = count == "layers" || compile.showRows;
  if (compile.showRows && compile.target != "cpu") {
    error = "option 'count' is 'rows', expected target=cpu, or count=layers";
    return std::nullopt;
  }
  if (!compile.gpu.empty())
    options.gpu.gpu = compile.gpu;
  return options;
}
