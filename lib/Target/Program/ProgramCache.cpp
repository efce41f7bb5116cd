// SPDX-License-Identifier: MIT
//
// A file has a line of JSON and, behind it, the bytes of the large constants.

#include "numera/Target/Program/ProgramCache.h"

#include "Codegen/CodeCache.h"
#include "Codegen/Machines.h"
#include "Compile.h"
#include "Link/LargeConstants.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace numera;

struct ProgramCache::State {
  explicit State(const CPUOptions &options)
      : cache(options.codeCache), about(cache.begin().add("program 1")) {
    if (!cache.isOn())
      return;
    Expected<Machines> machines = createMachines(options);
    if (!machines) {
      consumeError(machines.takeError());
      return;
    }
    isOn = true;
    about.add(uint64_t(options.optimization));
    addTo(about, *machines->baseline);
    for (const Machines::Version &version : machines->versions) {
      about.add(version.cpu);
      addTo(about, *version.machine);
    }
  }

  CodeCache cache;
  Fingerprint about;
  bool isOn = false;
};

ProgramCache::ProgramCache(const CPUOptions &options)
    : state(std::make_unique<State>(options)) {}

ProgramCache::~ProgramCache() = default;

bool ProgramCache::isOn() const { return state->isOn; }

void ProgramCache::add(StringRef text) { state->about.add(text); }

bool ProgramCache::addFile(StringRef path) {
  // What a pipe gives, it gives once.
  if (!sys::fs::is_regular_file(path))
    return false;
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (file)
    add((*file)->getBuffer());
  return bool(file);
}

std::string ProgramCache::key() const { return state->about.digits(); }

std::shared_ptr<void> ProgramCache::lock() const {
  if (!isOn())
    return nullptr;
  return std::make_shared<CodeCache::Lock>(state->cache, key());
}

// ---- writing

/// Empty if a program cannot be made of it again.
static std::string describe(const ObjectCode &code, StringRef warnings) {
  // The metadata is read back: what is not the same then is not kept, such as
  // names that are no UTF-8.
  std::string metadata = printMetadata(code.metadata);
  Expected<numera::Metadata> read = parseMetadata(metadata);
  if (!read)
    return consumeError(read.takeError()), "";
  auto nameOf = [](const FunctionSignature &function) {
    return StringRef(function.name);
  };
  bool isSame = printMetadata(*read) == metadata && json::isUTF8(warnings) &&
                equal(map_range(read->functions, nameOf),
                      map_range(code.metadata.functions, nameOf));
  if (!isSame || code.keys.size() != code.objects.size() ||
      !code.nativeLibraries.empty() || code.hasInitializer || code.hasFinalizer)
    return "";
  json::Array constants;
  uint64_t size = 0;
  for (const auto &[symbol, buffer] : code.constants) {
    if (!json::isUTF8(symbol))
      return "";
    constants.push_back(json::Array{symbol, int64_t(buffer->getBufferSize())});
    size += buffer->getBufferSize();
  }
  if (size > CodeCache::capacity() / 4)
    return "";
  std::string content;
  raw_string_ostream stream(content);
  stream << json::Value(json::Object{{"metadata", std::move(metadata)},
                                     {"warnings", warnings},
                                     {"objects", json::Array(code.keys)},
                                     {"entry", code.entry},
                                     {"constants", std::move(constants)}})
         << '\n';
  for (const auto &[symbol, buffer] : code.constants)
    stream << buffer->getBuffer();
  return content;
}

Expected<std::unique_ptr<Program>>
ProgramCache::compile(mlir::ModuleOp lowered,
                      ArrayRef<FunctionSignature> functions,
                      const Registry &registry, const CPUOptions &options,
                      StringRef warnings, function_ref<bool()> isStill) const {
  Expected<ObjectCode> code =
      compileObjects(lowered, functions, registry, options, Caller::Process);
  if (!code)
    return code.takeError();
  std::string content = isOn() ? describe(*code, warnings) : "";
  Expected<std::unique_ptr<Program>> program =
      loadProgram(std::move(*code), options.times);
  if (program && !content.empty() && isStill())
    state->cache.keep(key(), content);
  return program;
}

// ---- reading

namespace {
/// Turns the content of a file into a program's parts. False: it is not one.
class Reader {
public:
  Reader(const CodeCache &cache, StringRef content) : cache(cache) {
    std::tie(header, rest) = content.split('\n');
  }

  bool read(ObjectCode &code, std::string &warnings) {
    Expected<json::Value> value = json::parse(header);
    if (!value)
      return consumeError(value.takeError()), false;
    const json::Object *object = value->getAsObject();
    if (!object)
      return false;
    auto metadata = object->getString("metadata");
    auto entry = object->getString("entry");
    auto said = object->getString("warnings");
    const json::Array *keys = object->getArray("objects");
    const json::Array *constants = object->getArray("constants");
    if (!metadata || !entry || !said || !keys || !constants)
      return false;
    Expected<numera::Metadata> read = parseMetadata(*metadata);
    if (!read)
      return consumeError(read.takeError()), false;
    code.metadata = std::move(*read);
    code.entry = entry->str();
    warnings = said->str();
    return all_of(*keys,
                  [&](const auto &key) { return addObject(key, code); }) &&
           all_of(*constants,
                  [&](const auto &each) { return addConstant(each, code); }) &&
           rest.empty();
  }

private:
  bool addObject(const json::Value &key, ObjectCode &code) {
    auto digits = key.getAsString();
    std::unique_ptr<MemoryBuffer> object =
        digits ? cache.find(*digits) : nullptr;
    if (!object)
      return false;
    code.objects.push_back(std::move(object));
    return true;
  }

  bool addConstant(const json::Value &value, ObjectCode &code) {
    const json::Array *pair = value.getAsArray();
    if (!pair || pair->size() != 2)
      return false;
    auto symbol = (*pair)[0].getAsString();
    auto size = (*pair)[1].getAsInteger();
    if (!symbol || !size || *size < 0 || uint64_t(*size) > rest.size())
      return false;
    auto buffer = WritableMemoryBuffer::getNewUninitMemBuffer(
        size_t(*size), *symbol, Align(LargeConstants::alignment));
    if (!buffer)
      return false;
    copy(rest.take_front(size_t(*size)), buffer->getBufferStart());
    rest = rest.drop_front(size_t(*size));
    code.constants.emplace_back(symbol->str(), std::move(buffer));
    return true;
  }

  const CodeCache &cache;
  StringRef header, rest;
};
} // namespace

std::unique_ptr<Program> ProgramCache::find(std::string &warnings) const {
  if (!isOn())
    return nullptr;
  std::unique_ptr<MemoryBuffer> file = state->cache.find(key());
  ObjectCode code;
  std::string said;
  if (!file || !Reader(state->cache, file->getBuffer()).read(code, said))
    return nullptr;
  Expected<std::unique_ptr<Program>> program =
      loadProgram(std::move(code), nullptr);
  if (!program)
    return consumeError(program.takeError()), nullptr;
  warnings = std::move(said);
  return std::move(*program);
}
