// SPDX-License-Identifier: MIT

#include "KernelParts.h"
#include "Support/Fingerprint.h"
#include "numera/Registry/Symbols/VectorForm.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace numera;

/// The name that every contraction has in its part.
static constexpr StringLiteral commonName = "numera.contraction";

using Values = SetVector<GlobalValue *>;

/// Adds the global values that a constant is made of.
static void collect(Value *value, Values &reached) {
  if (auto *global = dyn_cast<GlobalValue>(value))
    reached.insert(global);
  else if (auto *constant = dyn_cast<Constant>(value))
    for (Value *operand : constant->operands())
      collect(operand, reached);
}

/// What the hooks of a contraction are made of, themselves included.
static Values reachedFrom(Module &module, const std::string &name) {
  Values reached;
  for (Function &function : module)
    if (!function.isDeclaration() && function.getName().starts_with(name + "."))
      reached.insert(&function);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (auto *function = dyn_cast<Function>(reached[i])) {
      for (Instruction &instruction : instructions(*function))
        for (Value *operand : instruction.operands())
          collect(operand, reached);
    } else if (auto *variable = dyn_cast<GlobalVariable>(reached[i])) {
      if (variable->hasInitializer())
        collect(variable->getInitializer(), reached);
    }
  }
  return reached;
}

/// True if what is declared is the runtime's, and what is defined is constant.
static bool standsAlone(const Values &reached, const StringSet<> &registered) {
  return all_of(reached, [&](const GlobalValue *value) {
    if (const auto *variable = dyn_cast<GlobalVariable>(value))
      return variable->isConstant() && variable->hasInitializer();
    const auto *function = dyn_cast<Function>(value);
    if (!function || !function->isDeclaration() || function->isIntrinsic())
      return function != nullptr;
    StringRef name = function->getName();
    std::optional<VectorForm> form = VectorForm::parse(name);
    std::string scalar = form ? form->scalar : name.str();
    return StringRef(scalar).starts_with("numera") &&
           !registered.contains(scalar);
  });
}

/// A copy of these values alone.
static std::unique_ptr<Module> copyOf(Module &module, const Values &values) {
  ValueToValueMapTy map;
  std::unique_ptr<Module> copy =
      CloneModule(module, map, [&](const GlobalValue *value) {
        return values.contains(const_cast<GlobalValue *>(value));
      });
  SmallVector<GlobalValue *> others;
  for (GlobalValue &value : copy->global_values())
    if (value.isDeclaration() && value.use_empty())
      others.push_back(&value);
  for (GlobalValue *value : others)
    value->eraseFromParent();
  return copy;
}

/// `numera.contraction.3.row` becomes `numera.contraction.row`.
static void useCommonName(Module &part, const std::string &name) {
  for (Function &function : part)
    if (StringRef hook = function.getName(); hook.consume_front(name + "."))
      function.setName(commonName + "." + hook);
}

static std::string symbolFor(const KernelPart &part) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  WriteBitcodeToFile(*part.module, stream);
  constexpr size_t digits = 32;
  return "numera.kernel." + Fingerprint()
                                .add(part.form.kind)
                                .add(part.form.tile)
                                .add(part.form.preferred)
                                .add(StringRef(bytes.data(), bytes.size()))
                                .digits()
                                .substr(0, digits);
}

/// Has the program call the part; two contractions may be one.
static void redirectCalls(Module &module, const std::string &name,
                          const std::string &symbol) {
  Function *declared = module.getFunction(name);
  if (Function *same = module.getFunction(symbol)) {
    declared->replaceAllUsesWith(same);
    declared->eraseFromParent();
    return;
  }
  declared->setName(symbol);
  declared->setVisibility(GlobalValue::HiddenVisibility);
  declared->setDSOLocal(true);
}

static void eraseHooks(Module &module, const std::string &name) {
  for (Function &function : make_early_inc_range(module))
    if (!function.isDeclaration() &&
        function.getName().starts_with(name + ".") && function.use_empty())
      function.eraseFromParent();
}

std::vector<KernelPart> numera::takeKernelParts(Module &module,
                                                const KernelKinds &kernels,
                                                const Registry &registry,
                                                const TargetMachine &machine) {
  StringSet<> registered;
  for (const Lowering &lowering : registry.lowerings())
    registered.insert(lowering.symbol);
  std::vector<KernelPart> parts;
  for (const auto &[name, kind] : kernels) {
    Values reached = reachedFrom(module, name);
    if (!standsAlone(reached, registered))
      continue;
    KernelPart part{copyOf(module, reached),
                    kernelFormFor(module, name, kind, machine), ""};
    useCommonName(*part.module, name);
    part.symbol = symbolFor(part);
    bool isNew = !module.getFunction(part.symbol);
    redirectCalls(module, name, part.symbol);
    eraseHooks(module, name);
    if (isNew)
      parts.push_back(std::move(part));
  }
  return parts;
}

Error numera::linkKernelPart(KernelPart &part) {
  Module &module = *part.module;
  // The kernel is linked where it is wanted.
  if (!module.getFunction(commonName))
    Function::Create(
        FunctionType::get(Type::getVoidTy(module.getContext()), false),
        GlobalValue::ExternalLinkage, commonName, module);
  if (Error error = linkKernel(module, commonName, part.form))
    return error;
  for (Function &function : module)
    if (!function.isDeclaration()) {
      function.setLinkage(GlobalValue::InternalLinkage);
      function.setDSOLocal(true);
    }
  Function *kernel = module.getFunction(commonName);
  kernel->setName(part.symbol);
  kernel->setLinkage(GlobalValue::ExternalLinkage);
  kernel->setVisibility(GlobalValue::HiddenVisibility);
  return Error::success();
}
