// SPDX-License-Identifier: MIT
//
// Compiles kernels from the LLVM dialect to an optimised LLVM module. The
// arithmetic is the runtime's, compiled for the device from the same sources as
// for the CPU. Its functions are specialised for constant parameters and
// inlined, as on the CPU.

#include "Device.h"
#include "Codegen/Tuning.h"
#include "Libraries/LinkLibraries.h"
#include "Link/Kernels.h"
#include "Link/LinkRuntime.h"
#include "Peephole/Optimize.h"
#include "Support/Process.h"
#include "Vectorize/HalfConversions.h"
#include "Vectorize/Specialize.h"
#include "numera/Registry/Symbols/VectorForm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace numera;

static Expected<std::unique_ptr<Module>>
translate(mlir::gpu::GPUModuleOp kernels, LLVMContext &context) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerGPUDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  kernels.getContext()->appendDialectRegistry(registry);
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module)
    return createStringError("cannot translate the kernels to LLVM IR");
  return module;
}

static NamedLibraries librariesOf(mlir::gpu::GPUModuleOp kernels) {
  NamedLibraries named;
  for (auto function : kernels.getOps<mlir::LLVM::LLVMFuncOp>())
    if (auto library =
            function->getAttrOfType<mlir::StringAttr>("numera.library"))
      named[function.getName()] = library.str();
  return named;
}

/// Functions of the C library that clang has as intrinsics: the device has none
/// of them, or an approximation.
static bool isElementary(Intrinsic::ID intrinsic) {
  return is_contained(
      {Intrinsic::acos,  Intrinsic::asin,  Intrinsic::atan,   Intrinsic::atan2,
       Intrinsic::cos,   Intrinsic::cosh,  Intrinsic::exp,    Intrinsic::exp10,
       Intrinsic::exp2,  Intrinsic::frexp, Intrinsic::ldexp,  Intrinsic::log,
       Intrinsic::log10, Intrinsic::log2,  Intrinsic::modf,   Intrinsic::pow,
       Intrinsic::powi,  Intrinsic::sin,   Intrinsic::sincos, Intrinsic::sinh,
       Intrinsic::tan,   Intrinsic::tanh},
      intrinsic);
}

/// What these refer to, and what that refers to.
static SmallPtrSet<const Constant *, 32>
referencesOf(SmallVector<const Constant *> open) {
  SmallPtrSet<const Constant *, 32> found;
  while (!open.empty()) {
    const Constant *next = open.pop_back_val();
    if (!found.insert(next).second)
      continue;
    auto follow = [&](const User &user) {
      for (const Value *operand : user.operands())
        if (const auto *constant = dyn_cast<Constant>(operand))
          open.push_back(constant);
    };
    follow(*next);
    if (const auto *function = dyn_cast<Function>(next))
      for (const Instruction &instruction : instructions(*function))
        follow(instruction);
  }
  return found;
}

/// What would run when a program is loaded; nullptr: nothing.
static ConstantArray *constructorsOf(const Module &module) {
  GlobalVariable *list = module.getGlobalVariable("llvm.global_ctors");
  return list ? dyn_cast<ConstantArray>(list->getInitializer()) : nullptr;
}

static Constant *constructorOf(const Use &entry) {
  return cast<Constant>(cast<ConstantStruct>(entry)->getOperand(1));
}

/// Nothing runs a library's constructors on a device. Those that set nothing
/// that kernels read go, as the one of <iostream>.
static void dropIdleConstructors(Module &module) {
  ConstantArray *entries = constructorsOf(module);
  if (!entries)
    return;
  SmallVector<const Constant *> kernels;
  for (const Function &function : module)
    if (function.getCallingConv() == CallingConv::PTX_Kernel)
      kernels.push_back(&function);
  auto read = referencesOf(kernels);
  SmallVector<Constant *> kept;
  for (const Use &entry : entries->operands())
    if (any_of(referencesOf({constructorOf(entry)}), [&](const Constant *set) {
          const auto *variable = dyn_cast<GlobalVariable>(set);
          return variable && !variable->isConstant() && read.contains(variable);
        }))
      kept.push_back(cast<Constant>(entry));
  GlobalVariable *list = module.getGlobalVariable("llvm.global_ctors");
  if (!kept.empty()) {
    auto *type = ArrayType::get(kept.front()->getType(), kept.size());
    auto *rest =
        new GlobalVariable(module, type, list->isConstant(), list->getLinkage(),
                           ConstantArray::get(type, kept));
    rest->takeName(list);
  }
  list->eraseFromParent();
}

/// Those that are left were too much to be run by the compiler.
static Error checkConstructors(const Module &module) {
  ConstantArray *entries = constructorsOf(module);
  if (!entries)
    return Error::success();
  return createStringError("the constructor '" +
                           constructorOf(entries->getOperandUse(0))->getName() +
                           "' of a library writes data that kernels read, but "
                           "does not run on target "
                           "nvptx: define constants instead");
}

