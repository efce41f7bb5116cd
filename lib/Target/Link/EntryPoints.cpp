// SPDX-License-Identifier: MIT
//
// The C entry of a compiled function. For `f`, whose C interface is
// _mlir_ciface_f(results, inputs…, destinations…), the module gets
//
//   @f.info        what numera/Runtime/Entry.h calls FunctionInfo
//   @f.invoke.<v>  unpacks the pointers to the descriptors and calls the
//                  interface, one for each version, in the version's module
//   @f             the entry: numera_host_call(@f.info, its arguments)

#include "EntryPoints.h"

#include "numera/Runtime/Entry.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace numera;

namespace {

class EntryPoints {
public:
  EntryPoints(Module &module, ArrayRef<FunctionSignature> functions)
      : module(module), functions(functions), context(module.getContext()),
        pointer(PointerType::getUnqual(context)),
        i32(Type::getInt32Ty(context)), i64(Type::getInt64Ty(context)) {}

  Error addInvokes(unsigned version, Caller caller) {
    for (const FunctionSignature &signature : functions)
      if (Error error = check(signature))
        return error;
    hideEverything();
    for (const FunctionSignature &signature : functions) {
      GlobalValue *taken = module.getNamedValue(entrySymbol(signature.name));
      if (taken && caller != Caller::Executable)
        return sharedSymbol(signature, *taken);
      makeInvoke(signature, version);
    }
    renameLikeLibraryFunctions();
    return Error::success();
  }

  Error add(const numera::Metadata &metadata, ArrayRef<VersionInfo> versions,
            Caller caller) {
    for (auto [i, signature] : enumerate(functions)) {
      GlobalVariable *info = makeInfo(signature, metadata.seed, versions);
      if (caller != Caller::Executable)
        if (Error error = makeEntry(signature, *info))
          return error;
      if (caller == Caller::Executable && i == 0)
        makeGlobal(info, "numera_main_function", GlobalValue::ExternalLinkage);
    }
    // Weak: objects of several models may be linked into one program.
    if (caller == Caller::Library)
      makeGlobal(ConstantDataArray::getString(context, printMetadata(metadata)),
                 "numera_metadata", GlobalValue::WeakAnyLinkage);
    return Error::success();
  }

private:
  /// LLVM takes a function with the name and type of one of the C library for
  /// that, even an internal one: an `@abs` of the model is no `abs`.
  void renameLikeLibraryFunctions() {
    TargetLibraryInfoImpl library(module.getTargetTriple());
    LibFunc found;
    for (Function &function : module)
      if (!function.isDeclaration() && library.getLibFunc(function, found))
        function.setName("numera.own." + function.getName());
  }

  Function *interfaceOf(const FunctionSignature &signature) {
    return module.getFunction("_mlir_ciface_" + signature.name);
  }

  static size_t destinationsOf(const FunctionSignature &signature) {
    return size_t(count_if(signature.outputs, [](const auto &output) {
      return output.isDestination;
    }));
  }
  static bool returnsResults(const FunctionSignature &signature) {
    return destinationsOf(signature) < signature.outputs.size();
  }

  /// The interface takes and gives nothing but tensors.
  Error check(const FunctionSignature &signature) {
    Function *interface = interfaceOf(signature);
    if (!interface || interface->isDeclaration())
      return createStringError("function '" + signature.name +
                               "' has no C interface; it needs the attribute "
                               "llvm.emit_c_interface");
    SmallVector<Type *> expected(
        signature.inputs.size() + (returnsResults(signature) ? 1 : 0), pointer);
    expected.append(signature.takesSeed ? 3 : 0, i64);
    expected.append(destinationsOf(signature), pointer);
    bool matches = interface->getFunctionType() ==
                   FunctionType::get(Type::getVoidTy(context), expected, false);
    if (!matches)
      return createStringError(
          "function '" + signature.name +
          "' cannot be called from outside: its inputs and outputs have to be "
          "ranked tensors or memrefs");
    auto ranks = [&](ArrayRef<TensorSignature> tensors) {
      return all_of(tensors, [](const TensorSignature &tensor) {
        return tensor.shape.size() <= NUMERA_MAX_RANK;
      });
    };
    if (!ranks(signature.inputs) || !ranks(signature.outputs))
      return createStringError("function '" + signature.name +
                               "' has a tensor of more than " +
                               Twine(NUMERA_MAX_RANK) + " dimensions");
    return Error::success();
  }

  /// Nothing that the module defines so far is called from outside.
  void hideEverything() {
    StringMap<bool> symbols;
    for (const FunctionSignature &signature : functions)
      symbols[entrySymbol(signature.name)] = true;
    for (GlobalValue &value : module.global_values()) {
      if (value.isDeclaration())
        continue;
      value.setLinkage(GlobalValue::InternalLinkage);
      value.setVisibility(GlobalValue::DefaultVisibility);
      value.setDSOLocal(true);
      if (symbols.contains(value.getName()))
        value.setName(value.getName() + ".body");
    }
  }

  GlobalVariable *makeGlobal(Constant *value, const Twine &name,
                             GlobalValue::LinkageTypes linkage) {
    return new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                              linkage, value, name);
  }
  Constant *makeString(StringRef text) {
    return makeGlobal(ConstantDataArray::getString(context, text), "name",
                      GlobalValue::PrivateLinkage);
  }
  Constant *number(uint64_t value) { return ConstantInt::get(i64, value); }

  /// Null for what is no destination.
  Constant *makeSources(const TensorSignature &tensor) {
    if (!tensor.isDestination)
      return ConstantPointerNull::get(pointer);
    SmallVector<uint32_t> numbers;
    for (TensorSignature::Source source : tensor.sources)
      numbers.append({uint32_t(source.input), uint32_t(source.dimension)});
    return makeGlobal(ConstantDataArray::get(context, numbers), "sources",
                      GlobalValue::PrivateLinkage);
  }

