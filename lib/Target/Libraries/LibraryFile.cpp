// SPDX-License-Identifier: MIT

#include "LibraryFile.h"
#include "Peephole/SoftenBFloat.h"
#include "SourceCode.h"
#include "Support/Child.h"
#include "Support/Process.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <sys/resource.h>

using namespace llvm;
using namespace numera;

/// Where the system's libraries mostly are; where else, the linker knows.
static bool isInUsualPlace(StringRef name) {
  for (StringRef folder : {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu",
                           "/usr/lib64", "/usr/lib", "/usr/local/lib"})
    for (StringRef extension : {".so", ".a"})
      if (sys::fs::exists(folder + "/lib" + name + extension))
        return true;
  return false;
}

/// An object is linked later, perhaps by somebody else: what is missing is said
/// here.
static Error checkSystemLibrary(StringRef name) {
  if (isInUsualPlace(name))
    return Error::success();
  Expected<TemporaryFile> probe = TemporaryFile::create("so");
  if (!probe)
    return probe.takeError();
  Error error =
      runClang(/*cxx=*/false, {"-shared", "-nostdlib", ("-l" + name).str(),
                               "-o", probe->path()});
  if (!error)
    return Error::success();
  consumeError(std::move(error));
  return createStringError("the linker finds no library '" + name +
                           "' ('link: " + name + "' is -l" + name + ")");
}

Expected<LibraryFile> LibraryFile::open(const Library &library,
                                        LLVMContext &context) {
  LibraryFile file(library);
  if (Error error = file.openAll(context))
    return createStringError(library.location + ": library '" + library.name +
                             "': " + toString(std::move(error)));
  return file;
}

Error LibraryFile::openAll(LLVMContext &context) {
  // A directory opens, and is then read as an empty file.
  for (StringRef path : info->paths)
    if (!sys::fs::exists(path))
      return createStringError("no file '" + path + "'");
  if (Error error = info->bitcode ? openBitcode(MemoryBufferRef(*info->bitcode,
                                                                info->name),
                                                context)
                                  : openSources(context))
    return error;
  for (StringRef path : info->paths)
    if (Error error = openFile(path, context))
      return error;
  for (const std::string &name : info->links) {
    if (Error error = checkSystemLibrary(name))
      return error;
    files.push_back("-l" + name);
  }
  if (any_of(info->paths, [](StringRef path) {
        return isLibrarySource(path) && sys::path::extension(path) != ".c";
      }))
    files.push_back("-lstdc++");
  return Error::success();
}

static Expected<std::unique_ptr<Module>> parse(MemoryBufferRef buffer,
                                               LLVMContext &context) {
  SMDiagnostic diagnostic;
  if (std::unique_ptr<Module> module = parseIR(buffer, diagnostic, context))
    return module;
  StringRef file = buffer.getBufferIdentifier();
  // Bitcode has no lines.
  if (diagnostic.getLineNo() <= 0)
    return createStringError(file + ": " + diagnostic.getMessage() +
                             "; expected bitcode of LLVM " +
                             Twine(LLVM_VERSION_MAJOR) + " or older");
  return createStringError(file + ":" + Twine(diagnostic.getLineNo()) + ":" +
                           Twine(diagnostic.getColumnNo() + 1) + ": " +
                           diagnostic.getMessage());
}

/// LLVM's readers take what they are given to be of LLVM: of a damaged file
/// they may crash, or ask for all memory. That a child finds out.
static Error tryToRead(MemoryBufferRef buffer) {
  auto read = [&]() -> std::string {
// Sanitizers take most addresses for themselves.
#if !LLVM_ADDRESS_SANITIZER_BUILD && !LLVM_THREAD_SANITIZER_BUILD
    rlimit most{rlim_t{8} << 30, rlim_t{8} << 30};
    setrlimit(RLIMIT_AS, &most);
#endif
    LLVMContext context;
    Expected<std::unique_ptr<Module>> module = parse(buffer, context);
    if (!module)
      return toString(module.takeError());
    std::string text;
    raw_string_ostream stream(text);
    if (!verifyModule(**module, &stream))
      return "";
    return (buffer.getBufferIdentifier() +
            ": no valid LLVM IR: " + StringRef(text).split('\n').first)
        .str();
  };
  Expected<std::string> said = tryInChild(read);
  if (said)
    return said->empty() ? Error::success() : createStringError(*said);
  return createStringError(buffer.getBufferIdentifier() +
                           ": is damaged; LLVM's reader " +
                           toString(said.takeError()));
}

Error LibraryFile::openFile(StringRef path, LLVMContext &context) {
  if (isMachineCode(path)) {
    files.push_back(path.str());
    return openMachineCode(path);
  }
  if (info->bitcode || isLibrarySource(path))
    return Error::success();
  if (!is_contained({".bc", ".ll"}, sys::path::extension(path)))
    return createStringError(
        "'" + path + "' has the extension '" + sys::path::extension(path) +
        "'; expected .c, .cc, .cpp, .cxx, .bc, .ll, .a, .o or .so");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError("cannot read '" + path +
                             "': " + buffer.getError().message());
  if (Error error = tryToRead(**buffer))
    return error;
  return openBitcode(**buffer, context);
}

std::string LibraryFile::bitcode() const {
  std::string bytes;
  raw_string_ostream stream(bytes);
  module->setSourceFileName(info->name);
  WriteBitcodeToFile(*module, stream);
  return bytes;
}

