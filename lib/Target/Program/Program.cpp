// SPDX-License-Identifier: MIT

#include "numera/Target/Program/Program.h"

#include "Codegen/JIT.h"
#include "Compile.h"
#include "numera/Target/Support/StepTimes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"

#include <algorithm>
#include <dlfcn.h>

using namespace llvm;
using namespace numera;

Program::~Program() = default;

// ---- two kinds of program

namespace {

/// Compiled in this process.
class CompiledProgram : public Program {
public:
  CompiledProgram(std::unique_ptr<LoadedProgram> loaded,
                  numera::Metadata metadata)
      : loaded(std::move(loaded)) {
    info = std::move(metadata);
  }

  Error findEntries() {
    for (const FunctionSignature &function : info.functions) {
      Expected<orc::ExecutorAddr> address =
          loaded->lookup(entrySymbol(function.name));
      if (!address)
        return address.takeError();
      entries.push_back(address->toPtr<numera_entry *>());
    }
    return Error::success();
  }

private:
  std::unique_ptr<LoadedProgram> loaded;
};

/// Looks for the metadata before the file is loaded: loading runs the
/// constructors of whatever library it is.
static Error checkProgram(StringRef path) {
  auto file = object::ObjectFile::createObjectFile(path);
  if (!file)
    return createStringError(
        path + ": not a shared object: " + toString(file.takeError()));
  if (const auto *elf = dyn_cast<object::ELFObjectFileBase>(file->getBinary()))
    for (const object::ELFSymbolRef &symbol :
         elf->getDynamicSymbolIterators()) {
      Expected<StringRef> name = symbol.getName();
      if (!name)
        consumeError(name.takeError());
      else if (*name == "numera_metadata")
        return Error::success();
    }
  return createStringError(path + ": not a program that Numera compiled: it "
                                  "has no numera_metadata");
}

/// A shared object. What its functions gave away is malloc's and outlives it.
class OpenedProgram : public Program {
public:
  ~OpenedProgram() override {
    if (handle)
      dlclose(handle);
  }

  Error open(StringRef path) {
    // A name without a slash would be looked for in the system's folders.
    std::string file = path.contains('/') ? path.str() : "./" + path.str();
    if (Error error = checkProgram(file))
      return error;
    handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return createStringError(dlerror());
    const auto *text =
        static_cast<const char *>(dlsym(handle, "numera_metadata"));
    if (!text)
      return createStringError(path + ": its numera_metadata is not data");
    Expected<numera::Metadata> metadata = parseMetadata(text);
    if (!metadata)
      return createStringError(path + ": " + toString(metadata.takeError()));
    info = std::move(*metadata);
    for (const FunctionSignature &function : info.functions) {
      std::string symbol = entrySymbol(function.name);
      void *address = dlsym(handle, symbol.c_str());
      if (!address)
        return createStringError(path + ": it has no '" + symbol +
                                 "', which its metadata names");
      entries.push_back(reinterpret_cast<numera_entry *>(address));
    }
    return Error::success();
  }

private:
  void *handle = nullptr;
};

} // namespace

Expected<std::unique_ptr<Program>>
Program::compile(mlir::ModuleOp lowered, ArrayRef<FunctionSignature> functions,
                 const Registry &registry, const CPUOptions &options) {
  Expected<ObjectCode> code =
      compileObjects(lowered, functions, registry, options, Caller::Process);
  if (!code)
    return code.takeError();
  return loadProgram(std::move(*code), options.times);
}

Expected<std::unique_ptr<Program>> numera::loadProgram(ObjectCode code,
                                                       StepTimes *times) {
  StepScope step(times, "load");
  numera::Metadata metadata = std::move(code.metadata);
  Expected<std::unique_ptr<LoadedProgram>> loaded = load(std::move(code));
  if (!loaded)
    return loaded.takeError();
  auto program = std::make_unique<CompiledProgram>(std::move(*loaded),
                                                   std::move(metadata));
  if (Error error = program->findEntries())
    return std::move(error);
  return program;
}

Expected<std::unique_ptr<Program>> Program::open(StringRef path) {
  auto program = std::make_unique<OpenedProgram>();
  if (Error error = program->open(path))
    return std::move(error);
  return program;
}

// ---- calls

const FunctionSignature *Program::find(StringRef function) const {
  const auto *found = llvm::find_if(info.functions, [&](const auto &candidate) {
                        return candidate.name == function;
                      }).base();
  return found == info.functions.data() + info.functions.size() ? nullptr
                                                                : found;
}

numera_entry *Program::entry(StringRef function) const {
  const FunctionSignature *signature = find(function);
  return signature ? entries[size_t(signature - info.functions.data())]
                   : nullptr;
}

/// In the order of host::DType.
static constexpr int dtypes[] = {
    NUMERA_F16, NUMERA_F32,  NUMERA_F64,  NUMERA_I8,   NUMERA_I16,
    NUMERA_I32, NUMERA_I64,  NUMERA_U8,   NUMERA_U16,  NUMERA_U32,
    NUMERA_U64, NUMERA_BOOL, NUMERA_BF16, NUMERA_U128, NUMERA_U256};

numera_dtype numera::dtypeOf(host::DType dtype) {
  return numera_dtype(dtypes[size_t(dtype)]);
}

host::DType numera::dtypeOf(numera_dtype dtype) {
  return host::DType(llvm::find(dtypes, int(dtype)) - std::begin(dtypes));
}

static Expected<numera_tensor> tensorOf(const host::Array &array, size_t i) {
  if (array.shape.size() > NUMERA_MAX_RANK)
    return createStringError(
        "input " + Twine(i) + " has " + Twine(array.shape.size()) +
        " dimensions; expected at most " + Twine(NUMERA_MAX_RANK));
  numera_tensor tensor{};
  tensor.data = array.bytes.get();
  tensor.capacity = array.byteSize;
  tensor.dtype = dtypeOf(array.dtype);
  tensor.rank = int32_t(array.shape.size());
  llvm::copy(array.shape, tensor.shape);
  return tensor;
}

Error Program::call(StringRef function, ArrayRef<const host::Array *> inputs,
                    std::vector<host::Array> &outputs,
                    const numera_options &options) const {
  const FunctionSignature *signature = find(function);
  if (!signature)
    return createStringError("the program has no function '" + function + "'");
  SmallVector<numera_tensor> arguments;
  for (auto [i, input] : enumerate(inputs)) {
    Expected<numera_tensor> tensor = tensorOf(*input, i);
    if (!tensor)
      return tensor.takeError();
    arguments.push_back(*tensor);
  }
  SmallVector<numera_tensor> results(signature->outputs.size());
  for (auto [result, array, info] :
       llvm::zip(results, outputs, signature->outputs)) {
    // Of another size there may be more the next time.
    if (llvm::any_of(info.shape, [](int64_t size) { return size < 0; }))
      continue;
    result.data = array.bytes.get();
    result.capacity = array.byteSize;
  }
  char message[512];
  if (entry(function)(arguments.data(), arguments.size(), results.data(),
                      results.size(), &options, message, sizeof message) != 0)
    return createStringError(message);

  outputs.resize(results.size());
  for (auto [result, array] : llvm::zip_equal(results, outputs)) {
    array.shape.assign(result.shape, result.shape + result.rank);
    array.dtype = dtypeOf(numera_dtype(result.dtype));
    array.byteSize = sizeOf(array.dtype);
    for (int64_t size : array.shape)
      array.byteSize *= size_t(size);
    auto *bytes = static_cast<std::byte *>(result.data);
    if (array.bytes.get() != bytes)
      array.bytes.reset(bytes);
  }
  return Error::success();
}
