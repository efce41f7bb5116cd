// SPDX-License-Identifier: MIT
//
// A runtime entry holds every path for every format of its family: thousands
// of instructions, which the inliner rightly refuses, though a call's constant
// parameters leave a few dozen. So the constants come first:
//
//   call @numera_posit_add_16(%a, %b, 16, 2, 0)
//     becomes
//   call @numera_posit_add_16.16.2.0(%a, %b)
//
// where the callee is the entry with its parameters replaced and simplified,
// after the inliner's fashion: what they exclude is not copied.
// What is nearly straight-line then is inlined everywhere, so that loops
// vectorise; the rest is left to the inliner. A copy is shared by all its
// calls: the cost is one simplification for each operation and format of a
// module.
//
// A vector form (VectorForms.h) becomes the widened copy, under the constants
// of its calls. What is not straight, an elementary function with its rare
// exact form, offers its vector form to the loops that call it.

#include "Specialize.h"
#include "SlowBlocks.h"
#include "VectorForms.h"
#include "VectorVariants.h"
#include "Widen.h"
#include "numera/Registry/Symbols/Lookup.h"
#include "numera/Registry/Symbols/PackedLoad.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/BDCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace numera;

namespace {

/// The constants of a call, by position; null where the argument is a value.
using Constants = SmallVector<ConstantInt *, 12>;

/// The entries of one family. Those of numera_exact_ have nothing to prune.
bool isRuntimeEntry(const Function &function) {
  StringRef name = function.getName();
  return name.starts_with("numera_") && !name.starts_with("numera_exact_") &&
         !name.starts_with(lookupPrefix) &&
         !name.starts_with(packedLoadPrefix) && !function.isDeclaration();
}

Constants constantsOf(const CallBase &call) {
  Constants constants;
  for (const Use &argument : call.args())
    constants.push_back(dyn_cast<ConstantInt>(argument.get()));
  return constants;
}

std::string nameFor(const Function &entry, ArrayRef<ConstantInt *> constants) {
  std::string name = entry.getName().str();
  for (ConstantInt *constant : constants)
    if (constant && constant->getBitWidth() == 32)
      name += "." + std::to_string(constant->getSExtValue());
  return name;
}

/// A function of the arguments that are values, without a body yet.
Function *declareCopy(Function &entry, ArrayRef<ConstantInt *> constants) {
  SmallVector<Type *> types;
  SmallVector<AttributeSet> attributes;
  AttributeList all = entry.getAttributes();
  for (auto [argument, constant] : zip_equal(entry.args(), constants))
    if (!constant) {
      types.push_back(argument.getType());
      attributes.push_back(all.getParamAttrs(argument.getArgNo()));
    }
  auto *copy = Function::Create(
      FunctionType::get(entry.getReturnType(), types, entry.isVarArg()),
      GlobalValue::InternalLinkage, nameFor(entry, constants),
      entry.getParent());
  copy->setDSOLocal(true);
  copy->setCallingConv(entry.getCallingConv());
  copy->setAttributes(AttributeList::get(entry.getContext(), all.getFnAttrs(),
                                         all.getRetAttrs(), attributes));
  copy->removeFnAttr(Attribute::OptimizeNone);
  copy->removeFnAttr(Attribute::NoInline);
  return copy;
}

/// The same with the entry's body, as the inliner copies it: what the constants
/// exclude at first sight, most of it, is not even looked at. False where it
/// does not do that.
bool inlineInto(Function &copy, Function &entry,
                ArrayRef<ConstantInt *> constants) {
  IRBuilder<> builder(BasicBlock::Create(entry.getContext(), "", &copy));
  SmallVector<Value *> operands;
  Argument *next = copy.arg_begin();
  for (ConstantInt *constant : constants)
    operands.push_back(constant ? static_cast<Value *>(constant) : next++);
  CallInst *call = builder.CreateCall(&entry, operands);
  call->setCallingConv(entry.getCallingConv());
  bool returns = !entry.getReturnType()->isVoidTy();
  builder.CreateRet(returns ? call : nullptr);
  InlineFunctionInfo info;
  return InlineFunction(*call, info).isSuccess();
}

/// A function of the arguments that are values, whose body is the entry's.
Function *copyWith(Function &entry, ArrayRef<ConstantInt *> constants) {
  Function *copy = declareCopy(entry, constants);
  if (inlineInto(*copy, entry, constants))
    return copy;
  copy->deleteBody();
  ValueToValueMapTy map;
  Argument *next = copy->arg_begin();
  for (auto [argument, constant] : zip_equal(entry.args(), constants))
    map[&argument] = constant ? static_cast<Value *>(constant) : next++;
  SmallVector<ReturnInst *> returns;
  CloneFunctionInto(copy, &entry, map,
                    CloneFunctionChangeType::LocalChangesOnly, returns);
  copy->setLinkage(GlobalValue::InternalLinkage);
  return copy;
}

void redirect(CallBase &call, Function &copy,
              ArrayRef<ConstantInt *> constants) {
  SmallVector<Value *> operands;
  for (auto [argument, constant] : zip_equal(call.args(), constants))
    if (!constant)
      operands.push_back(argument.get());
  IRBuilder<> builder(&call);
  CallInst *replacement = builder.CreateCall(&copy, operands);
  replacement->setAttributes(
      copy.getAttributes().removeFnAttributes(call.getContext()));
  call.replaceAllUsesWith(replacement);
  call.eraseFromParent();
}

/// Prunes what the constants exclude. Two rounds: the first frees the format
/// struct from memory, and only then are most branches constant.
FunctionPassManager pruning() {
  FunctionPassManager passes;
  for (int round = 0; round < 2; ++round) {
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(EarlyCSEPass());
    passes.addPass(SCCPPass());
    passes.addPass(BDCEPass());
    passes.addPass(SimplifyCFGPass());
    passes.addPass(InstCombinePass());
  }
  // Both sides of what is left are cheap and without effects; a loop can only
  // become a vector loop over selects.
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()
                                     .convertSwitchRangeToICmp(true)
                                     .convertSwitchToLookupTable(true)
                                     .hoistCommonInsts(true)
                                     .sinkCommonInsts(true)
                                     .bonusInstThreshold(8)));
  passes.addPass(InstCombinePass());
  return passes;
}