Function *LibraryFile::definition(StringRef symbol) const {
  Function *function = module ? module->getFunction(symbol) : nullptr;
  bool isDefined =
      function && !function->isDeclaration() && !function->hasLocalLinkage();
  return isDefined ? function : nullptr;
}

const ConstantInt *LibraryFile::constant(StringRef symbol) const {
  const GlobalVariable *variable =
      module ? module->getGlobalVariable(symbol) : nullptr;
  if (!variable || !variable->isConstant() || !variable->hasInitializer())
    return nullptr;
  const Constant *value = variable->getInitializer();
  while (value->getType()->isStructTy() &&
         value->getType()->getStructNumElements() == 1)
    value = value->getAggregateElement(0u);
  return dyn_cast<ConstantInt>(value);
}

std::vector<std::string> LibraryFile::names() const {
  std::vector<std::string> names;
  for (StringRef symbol : symbols.keys())
    names.push_back(symbol.str());
  if (module)
    for (const Function &function : *module)
      if (definition(function.getName()))
        names.push_back(function.getName().str());
  sort(names);
  return names;
}

/// Sources come before the other files.
Error LibraryFile::openSources(LLVMContext &context) {
  std::vector<std::string> sources;
  copy_if(info->paths, std::back_inserter(sources), isLibrarySource);
  auto compiled = compileSources(*info, sources);
  if (!compiled)
    return compiled.takeError();
  for (auto [path, buffer] : zip_equal(sources, *compiled))
    if (Error error =
            openBitcode(MemoryBufferRef(buffer->getBuffer(), path), context))
      return error;
  return Error::success();
}

Error LibraryFile::openBitcode(MemoryBufferRef buffer, LLVMContext &context) {
  Expected<std::unique_ptr<Module>> read = parse(buffer, context);
  if (!read)
    return read.takeError();
  std::unique_ptr<Module> part = std::move(*read);
  const Triple &triple = part->getTargetTriple();
  if (triple.getArch() != Triple::UnknownArch && !triple.isX86_64())
    return createStringError("bitcode for " + triple.str() +
                             "; expected x86_64");
  // What was compiled without optimisation would stay so.
  for (Function &function : *part)
    if (function.hasFnAttribute(Attribute::OptimizeNone)) {
      function.removeFnAttr(Attribute::OptimizeNone);
      function.removeFnAttr(Attribute::NoInline);
    }
  expandBfloat(*part);
  if (!module) {
    module = std::move(part);
    return Error::success();
  }
  part->setTargetTriple(module->getTargetTriple());
  part->setDataLayout(module->getDataLayout());
  std::string twice;
  for (const Function &function : *part)
    if (!function.isDeclaration() && function.hasExternalLinkage() &&
        definition(function.getName()))
      twice = function.getName().str();
  if (!twice.empty())
    return createStringError("two of its files define '" + twice +
                             "'; give one of them a library of its own");
  if (Linker::linkModules(*module, std::move(part)))
    return createStringError("cannot link '" + buffer.getBufferIdentifier() +
                             "' with the files before it");
  return Error::success();
}

/// Adds the defined symbols that others may use.
static Error addSymbols(iterator_range<object::basic_symbol_iterator> list,
                        StringSet<> &symbols) {
  for (const object::BasicSymbolRef &symbol : list) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    std::string name;
    raw_string_ostream os(name);
    if (Error error = symbol.printName(os))
      return error;
    if ((*flags & object::SymbolRef::SF_Global) &&
        !(*flags & object::SymbolRef::SF_Undefined))
      symbols.insert(name);
  }
  return Error::success();
}

static Error noCode(StringRef path) {
  return createStringError("'" + path + "' holds no code for x86_64");
}

/// Of an archive's members the first one tells.
static Error checkMembers(const object::Archive &archive, StringRef path) {
  Error error = Error::success();
  for (const object::Archive::Child &child : archive.children(error)) {
    Expected<std::unique_ptr<object::Binary>> member = child.getAsBinary();
    if (!member) {
      consumeError(member.takeError());
      continue;
    }
    auto *file = dyn_cast<object::ObjectFile>(member->get());
    if (file && file->getArch() != Triple::x86_64)
      return joinErrors(std::move(error), noCode(path));
    break;
  }
  return error;
}

Error LibraryFile::openMachineCode(StringRef path) {
  Expected<object::OwningBinary<object::Binary>> binary =
      object::createBinary(path);
  if (!binary)
    return createStringError("'" + path + "': " + toString(binary.takeError()));
  object::Binary *file = binary->getBinary();
  if (auto *archive = dyn_cast<object::Archive>(file)) {
    if (Error error = checkMembers(*archive, path))
      return error;
    for (const object::Archive::Symbol &symbol : archive->symbols())
      symbols.insert(symbol.getName());
    return Error::success();
  }
  auto *objectFile = dyn_cast<object::ObjectFile>(file);
  if (!objectFile || objectFile->getArch() != Triple::x86_64)
    return noCode(path);
  if (auto *elf = dyn_cast<object::ELFObjectFileBase>(file);
      elf && isSharedObject(path)) {
    auto list = elf->getDynamicSymbolIterators();
    return addSymbols({list.begin(), list.end()}, symbols);
  }
  auto list = objectFile->symbols();
  return addSymbols({list.begin(), list.end()}, symbols);
}
