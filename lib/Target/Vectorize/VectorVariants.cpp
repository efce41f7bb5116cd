// SPDX-License-Identifier: MIT
//
// The attribute `vector-function-abi-variant` of a scalar function names
// functions on vectors, `_ZGV_LLVM_N16vv_add(add_16)`: with or without a mask
// (M, N), lanes, arguments, scalar function, vector function. LLVM's vectoriser
// looks there, and in the module for the function.
//
// A variant on vectors is called as it is. One on arrays gets a caller for each
// number of lanes:
//
//   define internal <16 x i16> @add_n.16(<16 x i16> %x, <16 x i16> %y)
//     store %x, %y to the stack; call @add_n(results, x, y, 16); load results
//
// A loop that is vectorised with masks, down to its last elements, needs
// variants with masks. A function has a result for every code, so lanes that
// are off get the code 0.

#include "VectorVariants.h"
#include "numera/Registry/Symbols/VectorForm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace numera;

/// What the variants of this file are marked with until they are found in use.
static constexpr StringLiteral variantMark = "numera-vector-variant";

unsigned numera::widestVectorArgument(const TargetMachine &machine) {
  const MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86())
    return 128;
  return subtarget.checkFeatures("+avx512f") ? 512
         : subtarget.checkFeatures("+avx")   ? 256
                                             : 128;
}

/// The scalar function's type, on vectors.
static FunctionType *typeOnLanes(const Function &scalar, unsigned lanes) {
  SmallVector<Type *> arguments;
  for (Type *type : scalar.getFunctionType()->params())
    arguments.push_back(FixedVectorType::get(type, lanes));
  return FunctionType::get(FixedVectorType::get(scalar.getReturnType(), lanes),
                           arguments, /*isVarArg=*/false);
}

static void setArithmetic(Function &function) {
  function.setDoesNotThrow();
  function.setWillReturn();
  function.addFnAttr(Attribute::NoFree);
  function.addFnAttr(Attribute::NoSync);
  function.addFnAttr(Attribute::NoCallback);
}

/// `_ZGV_LLVM_N16vv_add`
static std::string nameOfForm(const Function &scalar, unsigned lanes,
                              StringRef arguments, bool isMasked) {
  return ("_ZGV_LLVM_" + Twine(isMasked ? "M" : "N") + Twine(lanes) +
          arguments + "_" + scalar.getName())
      .str();
}

void numera::keepForVectoriser(Function &function) {
  function.addFnAttr(variantMark);
  appendToCompilerUsed(*function.getParent(), {&function});
}

bool numera::isVariant(const Function &function) {
  return function.hasFnAttribute(variantMark);
}

void numera::nameVariant(Function &scalar, Function &variant, unsigned lanes,
                         StringRef arguments, bool isMasked) {
  keepForVectoriser(variant);
  std::string names =
      scalar.getFnAttribute(VFABI::MappingsAttrName).getValueAsString().str();
  names += names.empty() ? "" : ",";
  names += nameOfForm(scalar, lanes, arguments, isMasked) + "(" +
           variant.getName().str() + ")";
  scalar.addFnAttr(VFABI::MappingsAttrName, names);
}

static void offer(Function &scalar, Function &variant, unsigned lanes,
                  bool isMasked) {
  setArithmetic(variant);
  variant.setDoesNotAccessMemory();
  nameVariant(scalar, variant, lanes, std::string(scalar.arg_size(), 'v'),
              isMasked);
}

static Function *internalFunction(Function &scalar, FunctionType *type,
                                  const Twine &name) {
  Function *function = Function::Create(type, GlobalValue::InternalLinkage,
                                        name, scalar.getParent());
  // The vectors of an internal function go as its target has them.
  for (const Function &other : *scalar.getParent())
    if (!other.isDeclaration() && other.hasFnAttribute("target-cpu")) {
      for (StringRef attribute :
           {"target-cpu", "target-features", "prefer-vector-width"})
        if (other.hasFnAttribute(attribute))
          function->addFnAttr(other.getFnAttribute(attribute));
      break;
    }
  return function;
}

/// The function `variant` on arrays, on vectors.
static Function *callOnArrays(Function &scalar, const std::string &name,
                              unsigned lanes) {
  Module &module = *scalar.getParent();
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::getUnqual(context);
  Type *length = module.getDataLayout().getIntPtrType(context);
  SmallVector<Type *> types(scalar.arg_size() + 1, pointer);
  types.push_back(length);
  FunctionCallee variant = module.getOrInsertFunction(
      name, FunctionType::get(Type::getVoidTy(context), types, false));
  if (auto *function = dyn_cast<Function>(variant.getCallee())) {
    setArithmetic(*function);
    function->setOnlyAccessesArgMemory();
  }

  Function *caller = internalFunction(scalar, typeOnLanes(scalar, lanes),
                                      name + "." + Twine(lanes));
  IRBuilder<> builder(BasicBlock::Create(context, "", caller));
  Value *results = builder.CreateAlloca(caller->getReturnType());
  SmallVector<Value *> arguments = {results};
  for (Argument &argument : caller->args())
    arguments.push_back(builder.CreateAlloca(argument.getType()));
  for (auto [argument, slot] : zip_equal(caller->args(), drop_begin(arguments)))
    builder.CreateStore(&argument, slot);
  arguments.push_back(ConstantInt::get(length, lanes));
  builder.CreateCall(variant, arguments);
  builder.CreateRet(builder.CreateLoad(caller->getReturnType(), results));
  return caller;
}