  Constant *makeTensors(ArrayRef<TensorSignature> tensors) {
    auto *type =
        StructType::get(context, {pointer, pointer, pointer, i32, i32});
    SmallVector<Constant *> infos;
    for (const TensorSignature &tensor : tensors) {
      SmallVector<uint64_t> shape(tensor.shape.begin(), tensor.shape.end());
      infos.push_back(ConstantStruct::get(
          type,
          {makeString(tensor.name),
           makeGlobal(ConstantDataArray::get(context, shape), "shape",
                      GlobalValue::PrivateLinkage),
           makeSources(tensor), ConstantInt::get(i32, uint64_t(tensor.dtype)),
           ConstantInt::get(i32, tensor.shape.size())}));
    }
    return makeGlobal(
        ConstantArray::get(ArrayType::get(type, infos.size()), infos),
        "tensors", GlobalValue::PrivateLinkage);
  }

  Constant *makeVersions(const FunctionSignature &signature,
                         ArrayRef<VersionInfo> versions) {
    auto *type = StructType::get(context, {pointer, i64, pointer});
    SmallVector<Constant *> infos;
    for (auto [i, version] : enumerate(versions))
      infos.push_back(ConstantStruct::get(
          type, {makeString(version.cpu), number(version.features),
                 declareInvoke(signature, unsigned(i))}));
    return makeGlobal(
        ConstantArray::get(ArrayType::get(type, infos.size()), infos),
        "versions", GlobalValue::PrivateLinkage);
  }

  GlobalVariable *makeInfo(const FunctionSignature &signature, uint64_t seed,
                           ArrayRef<VersionInfo> versions) {
    return makeGlobal(
        ConstantStruct::getAnon(
            {makeString(signature.name), makeTensors(signature.inputs),
             makeTensors(signature.outputs), number(signature.inputs.size()),
             number(signature.outputs.size()), number(signature.sharesBatch),
             number(seed), makeVersions(signature, versions),
             number(versions.size())}),
        signature.name + ".info", GlobalValue::InternalLinkage);
  }

  Function *declareInvoke(const FunctionSignature &signature,
                          unsigned version) {
    auto *type = FunctionType::get(Type::getVoidTy(context),
                                   {pointer, pointer, i64, i64, i64}, false);
    Function *invoke =
        Function::Create(type, GlobalValue::ExternalLinkage,
                         signature.name + ".invoke." + Twine(version), module);
    invoke->setVisibility(GlobalValue::HiddenVisibility);
    return invoke;
  }

  /// Not to be inlined: the floating-point environment changes around the call,
  /// and no arithmetic may move across.
  void makeInvoke(const FunctionSignature &signature, unsigned version) {
    Function *invoke = declareInvoke(signature, version);
    invoke->addFnAttr(Attribute::NoInline);
    invoke->addFnAttr(Attribute::NoUnwind);
    IRBuilder<> builder(BasicBlock::Create(context, "", invoke));
    auto argument = [&](size_t i) {
      return builder.CreateLoad(pointer, builder.CreateConstInBoundsGEP1_64(
                                             pointer, invoke->getArg(0), i));
    };
    size_t inputs = signature.inputs.size();
    SmallVector<Value *> arguments;
    if (returnsResults(signature))
      arguments.push_back(invoke->getArg(1));
    for (size_t i = 0; i < inputs; ++i)
      arguments.push_back(argument(i));
    for (unsigned i = 2; signature.takesSeed && i < 5; ++i)
      arguments.push_back(invoke->getArg(i));
    for (size_t i = 0; i < destinationsOf(signature); ++i)
      arguments.push_back(argument(inputs + i));
    builder.CreateCall(interfaceOf(signature), arguments);
    builder.CreateRetVoid();
  }

  static Error sharedSymbol(const FunctionSignature &signature,
                            const GlobalValue &taken) {
    return createStringError("functions '" + signature.name +
                             "' and another share the symbol '" +
                             taken.getName() + "'; rename one");
  }

  Error makeEntry(const FunctionSignature &signature, GlobalVariable &info) {
    std::string symbol = entrySymbol(signature.name);
    if (GlobalValue *taken = module.getNamedValue(symbol))
      return sharedSymbol(signature, *taken);
    SmallVector<Type *> types = {pointer, i64,     pointer, i64,
                                 pointer, pointer, i64};
    Function *entry =
        Function::Create(FunctionType::get(i32, types, false),
                         GlobalValue::ExternalLinkage, symbol, module);
    entry->addFnAttr(Attribute::NoUnwind);
    SmallVector<Value *> arguments = {&info};
    for (Argument &argument : entry->args())
      arguments.push_back(&argument);
    types.insert(types.begin(), pointer);
    FunctionCallee host = module.getOrInsertFunction(
        "numera_host_call", FunctionType::get(i32, types, false));
    IRBuilder<> builder(BasicBlock::Create(context, "", entry));
    builder.CreateRet(builder.CreateCall(host, arguments));
    return Error::success();
  }

  Module &module;
  ArrayRef<FunctionSignature> functions;
  LLVMContext &context;
  PointerType *pointer;
  Type *i32, *i64;
};

} // namespace

Error numera::addInvokes(Module &module, ArrayRef<FunctionSignature> functions,
                         unsigned version, Caller caller) {
  return EntryPoints(module, functions).addInvokes(version, caller);
}

Error numera::addEntryPoints(Module &module, const numera::Metadata &metadata,
                             ArrayRef<VersionInfo> versions, Caller caller) {
  return EntryPoints(module, metadata.functions)
      .add(metadata, versions, caller);
}
