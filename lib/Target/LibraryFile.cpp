// SPDX-License-Identifier: MIT

#include "LibraryFile.h"
#include "Process.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;
using namespace numera;

Expected<LibraryFile> LibraryFile::open(const Library &library,
                                        LLVMContext &context) {
  LibraryFile file(library);
  if (library.bitcode)
    if (Error error = file.openBitcode(
            MemoryBufferRef(*library.bitcode, library.name), context))
      return std::move(error);
  for (StringRef path : library.paths)
    if (Error error = file.openFile(path, context))
      return createStringError(library.location + ": library '" + library.name +
                               "': " + toString(std::move(error)));
  for (const std::string &name : library.links)
    file.files.push_back("-l" + name);
  if (any_of(library.paths, [](StringRef path) {
        return isLibrarySource(path) && sys::path::extension(path) != ".c";
      }))
    file.files.push_back("-lstdc++");
  return file;
}

Error LibraryFile::openFile(StringRef path, LLVMContext &context) {
  // A directory opens, and is then read as an empty file.
  if (!sys::fs::exists(path))
    return createStringError("no file '" + path + "'");
  if (isMachineCode(path)) {
    files.push_back(path.str());
    return openMachineCode(path);
  }
  if (info->bitcode)
    return Error::success();
  if (isLibrarySource(path))
    return openSource(path, context);
  if (!is_contained({".bc", ".ll"}, sys::path::extension(path)))
    return createStringError(
        "'" + path + "' has the extension '" + sys::path::extension(path) +
        "'; expected .c, .cc, .cpp, .cxx, .bc, .ll, .a, .o or .so");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError("cannot read '" + path +
                             "': " + buffer.getError().message());
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

Error numera::compileSource(const Library &library, StringRef path,
                            StringRef output) {
  bool cxx = sys::path::extension(path) != ".c";
  std::vector<std::string> arguments;
  for (StringRef flag : sourceFlags)
    arguments.push_back(flag.str());
  // A standard is one of C or one of C++, and there may be sources of both.
  bool isForCxx = StringRef(library.standard).contains("++");
  if (!library.standard.empty() && isForCxx == cxx)
    arguments.push_back("-std=" + library.standard);
  else
    arguments.push_back(cxx ? "-std=c++20" : "-std=gnu17");
  for (const std::string &folder : library.includes)
    arguments.push_back("-I" + folder);
  for (const std::string &define : library.defines)
    arguments.push_back("-D" + define);
  append_range(arguments, library.flags);
  arguments.insert(arguments.end(), {"-c", path.str(), "-o", output.str()});
  return runClang(cxx, arguments);
}

Error LibraryFile::openSource(StringRef path, LLVMContext &context) {
  Expected<TemporaryFile> bitcode = TemporaryFile::create("bc");
  if (!bitcode)
    return bitcode.takeError();
  if (Error error = compileSource(*info, path, bitcode->path()))
    return error;
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(bitcode->path());
  if (!buffer)
    return createStringError("cannot read '" + bitcode->path() +
                             "': " + buffer.getError().message());
  return openBitcode(**buffer, context);
}

Error LibraryFile::openBitcode(MemoryBufferRef buffer, LLVMContext &context) {
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> part = parseIR(buffer, diagnostic, context);
  if (!part)
    return createStringError(buffer.getBufferIdentifier() + ":" +
                             Twine(diagnostic.getLineNo()) + ": " +
                             diagnostic.getMessage());
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

Error LibraryFile::openMachineCode(StringRef path) {
  Expected<object::OwningBinary<object::Binary>> binary =
      object::createBinary(path);
  if (!binary)
    return binary.takeError();
  object::Binary *file = binary->getBinary();
  if (auto *archive = dyn_cast<object::Archive>(file)) {
    for (const object::Archive::Symbol &symbol : archive->symbols())
      symbols.insert(symbol.getName());
    return Error::success();
  }
  auto *objectFile = dyn_cast<object::ObjectFile>(file);
  if (!objectFile || objectFile->getArch() != Triple::x86_64)
    return createStringError("'" + path + "' holds no code for x86_64");
  if (auto *elf = dyn_cast<object::ELFObjectFileBase>(file);
      elf && sys::path::extension(path) == ".so") {
    auto list = elf->getDynamicSymbolIterators();
    return addSymbols({list.begin(), list.end()}, symbols);
  }
  auto list = objectFile->symbols();
  return addSymbols({list.begin(), list.end()}, symbols);
}