/// What a library calls and the device does not have: a CPU's instructions, the
/// C library.
static Error checkCalls(const Module &module) {
  for (const Function &function : module) {
    bool isForeign = function.isIntrinsic()
                         ? function.getName().starts_with("llvm.x86.") ||
                               isElementary(function.getIntrinsicID())
                         : function.isDeclaration();
    if (!isForeign || function.use_empty())
      continue;
    std::string callers;
    for (const User *user : function.users())
      if (const auto *call = dyn_cast<CallBase>(user))
        callers = call->getFunction()->getName().str();
    StringRef name = function.getName();
    if (isElementary(function.getIntrinsicID())) { // llvm.exp2.f64
      name.consume_front("llvm.");
      name = name.split('.').first;
    }
    return createStringError("'" + name +
                             "' is not there on target nvptx, but '" + callers +
                             "' calls it");
  }
  return Error::success();
}

/// C's long double, of which a library's source has the one of the CPU.
static Error checkTypes(const Module &module) {
  auto isForeign = [](const Value *value) {
    Type *type = value->getType()->getScalarType();
    return type->isX86_FP80Ty() || type->isFP128Ty();
  };
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (isForeign(&instruction) || any_of(instruction.operands(), isForeign))
        return createStringError("'long double' is not there on target nvptx, "
                                 "but '" +
                                 function.getName() + "' computes in it");
  return Error::success();
}

/// Of the factors that kernels multiply by matrix instructions the fewest; 0
/// where there are none.
static unsigned factorBitsOf(mlir::gpu::GPUModuleOp kernels) {
  unsigned fewest = 0;
  for (auto function : kernels.getOps<mlir::LLVM::LLVMFuncOp>())
    if (auto kind = function->getAttrOfType<mlir::StringAttr>("numera.kernel"))
      if (StringRef bits = kind.getValue(); bits.consume_front("tensor"))
        fewest = bits == "8" || fewest == 8 ? 8 : 16;
  return fewest;
}

static KernelNeeds needsOf(mlir::gpu::GPUModuleOp kernels) {
  auto functions = kernels.getOps<mlir::LLVM::LLVMFuncOp>();
  return {factorBitsOf(kernels), any_of(functions, [](auto function) {
            return VectorForm::parse(function.getName()).has_value();
          })};
}

/// Only kernels are called from outside.
static void hideFunctions(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration() &&
        function.getCallingConv() != CallingConv::PTX_Kernel)
      function.setLinkage(GlobalValue::InternalLinkage);
}

/// A call of the runtime that stays one takes registers to memory and back:
/// what few places call is inlined there, even if it is long. LLVM would weigh
/// each call by itself.
static void inlineFewCalls(Module &module) {
  constexpr uint64_t mostInstructions = 20000; // of a function in all places
  for (Function &function : module) {
    if (function.isDeclaration() || !function.hasLocalLinkage() ||
        function.hasFnAttribute(Attribute::NoInline) ||
        function.hasFnAttribute(Attribute::OptimizeNone) ||
        function.hasAddressTaken())
      continue;
    uint64_t size = function.getInstructionCount() * function.getNumUses();
    if (size <= mostInstructions)
      function.addFnAttr(Attribute::AlwaysInline);
  }
}

Expected<Compiled> numera::compileDevice(mlir::ModuleOp lowered,
                                         const Registry &registry,
                                         const GPUOptions &options) {
  auto modules = lowered.getOps<mlir::gpu::GPUModuleOp>();
  if (modules.empty())
    return createStringError("the model has nothing to run on a GPU");
  Compiled program;
  program.context = std::make_unique<LLVMContext>();
  program.context->setDiagnosticHandlerCallBack(reportErrors);
  Expected<std::unique_ptr<TargetMachine>> machine =
      createGPUMachine(options, needsOf(*modules.begin()));
  if (!machine)
    return machine.takeError();
  program.machine = std::move(*machine);
  Expected<std::unique_ptr<Module>> translated =
      translate(*modules.begin(), *program.context);
  if (!translated)
    return translated.takeError();
  program.module = std::move(*translated);
  Module &module = *program.module;
  setTarget(module, *program.machine);
  if (Error error =
          linkDeviceKernels(module, *modules.begin(), *program.machine))
    return std::move(error);
  if (Error error = defineDeviceForms(module, registry, versionOf(options.gpu)))
    return std::move(error);
  Expected<std::vector<std::string>> native = linkLibraries(
      module, registry, librariesOf(*modules.begin()), *program.machine);
  if (!native)
    return native.takeError();
  if (Error error = linkDeviceRuntime(module))
    return std::move(error);
  replaceHalfConversions(module, *program.machine);
  hideFunctions(module);
  dropIdleConstructors(module);
  defineAnswers(module, *program.machine);
  setTarget(module, *program.machine);
  specializeRuntimeCalls(module, *program.machine);
  inlineFewCalls(module);
  if (Error error =
          optimize(module, *program.machine, {.level = options.optimization}))
    return std::move(error);
  if (Error error = checkConstructors(module))
    return std::move(error);
  if (Error error = checkCalls(module))
    return std::move(error);
  if (Error error = checkTypes(module))
    return std::move(error);
  return program;
}

Error numera::emitDeviceLLVM(mlir::ModuleOp lowered, const Registry &registry,
                             const GPUOptions &options, StringRef path) {
  Expected<Compiled> device = compileDevice(lowered, registry, options);
  if (!device)
    return device.takeError();
  return writeFile(path, [&](raw_pwrite_stream &stream) {
    device->module->print(stream, nullptr);
    return Error::success();
  });
}
