// SPDX-License-Identifier: MIT

#include "OpenLibraries.h"
#include "WideCodes.h"
#include "numera/Registry/Formats/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"

#include <dlfcn.h>

using namespace llvm;
using namespace numera;

Expected<LibraryFile &> OpenLibraries::open(const Library &library) {
  auto found = files.find(&library);
  if (found != files.end())
    return found->second;
  Expected<LibraryFile> file = LibraryFile::open(library, context);
  if (!file)
    return file.takeError();
  return files.emplace(&library, std::move(*file)).first->second;
}

/// `library 'a' (a.c)`.
static std::string describe(const Library &library) {
  return "library '" + library.name + "' (" + library.files() + ")";
}

/// What `symbol` may have been meant to be.
static std::string hint(StringRef symbol, ArrayRef<std::string> names) {
  for (const std::string &name : names)
    if (std::string readable = demangle(name);
        readable != name &&
        StringRef(readable).starts_with((symbol + "(").str()))
      return "; it has '" + readable + "' of C++, declare that extern \"C\"";
  SmallVector<StringRef> candidates(names.begin(), names.end());
  StringRef near = nearest(symbol, candidates);
  return near.empty() ? "" : "; did you mean '" + near.str() + "'?";
}

static Error missing(const LibraryFile &file, const Lowering &lowering,
                     StringRef symbol, StringRef what = "") {
  return createStringError(
      lowering.location + ": " + describe(file.library()) +
      " does not define '" + symbol + "'" + what + ", " +
      CSignature::of(lowering, file.library()).expectation(symbol) +
      hint(symbol, file.names()));
}

/// An identity may be a constant as well.
static bool defines(const LibraryFile &file, const Lowering &lowering) {
  return file.defines(lowering.symbol) ||
         (isIdentity(lowering.operation) && file.constant(lowering.symbol));
}

Expected<LibraryFile &> OpenLibraries::findOnly(const Lowering &lowering) {
  LibraryFile *only = nullptr;
  std::vector<std::string> names;
  for (const Library &library : registry.libraries()) {
    Expected<LibraryFile &> file = open(library);
    if (!file)
      return file.takeError();
    append_range(names, file->names());
    if (!defines(*file, lowering))
      continue;
    if (only)
      return createStringError(lowering.location + ": '" + lowering.symbol +
                               "' is defined by libraries '" +
                               only->library().name + "' and '" + library.name +
                               "'; add `library:` to the lowering");
    only = &*file;
  }
  if (only)
    return *only;
  if (registry.libraries().size() == 1)
    return missing(files.begin()->second, lowering, lowering.symbol);
  return createStringError(
      lowering.location + ": no library defines '" + lowering.symbol + "', " +
      CSignature::of(lowering).expectation(lowering.symbol) +
      (names.empty() ? "; no library is registered"
                     : hint(lowering.symbol, names)));
}

Expected<LibraryFile &> OpenLibraries::findFile(const Lowering &lowering,
                                                StringRef name) {
  if (name.empty())
    name = lowering.library;
  if (name.empty())
    return findOnly(lowering);
  const Library *library = registry.findLibrary(name);
  if (!library)
    return createStringError(lowering.location + ": no library '" + name +
                             "' is registered");
  Expected<LibraryFile &> file = open(*library);
  if (file && !defines(*file, lowering))
    return missing(*file, lowering, lowering.symbol);
  return file;
}

Expected<LibraryFile &> OpenLibraries::find(const Lowering &lowering,
                                            StringRef library) {
  Expected<LibraryFile &> file = findFile(lowering, library);
  if (!file)
    return file;
  if (Error error = check(*file, lowering))
    return std::move(error);
  if (Error error = checkCalls(*file, lowering))
    return std::move(error);
  return file;
}

/// The functions outside of its module that a function calls, perhaps through
/// others.
static std::vector<const Function *> outsideOf(const Function &definition) {
  SmallPtrSet<const Constant *, 32> seen = {&definition};
  SmallVector<const Constant *> work = {&definition};
  std::vector<const Function *> outside;
  auto visit = [&](const User &user) {
    for (const Value *operand : user.operands())
      if (auto *constant = dyn_cast<Constant>(operand);
          constant && seen.insert(constant).second)
        work.push_back(constant);
  };
  while (!work.empty()) {
    const Constant *constant = work.pop_back_val();
    visit(*constant);
    auto *function = dyn_cast<Function>(constant);
    if (!function)
      continue;
    if (function->isDeclaration() && !function->isIntrinsic() &&
        !function->hasExternalWeakLinkage())
      outside.push_back(function);
    for (const Instruction &instruction : instructions(*function))
      visit(instruction);
  }
  return outside;
}

