// SPDX-License-Identifier: MIT

#include "LibraryFile.h"
#include "Process.h"

#include "llvm/IRReader/IRReader.h"
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
  auto fail = [&](const Twine &message) {
    return createStringError(library.location + ": library '" + library.name +
                             "': " + message);
  };
  StringRef extension = sys::path::extension(library.path);
  // A directory opens, and is then read as an empty file.
  if (!sys::fs::exists(library.path))
    return fail("no file '" + library.path + "'");
  Error error = Error::success();
  if (is_contained({".c", ".cc", ".cpp", ".cxx"}, extension))
    error = file.openSource(context);
  else if (is_contained({".bc", ".ll"}, extension))
    error = file.openBitcode(library.path, context);
  else if (is_contained({".a", ".o", ".so"}, extension))
    error = file.openMachineCode();
  else
    return fail("'" + library.path + "' has the extension '" + extension +
                "'; expected .c, .cc, .cpp, .cxx, .bc, .ll, .a, .o or .so");
  if (error)
    return fail(toString(std::move(error)));
  return file;
}

bool LibraryFile::defines(StringRef symbol) const {
  if (!module)
    return symbols.contains(symbol);
  const Function *function = module->getFunction(symbol);
  return function && !function->isDeclaration() && !function->hasLocalLinkage();
}

Error LibraryFile::openSource(LLVMContext &context) {
  Expected<TemporaryFile> bitcode = TemporaryFile::create("bc");
  if (!bitcode)
    return bitcode.takeError();
  bool cxx = sys::path::extension(info->path) != ".c";
  std::vector<std::string> arguments;
  for (StringRef flag : sourceFlags)
    arguments.push_back(flag.str());
  arguments.push_back(cxx ? "-std=c++20" : "-std=gnu17");
  arguments.insert(arguments.end(), {"-c", info->path, "-o", bitcode->path()});
  if (Error error = runClang(cxx, arguments))
    return error;
  return openBitcode(bitcode->path(), context);
}

Error LibraryFile::openBitcode(StringRef path, LLVMContext &context) {
  SMDiagnostic diagnostic;
  module = parseIRFile(path, diagnostic, context);
  if (!module)
    return createStringError(path + ":" + Twine(diagnostic.getLineNo()) + ": " +
                             diagnostic.getMessage());
  const Triple &triple = module->getTargetTriple();
  if (triple.getArch() != Triple::UnknownArch && !triple.isX86_64())
    return createStringError("bitcode for " + triple.str() +
                             "; expected x86_64");
  // What was compiled without optimisation would stay so.
  for (Function &function : *module)
    if (function.hasFnAttribute(Attribute::OptimizeNone)) {
      function.removeFnAttr(Attribute::OptimizeNone);
      function.removeFnAttr(Attribute::NoInline);
    }
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

Error LibraryFile::openMachineCode() {
  Expected<object::OwningBinary<object::Binary>> binary =
      object::createBinary(info->path);
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
    return createStringError("'" + info->path + "' holds no code for x86_64");
  if (auto *elf = dyn_cast<object::ELFObjectFileBase>(file);
      elf && sys::path::extension(info->path) == ".so") {
    auto list = elf->getDynamicSymbolIterators();
    return addSymbols({list.begin(), list.end()}, symbols);
  }
  auto list = objectFile->symbols();
  return addSymbols({list.begin(), list.end()}, symbols);
}
