// SPDX-License-Identifier: MIT

#include "SharedSymbols.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>

using namespace llvm;
using namespace numera;

namespace {

/// The dynamic symbols of a shared object, or the symbols of another file,
/// which the program exports.
struct SharedObject {
  std::string path;
  StringSet<> exported; ///< not what C++ has in many objects, which is one
  StringSet<> bound;    ///< what the loader looks for on its behalf
};

} // namespace

static Error notRead(StringRef path, Error why) {
  return createStringError("cannot read '" + path +
                           "': " + toString(std::move(why)));
}

static Error
addExported(object::ELFObjectFileBase::elf_symbol_iterator_range symbols,
            SharedObject &file) {
  for (const object::ELFSymbolRef &symbol : symbols) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (symbol.getBinding() == ELF::STB_GLOBAL &&
        (symbol.getOther() & 3) != ELF::STV_HIDDEN &&
        !(*flags & object::SymbolRef::SF_Undefined))
      file.exported.insert(*name);
  }
  return Error::success();
}

static Expected<SharedObject> read(StringRef path) {
  Expected<object::OwningBinary<object::Binary>> binary =
      object::createBinary(path);
  if (!binary)
    return notRead(path, binary.takeError());
  SharedObject shared{path.str(), {}, {}};
  auto *elf = dyn_cast<object::ELFObjectFileBase>(binary->getBinary());
  if (!elf)
    return shared;
  if (Error error = addExported(elf->getDynamicSymbolIterators(), shared))
    return notRead(path, std::move(error));
  for (const object::SectionRef &section : elf->dynamic_relocation_sections())
    for (const object::RelocationRef &relocation : section.relocations()) {
      object::symbol_iterator symbol = relocation.getSymbol();
      if (symbol == elf->symbol_end())
        continue;
      Expected<StringRef> name = symbol->getName();
      if (!name)
        return notRead(path, name.takeError());
      shared.bound.insert(*name);
    }
  return shared;
}

/// A `.o` or `.a`, whose symbols become the program's.
static Expected<SharedObject> readLinked(StringRef path) {
  Expected<object::OwningBinary<object::Binary>> binary =
      object::createBinary(path);
  if (!binary)
    return notRead(path, binary.takeError());
  SharedObject linked{path.str(), {}, {}};
  if (auto *archive = dyn_cast<object::Archive>(binary->getBinary()))
    for (const object::Archive::Symbol &symbol : archive->symbols())
      linked.exported.insert(symbol.getName());
  if (auto *elf = dyn_cast<object::ELFObjectFileBase>(binary->getBinary()))
    if (Error error = addExported(elf->symbols(), linked))
      return notRead(path, std::move(error));
  return linked;
}

/// True if every process has a function of the name.
static bool isOfCLibrary(StringRef name) {
  for (const char *library : {LIBC_SO, LIBM_SO})
    if (void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL))
      if (dlsym(handle, name.str().c_str()))
        return true;
  return false;
}

/// The C library is a library of the caller's, and comes before the program's.
static Error checkRegistered(const Module &module, const Registry &registry,
                             ArrayRef<SharedObject> objects) {
  for (const Lowering &lowering : registry.lowerings()) {
    const Function *function = module.getFunction(lowering.symbol);
    if (!function || !function->isDeclaration() || function->use_empty())
      continue;
    const auto *object = find_if(objects, [&](const SharedObject &object) {
      return object.exported.contains(lowering.symbol);
    });
    if (object != objects.end() && isOfCLibrary(lowering.symbol))
      return createStringError(
          lowering.location + ": '" + object->path + "' has '" +
          lowering.symbol +
          "', and so has the C library, whose function a compiled program "
          "would call; rename it, or give the library as source, .bc, .o or "
          ".a");
  }
  return Error::success();
}

static Error checkEntries(ArrayRef<SharedObject> objects,
                          ArrayRef<std::string> entries) {
  for (const SharedObject &object : objects)
    for (const std::string &entry : entries)
      if (object.bound.contains(entry))
        return createStringError(
            "'" + object.path + "' uses a symbol '" + entry +
            "', and the program has a function of that name, which it would "
            "use instead; rename one of them");
  return Error::success();
}

/// What `object` has for itself and would find in `other`.
static Error checkEachOther(ArrayRef<SharedObject> objects,
                            ArrayRef<SharedObject> linked) {
  for (const SharedObject &object : objects)
    for (const SharedObject &other :
         concat<const SharedObject>(objects, linked)) {
      if (&object == &other)
        continue;
      SmallVector<StringRef> shared;
      for (StringRef name : object.exported.keys())
        if (object.bound.contains(name) && other.exported.contains(name))
          shared.push_back(name);
      if (!shared.empty())
        return createStringError(
            "'" + object.path + "' and '" + other.path + "' both export '" +
            *min_element(shared) +
            "', and in a compiled program one would use that of the other; "
            "rename it or make it static, or give one as source or .bc");
    }
  return Error::success();
}

Error numera::checkSharedSymbols(const Module &module, const Registry &registry,
                                 ArrayRef<std::string> native,
                                 ArrayRef<std::string> entries) {
  std::vector<SharedObject> objects;
  std::vector<SharedObject> linked;
  for (const std::string &path : native) {
    if (StringRef(path).starts_with("-l"))
      continue;
    bool isShared = isSharedObject(path);
    Expected<SharedObject> file = isShared ? read(path) : readLinked(path);
    if (!file)
      return file.takeError();
    (isShared ? objects : linked).push_back(std::move(*file));
  }
  if (objects.empty())
    return Error::success();
  if (Error error = checkRegistered(module, registry, objects))
    return error;
  if (Error error = checkEntries(objects, entries))
    return error;
  return checkEachOther(objects, linked);
}