Error OpenLibraries::checkCalls(const LibraryFile &file,
                                const Lowering &lowering) {
  const Function *definition = file.definition(lowering.symbol);
  // What they bring along, the linker knows.
  if (!definition || lowering.target == numera::Target::NVPTX ||
      !file.library().links.empty() ||
      any_of(file.library().paths, isSharedObject))
    return Error::success();
  for (const Function *callee : outsideOf(*definition)) {
    std::string name = callee->getName().str();
    // C++'s own, and compilers'.
    if (StringRef(name).starts_with("_Z") ||
        StringRef(name).starts_with("__") || dlsym(RTLD_DEFAULT, name.c_str()))
      continue;
    bool isDefined = any_of(registry.libraries(), [&](const Library &library) {
      Expected<LibraryFile &> other = open(library);
      if (other)
        return !other->definition(name) && other->defines(name);
      consumeError(other.takeError());
      return true;
    });
    if (!isDefined)
      return createStringError(
          lowering.location + ": " + describe(file.library()) + ": '" +
          lowering.symbol + "' calls '" + name +
          "', which none of its files defines; add the file that does to "
          "'path', or the system's library to 'link'");
  }
  return Error::success();
}

/// Machine code does not say how it has codes of more than 64 bits.
static Error checkWideCodes(const Library &library, const Lowering &lowering) {
  CSignature signature = CSignature::of(lowering, library);
  LLVMContext context;
  if (!hasWideCodes(signature))
    return Error::success();
  if (library.wideCodes == WideCodes::Unknown)
    return createStringError(
        lowering.location + ": " + describe(library) +
        " is machine code, which does not show how '" + lowering.symbol +
        "' has its codes of more than 64 bits; expected 'wide-codes: "
        "pointers', doubles, integers or float128 in the library's entry");
  if (wideType(signature, library.wideCodes, context))
    return Error::success();
  return createStringError(lowering.location + ": " + describe(library) +
                           " passes codes of more than 128 bits to '" +
                           lowering.symbol +
                           "'; expected 'wide-codes: pointers', or source");
}

Error OpenLibraries::check(const LibraryFile &file,
                           const Lowering &lowering) const {
  if (lowering.vector && !file.defines(lowering.vector->symbol))
    return createStringError(lowering.location + ": " +
                             describe(file.library()) + " does not define '" +
                             lowering.vector->symbol +
                             "', the vector variant of '" + lowering.symbol +
                             "'" + hint(lowering.vector->symbol, file.names()));
  const ConstantInt *constant =
      isIdentity(lowering.operation) ? file.constant(lowering.symbol) : nullptr;
  if (constant && constant->getBitWidth() != lowering.result.storageBits())
    return createStringError(
        lowering.location + ": " + describe(file.library()) + " defines '" +
        lowering.symbol + "' as a constant of " +
        Twine(constant->getBitWidth()) + " bits, expected one of " +
        Twine(lowering.result.storageBits()));
  const Function *definition = file.definition(lowering.symbol);
  if (!definition)
    return checkWideCodes(file.library(), lowering);
  // A call by another convention than the function's is undefined in LLVM.
  const Function *variant =
      lowering.vector ? file.definition(lowering.vector->symbol) : nullptr;
  for (const Function *function : {definition, variant})
    if (function && function->getCallingConv() != CallingConv::C)
      return createStringError(
          lowering.location + ": " + describe(file.library()) + " defines '" +
          function->getName() +
          "' with another calling convention than C's; expected one without "
          "an attribute such as 'ms_abi' or 'vectorcall'");
  if (CSignature::of(lowering).isServedBy(*definition))
    return Error::success();
  return createStringError(
      lowering.location + ": " + describe(file.library()) + " defines '" +
      prototypeOf(*definition) + "', " +
      CSignature::of(lowering, file.library()).expectation(lowering.symbol));
}
