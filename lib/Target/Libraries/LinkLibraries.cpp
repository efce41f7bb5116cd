// SPDX-License-Identifier: MIT
//
// Links the user's functions into the program. A lowering's symbol is a
// declaration in the module. The library that defines it is the one that the
// lowering names, or the only one that has it. If two libraries have functions
// of the same name, the declaration is called `library::symbol`. If the model
// has a function of that name, it is that, or `::symbol`.
//
// Bitcode is linked as internal symbols, each library's under its own prefix,
// so that libraries cannot clash. Machine code is left to the linker.

#include "LinkLibraries.h"
#include "LibraryTables.h"
#include "Link/LinkRuntime.h"
#include "OpenLibraries.h"
#include "Vectorize/VectorVariants.h"
#include "WideCodes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace numera;

namespace {

/// A function that the module calls and a lowering registers.
struct Request {
  Function *declaration;
  std::string symbol;
  std::string library; ///< empty: the one that defines it
  const Lowering *lowering = nullptr;
};

class LibraryLinker {
public:
  LibraryLinker(Module &module, const Registry &registry,
                const NamedLibraries &named, const TargetMachine &machine)
      : module(module), registry(registry), named(named), machine(machine),
        libraries(registry, module.getContext()) {}

  Expected<std::vector<std::string>> run() {
    MapVector<LibraryFile *, std::vector<Request>> byLibrary;
    for (Request &request : collect()) {
      Expected<LibraryFile &> file =
          libraries.find(*request.lowering, request.library);
      if (!file)
        return file.takeError();
      byLibrary[&*file].push_back(std::move(request));
    }
    std::vector<std::string> native;
    for (auto &[file, requests] : byLibrary) {
      append_range(native, file->native());
      std::vector<Request> inBitcode;
      for (Request &request : requests) {
        if (file->definition(request.symbol))
          inBitcode.push_back(std::move(request));
        else if (Error error = linkNative(*file, request))
          return std::move(error);
      }
      if (!inBitcode.empty())
        if (Error error = linkBitcode(*file, inBitcode))
          return std::move(error);
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
                      named.lookup(function.getName())};
      auto [library, symbol] = function.getName().split("::");
      if (!symbol.empty() &&
          (library.empty() || registry.findLibrary(library))) {
        request.symbol = symbol.str();
        request.library = library.str();
      }
      // What no lowering has is the C library's, or the runtime's.
      request.lowering = loweringOf(request);
      if (request.lowering)
        requests.push_back(std::move(request));
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
  Error linkNative(const LibraryFile &file, Request &request) {
    const Library &library = file.library();
    if (machine.getTargetTriple().isNVPTX())
      return createStringError(
          request.lowering->location + ": library '" + library.name + "' (" +
          library.files() +
          ") is machine code for the CPU; target nvptx takes C or C++ "
          "source, or bitcode");
    // Machine code keeps its names, and two of one name are one.
    const Library *other =
        nativeSymbols.try_emplace(request.symbol, &library).first->second;
    if (other != &library)
      return createStringError(
          request.lowering->location + ": libraries '" + other->name +
          "' and '" + library.name + "' both define '" + request.symbol +
          "', which machine code cannot tell apart; give one as source "
          "or bitcode, or rename it");
    CSignature signature = CSignature::of(*request.lowering, library);
    bool isWide = hasWideCodes(signature);
    if (isWide)
      adapt(request, request.symbol,
            wideType(signature, library.wideCodes, module.getContext()),
            wideExtensions(signature, library.wideCodes, module.getContext()));
    else if (library.passesBits)
      adapt(request, request.symbol, signature.type(module.getContext()));
    // A function of the model that has the name gives way.
    if (GlobalValue *present = module.getNamedValue(request.symbol);
        present && !present->isDeclaration())
      present->setName(request.symbol + ".body");
    useName(request, request.symbol);
    Function &function = *request.declaration;
    if (!isWide)
      extend(function, signature);
    noteOperandBits(function, loweringsOf(request));
    // A product may have memory of its own beside what it is given.
    if (isPartOfAccumulator(request.lowering->operation) ||
        (isWide && library.wideCodes == WideCodes::Pointers))
      function.setOnlyAccessesArgMemory();
    else if (!isProduct(request.lowering->operation))
      function.setDoesNotAccessMemory();
    function.setDoesNotThrow();
    function.setWillReturn();
    // One that is called `sqrtf` is no square root of LLVM's.
    LibFunc known;
    if (TargetLibraryInfoImpl(machine.getTargetTriple())
            .getLibFunc(function, known))
      function.addFnAttr(Attribute::NoBuiltin);
    const Lowering *lowering = find_if(registry.lowerings(), [&](auto &entry) {
      return entry.vector && serves(entry, request);
    });
    if (lowering == registry.lowerings().end() ||
        function.hasFnAttribute(VFABI::MappingsAttrName))
      return Error::success();
    addVectorVariant(function, *lowering->vector,
                     widestVectorArgument(machine));
    return Error::success();
  }

  /// Machine code that clang has compiled takes narrow arguments as callers
  /// have extended them, by their sign where they have one. It may leave
  /// anything above a narrow result: the System V ABI says nothing of those
  /// bits, and a struct of one integer has them as they come out of the
  /// arithmetic.
  static void extend(Function &function, const CSignature &signature) {
    auto clear = [](auto &site, unsigned count) {
      for (Attribute::AttrKind kind : {Attribute::ZExt, Attribute::SExt}) {
        site.removeRetAttr(kind);
        for (unsigned i = 0; i < count; ++i)
          site.removeParamAttr(i, kind);
      }
    };
    // Calls are as the declaration says.
    for (User *user : function.users())
      if (auto *call = dyn_cast<CallBase>(user))
        clear(*call, call->arg_size());
    clear(function, function.arg_size());
    for (auto [i, number] : enumerate(signature.operands))
      if (number.memory == CNumber::Memory::None && !number.isFloat &&
          number.bits < 32)
        function.addParamAttr(i, number.isSigned ? Attribute::SExt
                                                 : Attribute::ZExt);
  }

  Error linkBitcode(LibraryFile &file, std::vector<Request> &requests) {
    std::string prefix = file.library().name + "::";
    std::vector<Function *> adapters;
    StringSet<> wanted;
    for (Request &request : requests) {
      Function &definition = *file.definition(request.symbol);
      FunctionType *type = definition.getFunctionType();
      AttributeList attributes; // `byval` and `sret` are a part of the type
      CSignature signature = CSignature::of(*request.lowering);
      if (hasWideCodes(signature) || !signature.isServedPlainly(*type))
        attributes =
            definition.getAttributes().removeFnAttributes(module.getContext());
      if (type != request.declaration->getFunctionType())
        adapters.push_back(
            adapt(request, prefix + request.symbol, type, attributes));
      copyExtensions(definition, *request.declaration);
      wanted.insert(request.symbol);
      noteOperandBits(definition, loweringsOf(request));
    }
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
    if (Error error = linkInternal(module, std::move(file.module)))
      return error;
    for (Function *adapter : adapters)
      inlineCalls(*adapter);
    return Error::success();
  }

  /// Makes the declaration an adapter of the function with another type, which
  /// is declared and takes its place in the request.
  Function *adapt(Request &request, const Twine &name, FunctionType *type,
                  AttributeList attributes = {}) {
    Function *adapter = request.declaration;
    if (adapter->getFunctionType() == type)
      return adapter;
    adapter->setName(name + ".adapter");
    Function *callee =
        Function::Create(type, GlobalValue::ExternalLinkage, name, module);
    for (auto [i, parameter] : enumerate(type->params()))
      if (parameter->isIntegerTy() && parameter->getIntegerBitWidth() < 32)
        callee->addParamAttr(i, Attribute::ZExt);
    if (!attributes.isEmpty())
      callee->setAttributes(attributes);
    request.declaration = callee;
    defineAdapter(*adapter, *callee, CSignature::of(*request.lowering));
    return adapter;
  }

  /// What is a body of its own has a vector form.
  static void inlineCalls(Function &adapter) {
    SmallVector<CallBase *> calls;
    for (Instruction &instruction : instructions(adapter))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        calls.push_back(call);
    for (CallBase *call : calls) {
      InlineFunctionInfo info;
      InlineFunction(*call, info);
    }
  }

  /// The calls must be what the definition expects: with a narrow argument
  /// extended one way or the other, or not at all.
  static void copyExtensions(const Function &definition,
                             Function &declaration) {
    for (User *user : declaration.users())
      if (auto *call = dyn_cast<CallBase>(user))
        copyExtensions(definition, *call);
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
  OpenLibraries libraries;
  StringMap<const Library *> nativeSymbols;
};

} // namespace

Expected<std::vector<std::string>>
numera::linkLibraries(Module &module, const Registry &registry,
                      const NamedLibraries &named,
                      const TargetMachine &machine) {
  return LibraryLinker(module, registry, named, machine).run();
}