/// The same function with a mask as its last argument.
static Function *callUnderMask(Function &scalar, Function &variant,
                               unsigned lanes) {
  LLVMContext &context = variant.getContext();
  SmallVector<Type *> types(variant.getFunctionType()->params());
  types.push_back(FixedVectorType::get(Type::getInt1Ty(context), lanes));
  Function *masked = internalFunction(
      scalar, FunctionType::get(variant.getReturnType(), types, false),
      variant.getName() + ".masked");
  IRBuilder<> builder(BasicBlock::Create(context, "", masked));
  Value *mask = masked->getArg(masked->arg_size() - 1);
  SmallVector<Value *> arguments;
  for (Argument &argument : drop_end(masked->args()))
    arguments.push_back(builder.CreateSelect(
        mask, &argument, Constant::getNullValue(argument.getType())));
  builder.CreateRet(builder.CreateCall(&variant, arguments));
  return masked;
}

void numera::offerVectorForm(Function &scalar, Function &form, unsigned lanes) {
  // A call that may write, or not return, would keep its loop scalar.
  setArithmetic(scalar);
  scalar.setDoesNotAccessMemory();
  offer(scalar, form, lanes, /*isMasked=*/false);
  offer(scalar, *callUnderMask(scalar, form, lanes), lanes, /*isMasked=*/true);
}

void numera::addVectorVariant(Function &scalar, const VectorVariant &variant,
                              unsigned widest) {
  Module &module = *scalar.getParent();
  auto offerBoth = [&](Function &function, unsigned lanes) {
    offer(scalar, function, lanes, /*isMasked=*/false);
    offer(scalar, *callUnderMask(scalar, function, lanes), lanes,
          /*isMasked=*/true);
  };
  if (variant.lanes == 0) {
    for (unsigned lanes : {4, 8, 16, 32, 64})
      offerBoth(*callOnArrays(scalar, variant.symbol, lanes), lanes);
  } else {
    FunctionType *type = typeOnLanes(scalar, variant.lanes);
    auto isPassable = [&](Type *vector) {
      return vector->getPrimitiveSizeInBits() <= widest;
    };
    if (!all_of(type->params(), isPassable) ||
        !isPassable(type->getReturnType()))
      return;
    FunctionCallee callee = module.getOrInsertFunction(variant.symbol, type);
    offerBoth(*cast<Function>(callee.getCallee()), variant.lanes);
  }
}

/// Of the variants without a mask, with these arguments, the one with the most
/// lanes that divide `lanes`.
static std::pair<Function *, unsigned>
findVariant(const Function &scalar, ArrayRef<bool> isVector, unsigned lanes) {
  std::pair<Function *, unsigned> found = {nullptr, 0};
  StringRef names =
      scalar.getFnAttribute(VFABI::MappingsAttrName).getValueAsString();
  for (StringRef each : split(names, ',')) {
    auto [name, vector] = each.split('(');
    std::optional<VectorForm> form = VectorForm::parse(name);
    if (form && ArrayRef(form->isVector) == isVector &&
        lanes % form->lanes == 0 && form->lanes > found.second)
      found = {scalar.getParent()->getFunction(vector.drop_back()),
               form->lanes};
  }
  return found;
}

Function *numera::callVariant(Function &scalar, FunctionType &type) {
  unsigned lanes =
      cast<FixedVectorType>(type.getReturnType())->getNumElements();
  SmallVector<bool> isVector;
  for (Type *argument : type.params())
    isVector.push_back(argument->isVectorTy());
  auto [variant, step] = findVariant(scalar, isVector, lanes);
  if (!variant)
    return nullptr;
  Function *form = internalFunction(
      scalar, &type, variant->getName() + "." + Twine(lanes) + ".form");
  form->addFnAttr(Attribute::AlwaysInline);
  IRBuilder<> builder(BasicBlock::Create(form->getContext(), "", form));
  SmallVector<Value *> results;
  for (unsigned first = 0; first < lanes; first += step) {
    SmallVector<Value *> arguments;
    for (Argument &argument : form->args())
      arguments.push_back(
          argument.getType()->isVectorTy()
              ? builder.CreateShuffleVector(
                    &argument, createSequentialMask(first, step, 0))
              : &argument);
    results.push_back(builder.CreateCall(variant, arguments));
  }
  builder.CreateRet(concatenateVectors(builder, results));
  return form;
}

void numera::dropUnusedVariants(Module &module) {
  removeFromUsedLists(module, [](Constant *value) {
    auto *function = dyn_cast<Function>(value->stripPointerCasts());
    return function && function->hasFnAttribute(variantMark);
  });
  // A masked one may be the only user of another.
  bool changed = true;
  while (changed) {
    changed = false;
    for (Function &function : make_early_inc_range(module)) {
      if (!function.hasFnAttribute(variantMark))
        continue;
      function.removeDeadConstantUsers();
      if (function.use_empty()) {
        function.eraseFromParent();
        changed = true;
      }
    }
  }
}
