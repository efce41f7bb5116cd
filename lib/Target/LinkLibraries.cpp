// SPDX-License-Identifier: MIT
//
// The user's functions into the program. A lowering's symbol is a declaration
// in the module; the library that defines it is the one the lowering names, or
// the only one that has it. Two lowerings that call functions of one name in
// two libraries say so in the declaration's name: `library::symbol`.
//
// Bitcode is linked as internal symbols, each library's under its own prefix,
// so that libraries cannot clash. Machine code is left to the linker.

#include "Compile.h"
#include "LibraryFile.h"
#include "LibraryTables.h"
#include "VectorVariants.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/VFABIDemangler.h"

using namespace llvm;
using namespace numera;

namespace {

/// A function that the module calls and a lowering registers.
struct Request {
  Function *declaration;
  std::string symbol;
  std::string library; ///< empty: the one that defines it
  std::string location;
};

std::string printType(const Type *type) {
  std::string text;
  raw_string_ostream(text) << *type;
  return text;
}

class LibraryLinker {
public:
  LibraryLinker(Module &module, const Registry &registry,
                const NamedLibraries &named, const TargetMachine &machine)
      : module(module), registry(registry), named(named), machine(machine) {}

  Expected<std::vector<std::string>> run() {
    MapVector<const Library *, std::vector<Request>> byLibrary;
    for (Request &request : collect()) {
      Expected<const Library *> library = find(request);
      if (!library)
        return library.takeError();
      byLibrary[*library].push_back(std::move(request));
    }
    StringMap<const Library *> nativeSymbols;
    std::vector<std::string> native;
    for (auto &[library, requests] : byLibrary) {
      LibraryFile &file = files.find(library)->second;
      if (!file.module && machine.getTargetTriple().isNVPTX())
        return createStringError(
            requests.front().location + ": library '" + library->name + "' (" +
            library->path +
            ") is machine code for the CPU; target nvptx takes C or C++ "
            "source, or bitcode");
      if (!file.module) {
        native.push_back(library->path);
        for (Request &request : requests) {
          // Machine code keeps its names, and two of one name are one.
          const Library *other =
              nativeSymbols.try_emplace(request.symbol, library).first->second;
          if (other != library)
            return createStringError(
                request.location + ": libraries '" + other->name + "' and '" +
                library->name + "' both define '" + request.symbol +
                "', which machine code cannot tell apart; give one as source "
                "or bitcode, or rename it");
          useName(request, request.symbol);
          if (Error error = linkNative(file, request))
            return std::move(error);
        }
      } else if (Error error = linkBitcode(file, requests)) {
        return std::move(error);
      }
    }
    return native;
  }

private:
  std::vector<Request> collect() {
    std::vector<Request> requests;
    for (Function &function : module) {
      if (!function.isDeclaration() || function.isIntrinsic() ||
          function.use_empty())
        continue;
      Request request{&function, function.getName().str(),
                      named.lookup(function.getName()), ""};
      auto [library, symbol] = function.getName().split("::");
      if (!symbol.empty() && registry.findLibrary(library)) {
        request.symbol = symbol.str();
        request.library = library.str();
      }
      // What no lowering has is the C library's, or the runtime's.
      if (const Lowering *lowering = loweringOf(request)) {
        request.location = lowering->location;
        if (request.library.empty())
          request.library = lowering->library;
        requests.push_back(std::move(request));
      }
    }
    return requests;
  }

  const Lowering *loweringOf(const Request &request) const {
    for (const Lowering &lowering : registry.lowerings())
      if (serves(lowering, request))
        return &lowering;
    return nullptr;
  }

  std::vector<const Lowering *> loweringsOf(const Request &request) const {
    std::vector<const Lowering *> found;
    for (const Lowering &lowering : registry.lowerings())
      if (serves(lowering, request))
        found.push_back(&lowering);
    return found;
  }

  static bool serves(const Lowering &lowering, const Request &request) {
    return lowering.symbol == request.symbol &&
           (request.library.empty() || lowering.library.empty() ||
            lowering.library == request.library);
  }

  Expected<LibraryFile &> open(const Library &library) {
    auto found = files.find(&library);
    if (found != files.end())
      return found->second;
    Expected<LibraryFile> file =
        LibraryFile::open(library, module.getContext());
    if (!file)
      return file.takeError();
    return files.emplace(&library, std::move(*file)).first->second;
  }