/// Calls of what is defined give way to its body, so that the function can be
/// pruned and widened as one: a user's helpers, and what clang did not inline
/// into an entry. What calls itself, or becomes too large, keeps calls; so do
/// the exact forms, which have nothing to prune, and conversions of which the
/// vectoriser has a better form.
void inlineCalls(Function &function) {
  constexpr unsigned maxInstructions = 10000;
  // A call, and the functions in whose bodies it came.
  using Origin = SmallVector<const Function *, 4>;
  SmallVector<std::pair<CallBase *, Origin>> calls;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallInst>(&instruction))
      calls.push_back({call, {}});
  while (!calls.empty()) {
    auto [call, origin] = calls.pop_back_val();
    Function *callee = call->getCalledFunction();
    if (!callee || callee->isDeclaration() || is_contained(origin, callee) ||
        callee->getName().starts_with("numera_exact_") ||
        isBfloatConversion(cast<CallInst>(*call)))
      continue;
    InlineFunctionInfo info;
    if (function.getInstructionCount() > maxInstructions ||
        !InlineFunction(*call, info).isSuccess())
      continue;
    origin.push_back(callee);
    for (CallBase *inlined : info.InlinedCallSites)
      calls.push_back({inlined, origin});
  }
}

class Specializer {
public:
  Specializer(Module &module, TargetMachine &machine)
      : module(module), machine(machine), builder(&machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  void run() {
    redirectCalls(
        [](const Function &function) {
          return numera::scalarOf(function) != nullptr;
        },
        [this](Function &form, ArrayRef<ConstantInt *> constants) {
          return vectorCopy(form, constants);
        });
    for (Function &function : make_early_inc_range(module))
      if (numera::scalarOf(function) && function.use_empty())
        function.eraseFromParent();
    redirectCalls(isRuntimeEntry,
                  [this](Function &entry, ArrayRef<ConstantInt *> constants) {
                    // One of another entry, which waits for its own constants.
                    if (none_of(constants, [](auto *c) { return c; }))
                      return static_cast<Function *>(nullptr);
                    Function *copy = scalarCopy(entry, constants);
                    if (!copy->hasFnAttribute(Attribute::AlwaysInline))
                      offerForm(*copy);
                    return copy;
                  });
    // The entries, and what only they call.
    GlobalDCEPass().run(module, modules);
  }

private:
  using Copies = DenseMap<std::pair<Function *, Constants>, Function *>;

  /// Sends the calls of each function in question to its copy, if there is one.
  void redirectCalls(
      function_ref<bool(const Function &)> isInQuestion,
      function_ref<Function *(Function &, ArrayRef<ConstantInt *>)> copyOf) {
    MapVector<std::pair<Function *, Constants>, SmallVector<CallBase *>> calls;
    for (Function &function : module)
      if (isInQuestion(function))
        for (User *user : function.users())
          if (auto *call = dyn_cast<CallInst>(user);
              call && call->getCalledFunction() == &function)
            calls[{&function, constantsOf(*call)}].push_back(call);
    for (auto &[key, users] : calls)
      if (Function *copy = copyOf(*key.first, key.second))
        for (CallBase *call : users)
          redirect(*call, *copy, key.second);
  }

  Function *scalarCopy(Function &entry, ArrayRef<ConstantInt *> constants) {
    Function *&copy = copies[{&entry, Constants(constants)}];
    if (copy)
      return copy;
    copy = copyWith(entry, constants);
    inlineCalls(*copy);
    passes.run(*copy, functions);
    if (numera::isStraight(*copy))
      copy->addFnAttr(Attribute::AlwaysInline);
    return copy;
  }

  /// A loop over what is not straight, an elementary function with its rare
  /// exact form, can call the vector form.
  void offerForm(Function &copy) {
    bool takesAddress = any_of(copy.args(), [](const Argument &argument) {
      return argument.getType()->isPointerTy();
    });
    // A GPU has no vectors.
    if (takesAddress || copy.arg_empty() || machine.getTargetTriple().isNVPTX())
      return;
    unsigned lanes = widestVectorArgument(machine) / 32;
    SmallVector<bool> isVector(copy.arg_size(), true);
    if (Function *form = widen(copy, lanes, isVector)) {
      // Inlined, it would not be found.
      copy.addFnAttr(Attribute::NoInline);
      offerVectorForm(copy, *form, lanes);
    }
  }

  Function *vectorCopy(Function &form, ArrayRef<ConstantInt *> constants) {
    Function *scalar = numera::scalarOf(form);
    unsigned lanes =
        cast<FixedVectorType>(form.getReturnType())->getNumElements();
    if (scalar->hasFnAttribute(VFABI::MappingsAttrName))
      if (Function *variant = callVariant(*scalar, *form.getFunctionType()))
        return variant;
    if (scalar->isDeclaration())
      return nullptr;
    SmallVector<bool> isVector;
    for (auto [argument, constant] : zip_equal(form.args(), constants))
      if (!constant)
        isVector.push_back(argument.getType()->isVectorTy());
    Function *copy = scalarCopy(*scalar, constants);
    return numera::widen(*copy, lanes, isVector);
  }

  Module &module;
  const TargetMachine &machine;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  FunctionPassManager passes = pruning();
  Copies copies;
};

} // namespace

bool numera::isStraight(const Function &function) {
  constexpr unsigned maxBlocks = 8, maxInstructions = 400;
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> backEdges;
  FindFunctionBackedges(function, backEdges);
  return function.size() <= maxBlocks && backEdges.empty() &&
         function.getInstructionCount() <= maxInstructions &&
         none_of(instructions(function), [](const Instruction &instruction) {
           auto *call = dyn_cast<CallInst>(&instruction);
           return isa<CallBase>(instruction) &&
                  !isa<IntrinsicInst>(instruction) &&
                  !(call && isBfloatConversion(*call));
         });
}

void numera::specializeRuntimeCalls(Module &module, TargetMachine &machine) {
  // Entries that a copy calls are inlined in it: one sweep is enough.
  Specializer(module, machine).run();
}
