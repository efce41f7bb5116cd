// SPDX-License-Identifier: MIT

#include "JIT.h"
#include "Support/Process.h"
#include "numera/Runtime/Entry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <map>

using namespace llvm;
using namespace numera;

/// The shared object of this process that `address` lies in.
static void *objectOf(const void *address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

/// A name without a slash would be looked for where the system's libraries are.
static std::string fileOf(const std::string &path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

/// How shared objects are opened: so that each has its own symbols, or, where
/// one lacks some, so that they have those of each other. They stay open.
static int openingMode(ArrayRef<std::string> libraries) {
  bool areWhole = all_of(libraries, [](const std::string &path) {
    return StringRef(path).starts_with("-l") ||
           is_contained({".o", ".a"}, sys::path::extension(path)) ||
           dlopen(fileOf(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  });
  return RTLD_LAZY | (areWhole ? RTLD_LOCAL : RTLD_GLOBAL);
}

/// What a library has from the C library is left to the process: it may have
/// another one in its place, as a preloaded malloc, and memory goes back and
/// forth.
static Error addSharedObject(orc::LLJIT &jit, const std::string &path,
                             int mode) {
  void *handle = dlopen(path.c_str(), mode);
  if (!handle) {
    const char *why = dlerror();
    return createStringError(why ? why : "cannot load " + path);
  }
  sys::DynamicLibrary library(handle);
  char prefix = jit.getDataLayout().getGlobalPrefix();
  void *cLibrary =
      objectOf(reinterpret_cast<const void *>(&gnu_get_libc_version));
  auto isOwn = [=](const orc::SymbolStringPtr &name) mutable {
    StringRef symbol = *name;
    if (prefix)
      symbol.consume_front(StringRef(&prefix, 1));
    void *address = library.getAddressOfSymbol(symbol.str().c_str());
    return address && objectOf(address) != cLibrary;
  };
  jit.getMainJITDylib().addGenerator(
      std::make_unique<orc::DynamicLibrarySearchGenerator>(library, prefix,
                                                           isOwn));
  return Error::success();
}

/// A library of the system, `-lm`: where it is, only the linker knows. What it
/// links to nothing depends on the library, and brings it along.
static Error addSystemLibrary(orc::LLJIT &jit, const std::string &flag,
                              int mode) {
  // This process has them.
  if (is_contained({"-lm", "-lc", "-lstdc++", "-lpthread", "-ldl"}, flag))
    return Error::success();
  Expected<TemporaryFile> file = TemporaryFile::create("so");
  if (!file)
    return file.takeError();
  if (Error error = runClang(/*cxx=*/false, {"-shared", "-Wl,--no-as-needed",
                                             flag, "-o", file->path()}))
    return error;
  return addSharedObject(jit, file->path(), mode);
}

/// The user's libraries in machine code.
static Error addLibrary(orc::LLJIT &jit, const std::string &path, int mode) {
  orc::JITDylib &main = jit.getMainJITDylib();
  if (StringRef(path).starts_with("-l"))
    return addSystemLibrary(jit, path, mode);
  StringRef extension = sys::path::extension(path);
  if (extension == ".o") {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
    if (!buffer)
      return createStringError("cannot read " + path + ": " +
                               buffer.getError().message());
    return jit.addObjectFile(std::move(*buffer));
  }
  if (extension == ".a") {
    auto generator = orc::StaticLibraryDefinitionGenerator::Load(
        jit.getObjLinkingLayer(), path.c_str());
    if (!generator)
      return generator.takeError();
    main.addGenerator(std::move(*generator));
    return Error::success();
  }
  return addSharedObject(jit, fileOf(path), mode);
}

static constexpr StringLiteral initializer = "numera.initialize";
static constexpr StringLiteral finalizer = "numera.finalize";

/// What would run when a shared object is loaded or closed, `listName`, as a
/// function of the program. False: nothing would.
static bool addFunctionOf(StringRef listName, StringRef name, Module &module) {
  GlobalVariable *list = module.getGlobalVariable(listName);
  auto *entries =
      list ? dyn_cast<ConstantArray>(list->getInitializer()) : nullptr;
  if (!entries)
    return false;
  // By priority; those of one in their order. What ends goes back.
  std::multimap<uint64_t, Constant *> functions;
  for (const Use &use : entries->operands()) {
    auto *entry = cast<ConstantStruct>(use);
    functions.emplace(cast<ConstantInt>(entry->getOperand(0))->getZExtValue(),
                      entry->getOperand(1));
  }
  IRBuilder<> builder(module.getContext());
  auto *type = FunctionType::get(builder.getVoidTy(), false);
  auto *function =
      Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  builder.SetInsertPoint(BasicBlock::Create(module.getContext(), "", function));
  auto call = [&](auto &entry) { builder.CreateCall(type, entry.second); };
  if (name == finalizer)
    for_each(reverse(functions), call);
  else
    for_each(functions, call);
  builder.CreateRetVoid();
  list->eraseFromParent();
  return true;
}

/// Has everything linked; an error is what the linker reported first.
static Error materialize(orc::LLJIT &jit, StringRef entry) {
  std::string first;
  orc::ExecutionSession &session = jit.getExecutionSession();
  session.setErrorReporter([&](Error error) {
    std::string text = toString(std::move(error));
    if (first.empty())
      first = text;
  });
  auto address = jit.lookup(entry);
  session.setErrorReporter(consumeError);
  if (address)
    return Error::success();
  if (first.empty())
    return address.takeError();
  consumeError(address.takeError());
  StringRef line = StringRef(first).split('\n').first, hint;
  if (line.contains("R_X86_64_TLS") || line.contains("R_X86_64_GOTTPOFF") ||
      line.contains("R_X86_64_TPOFF"))
    return createStringError(
        "cannot link the program: a library has a thread-local variable, which "
        "only programs in files may have (numera compile -o)");
  if (StringRef(first).contains("relocation"))
    hint = "; compile it with -fPIC";
  else if (line.contains("Symbols not found"))
    hint = "; 'link' of a library names those of the system that have them";
  return createStringError("cannot link the program: " + line + hint);
}

/// Destructors of what an initializer makes would run when this process ends,
/// long after the program is gone: they are left out.
static int dropDestructor(void (*)(void *), void *, void *) { return 0; }

static Error defineAtExit(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  symbols[jit.mangleAndIntern("__cxa_atexit")] = {
      orc::ExecutorAddr::fromPtr(&dropDestructor), JITSymbolFlags::Exported};
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

// Division of 128 bits, for which x86-64 has no instruction.
extern "C" {
__int128 __divti3(__int128, __int128);
__int128 __modti3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
}

/// What the code generator calls and no program has: a process that has opened
/// this library for itself alone, as Python does, need not have it either.
static Error defineCompilerRuntime(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto define = [&](StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported |
                                              JITSymbolFlags::Weak};
  };
  define("__divti3", &__divti3);
  define("__modti3", &__modti3);
  define("__udivti3", &__udivti3);
  define("__umodti3", &__umodti3);
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

/// runtime/host, once for all programs of this process: they share its memory
/// and its threads.
static Error defineHost(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto define = [&](StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported |
                                              JITSymbolFlags::Callable};
  };
  define("numera_host_call", &host::numera_host_call);
  define("numera_host_fail", &host::numera_host_fail);
  define("numera_host_copy_with", &host::numera_host_copy_with);
  define("numera_host_stream", &host::numera_host_stream);
  define("numera_host_show_row", &host::numera_host_show_row);
  define("numera_host_parallel", &host::numera_host_parallel);
  define("numera_host_try_allocate", &host::numera_host_try_allocate);
  define("numera_host_allocate", &host::numera_host_allocate);
  define("numera_host_release", &host::numera_host_release);
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

static Error defineConstants(orc::LLJIT &jit, const ObjectCode &code) {
  orc::SymbolMap symbols;
  for (const auto &[name, buffer] : code.constants)
    symbols[jit.mangleAndIntern(name)] = {
        orc::ExecutorAddr::fromPtr(buffer->getBufferStart()),
        JITSymbolFlags::Exported};
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

static Expected<void (*)()> findFunction(orc::LLJIT &jit, StringRef name) {
  auto address = jit.lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<void (*)()>();
}

LoadedProgram::LoadedProgram(std::unique_ptr<orc::LLJIT> jit,
                             void (*finalize)(),
                             decltype(ObjectCode::constants) constants)
    : jit(std::move(jit)), finalize(finalize), constants(std::move(constants)) {
}

LoadedProgram::~LoadedProgram() {
  if (finalize)
    finalize();
  host::numera_host_end();
}

Expected<orc::ExecutorAddr> LoadedProgram::lookup(StringRef symbol) {
  return jit->lookup(symbol);
}

void numera::nameInitializers(Module &module, ObjectCode &code) {
  code.hasInitializer = addFunctionOf("llvm.global_ctors", initializer, module);
  code.hasFinalizer = addFunctionOf("llvm.global_dtors", finalizer, module);
}

Expected<std::unique_ptr<LoadedProgram>> numera::load(ObjectCode code) {
  Expected<std::unique_ptr<orc::LLJIT>> jit = orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  if (Error error = defineHost(**jit))
    return std::move(error);
  if (Error error = defineConstants(**jit, code))
    return std::move(error);
  if (code.hasInitializer)
    if (Error error = defineAtExit(**jit))
      return std::move(error);
  // The user's libraries come first, as on a linker's command line.
  int mode = openingMode(code.nativeLibraries);
  for (const std::string &library : code.nativeLibraries)
    if (Error error = addLibrary(**jit, library, mode))
      return std::move(error);
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (Error error = defineCompilerRuntime(**jit))
    return std::move(error);
  for (std::unique_ptr<MemoryBuffer> &object : code.objects)
    if (Error error = (*jit)->addObjectFile(std::move(object)))
      return std::move(error);
  if (!code.entry.empty())
    if (Error error = materialize(**jit, code.entry))
      return std::move(error);
  if (code.hasInitializer) {
    auto initialize = findFunction(**jit, initializer);
    if (!initialize)
      return initialize.takeError();
    (*initialize)();
  }
  void (*finalize)() = nullptr;
  if (code.hasFinalizer) {
    auto found = findFunction(**jit, finalizer);
    if (!found)
      return found.takeError();
    finalize = *found;
  }
  return std::make_unique<LoadedProgram>(std::move(*jit), finalize,
                                         std::move(code.constants));
}

Expected<std::unique_ptr<LoadedProgram>> numera::load(Compiled &program) {
  ObjectCode code;
  Module &module = *program.module;
  auto isExported = [](const Function &function) {
    return !function.isDeclaration() && function.hasExternalLinkage() &&
           function.hasDefaultVisibility();
  };
  if (auto exported = find_if(module, isExported); exported != module.end())
    code.entry = exported->getName().str();
  nameInitializers(module, code);
  code.nativeLibraries = program.nativeLibraries;
  auto object = generateObject(module, *program.machine);
  if (!object)
    return object.takeError();
  code.objects.push_back(std::move(*object));
  return load(std::move(code));
}