  Expected<const Library *> find(const Request &request) {
    if (!request.library.empty()) {
      const Library *library = registry.findLibrary(request.library);
      if (!library)
        return createStringError(request.location + ": no library '" +
                                 request.library + "' is registered");
      Expected<LibraryFile &> file = open(*library);
      if (!file)
        return file.takeError();
      if (!file->defines(request.symbol))
        return createStringError(request.location + ": library '" +
                                 library->name + "' (" + library->path +
                                 ") does not define '" + request.symbol + "'");
      return library;
    }
    const Library *only = nullptr;
    for (const Library &library : registry.libraries()) {
      Expected<LibraryFile &> file = open(library);
      if (!file)
        return file.takeError();
      if (!file->defines(request.symbol))
        continue;
      if (only)
        return createStringError(request.location + ": '" + request.symbol +
                                 "' is defined by libraries '" + only->name +
                                 "' and '" + library.name +
                                 "'; add `library:` to the lowering");
      only = &library;
    }
    if (only)
      return only;
    std::string names;
    for (const Library &library : registry.libraries())
      names += (names.empty() ? "" : ", ") + library.name;
    return createStringError(
        request.location + ": no library defines '" + request.symbol + "'" +
        (names.empty() ? "; none is registered" : "; registered: " + names));
  }

  /// The declaration under another name, which one of its kind may have.
  void useName(Request &request, StringRef name) {
    if (request.declaration->getName() == name)
      return;
    if (GlobalValue *present = module.getNamedValue(name)) {
      request.declaration->replaceAllUsesWith(present);
      request.declaration->eraseFromParent();
      request.declaration = dyn_cast<Function>(present);
      return;
    }
    request.declaration->setName(name);
  }

  /// What a lowering registers computes on its operands alone: loops may call
  /// it in any order, and its vector variant in its place.
  Error linkNative(const LibraryFile &file, const Request &request) {
    Function &function = *request.declaration;
    noteOperandBits(function, loweringsOf(request));
    function.setDoesNotAccessMemory();
    function.setDoesNotThrow();
    function.setWillReturn();
    const Lowering *lowering = find_if(registry.lowerings(), [&](auto &entry) {
      return entry.vector && serves(entry, request);
    });
    if (lowering == registry.lowerings().end() ||
        function.hasFnAttribute(VFABI::MappingsAttrName))
      return Error::success();
    const VectorVariant &variant = *lowering->vector;
    if (!file.defines(variant.symbol))
      return createStringError(
          lowering->location + ": library '" + file.library().name + "' (" +
          file.library().path + ") does not define '" + variant.symbol +
          "', the vector variant of '" + request.symbol + "'");
    addVectorVariant(function, variant, widestVectorArgument(machine));
    return Error::success();
  }

  Error linkBitcode(LibraryFile &file, std::vector<Request> &requests) {
    StringSet<> wanted;
    for (Request &request : requests) {
      if (Error error = checkType(file, request))
        return error;
      wanted.insert(request.symbol);
      noteOperandBits(*file.module->getFunction(request.symbol),
                      loweringsOf(request));
    }
    std::string prefix = file.library().name + "::";
    for (GlobalValue &value : file.module->global_values()) {
      if (value.isDeclaration() || value.getName().starts_with("llvm."))
        continue;
      bool isWanted = wanted.contains(value.getName());
      if (auto *object = dyn_cast<GlobalObject>(&value))
        object->setComdat(nullptr);
      value.setVisibility(GlobalValue::DefaultVisibility);
      value.setLinkage(isWanted ? GlobalValue::ExternalLinkage
                                : GlobalValue::InternalLinkage);
      if (isWanted)
        value.setName(prefix + value.getName());
    }
    for (Request &request : requests)
      useName(request, prefix + request.symbol);
    return linkInternal(module, std::move(file.module));
  }

  /// The call must be what the definition expects: with a narrow argument
  /// extended one way or the other, or not at all.
  Error checkType(const LibraryFile &file, const Request &request) {
    const Function &definition = *file.module->getFunction(request.symbol);
    if (definition.getFunctionType() != request.declaration->getFunctionType())
      return createStringError(
          request.location + ": library '" + file.library().name +
          "' defines '" + request.symbol + "' as " +
          printType(definition.getFunctionType()) + "; the lowering calls " +
          printType(request.declaration->getFunctionType()));
    for (User *user : request.declaration->users())
      if (auto *call = dyn_cast<CallBase>(user))
        copyExtensions(definition, *call);
    return Error::success();
  }

  static void copyExtensions(const Function &definition, CallBase &call) {
    for (Attribute::AttrKind kind : {Attribute::ZExt, Attribute::SExt}) {
      call.removeRetAttr(kind);
      if (definition.hasRetAttribute(kind))
        call.addRetAttr(kind);
      for (unsigned i = 0; i < call.arg_size(); ++i) {
        call.removeParamAttr(i, kind);
        if (definition.hasParamAttribute(i, kind))
          call.addParamAttr(i, kind);
      }
    }
  }

  Module &module;
  const Registry &registry;
  const NamedLibraries &named;
  const TargetMachine &machine;
  std::map<const Library *, LibraryFile> files;
};

} // namespace

Expected<std::vector<std::string>>
numera::linkLibraries(Module &module, const Registry &registry,
                      const NamedLibraries &named,
                      const TargetMachine &machine) {
  return LibraryLinker(module, registry, named, machine).run();
}
