// SPDX-License-Identifier: MIT

#include "Compile.h"
#include "Codegen/Machines.h"
#include "Codegen/Tuning.h"
#include "Libraries/LibraryTables.h"
#include "Libraries/LinkLibraries.h"
#include "Link/Allocations.h"
#include "Link/Kernels.h"
#include "Link/LinkRuntime.h"
#include "NVPTX/Device.h"
#include "Peephole/AvoidSubnormalAssists.h"
#include "Peephole/Deinterleave.h"
#include "Peephole/LaneInstructions.h"
#include "Peephole/Lookups.h"
#include "Peephole/Optimize.h"
#include "Peephole/PackedLoads.h"
#include "Vectorize/BfloatConversions.h"
#include "Vectorize/HalfConversions.h"
#include "Vectorize/Specialize.h"
#include "Vectorize/VectorForms.h"
#include "Vectorize/VectorVariants.h"
#include "numera/Target/NVPTX/GPU.h"
#include "numera/Target/Support/StepTimes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"

using namespace llvm;
using namespace numera;

/// The first error that MLIR reports while this lives.
namespace {
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (text.empty())
            text = diagnostic.str();
          return mlir::success();
        }) {}
  std::string text;

private:
  mlir::ScopedDiagnosticHandler handler;
};
} // namespace

static NamedLibraries librariesOf(mlir::ModuleOp lowered) {
  NamedLibraries named;
  for (auto function : lowered.getOps<mlir::LLVM::LLVMFuncOp>())
    if (auto library =
            function->getAttrOfType<mlir::StringAttr>("numera.library"))
      named[function.getName()] = library.str();
  return named;
}

/// Gives constant tensors one dimension. Of an array of arrays, LLVM would keep
/// a constant for each inner one, some million for the weights of a model, and
/// go through them in many passes. Places in them do not change.
static void flattenConstants(mlir::ModuleOp lowered) {
  for (auto global : lowered.getOps<mlir::LLVM::GlobalOp>()) {
    auto type = dyn_cast<mlir::LLVM::LLVMArrayType>(global.getGlobalType());
    auto elements =
        dyn_cast_or_null<mlir::DenseElementsAttr>(global.getValueOrNull());
    if (!type || !isa<mlir::LLVM::LLVMArrayType>(type.getElementType()) ||
        !elements)
      continue;
    mlir::Type element = elements.getElementType();
    int64_t count = elements.getNumElements();
    global.setValueAttr(
        elements.reshape(mlir::RankedTensorType::get({count}, element)));
    global.setGlobalType(mlir::LLVM::LLVMArrayType::get(element, count));
  }
}

static Expected<std::unique_ptr<Module>> translate(mlir::ModuleOp lowered,
                                                   LLVMContext &context) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  lowered.getContext()->appendDialectRegistry(registry);
  FirstError error(lowered.getContext());
  flattenConstants(lowered);
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(lowered, context, "program");
  if (module)
    return module;
  return createStringError("cannot translate the module to LLVM IR: " +
                           error.text);
}

namespace {

/// Compiles one version of a program after the other.
class ProgramCompiler {
public:
  ProgramCompiler(mlir::ModuleOp lowered, const Registry &registry,
                  const CPUOptions &options, Caller caller, Compiled &program)
      : lowered(lowered), registry(registry), options(options), caller(caller),
        program(program) {}

  Error run() {
    Expected<Machines> machines = createMachines(options);
    if (!machines)
      return machines.takeError();
    program.machine = std::move(machines->baseline);
    program.module = std::make_unique<Module>("program", *program.context);
    std::vector<VersionInfo> versions(machines->versions.begin(),
                                      machines->versions.end());
    program.metadata.target = "cpu ";
    interleave(
        versions,
        [&](const VersionInfo &version) {
          program.metadata.target += version.cpu;
        },
        [&] { program.metadata.target += ","; });
    if (options.device)
      program.metadata.target = options.device->target;
    setTarget(*program.module, *program.machine);
    if (Error error =
            addEntryPoints(*program.module, program.metadata, versions, caller))
      return error;
    for (auto [i, version] : enumerate(machines->versions))
      if (Error error = add(*version.machine, unsigned(i)))
        return error;
    return addHost();
  }

private:
  Error add(TargetMachine &machine, unsigned version) {
    StepScope step(options.times, "translate");
    Expected<std::unique_ptr<Module>> translated =
        translate(lowered, *program.context);
    if (!translated)
      return translated.takeError();
    Module &module = **translated;
    step.next("link");
    setTarget(module, machine);
    keepMemory(module);
    // Before their hooks are hidden.
    if (Error error = linkKernels(module, kernelsOf(lowered), machine))
      return error;
    if (Error error =
            addInvokes(module, program.metadata.functions, version, caller))
      return error;
    if (options.device)
      if (Error error = attachDevice(module, program.metadata.functions,
                                     version, *options.device))
        return error;
    if (Error error = defineVectorForms(module))
      return error;
    Expected<std::vector<std::string>> native =
        linkLibraries(module, registry, librariesOf(lowered), machine);
    if (!native)
      return native.takeError();
    program.nativeLibraries = std::move(*native);
    if (Error error = checkEntryNames(module))
      return error;
    if (Error error = linkRuntime(module))
      return error;
    replaceHalfConversions(module, machine);

    step.next("specialise");
    if (options.makesTables)
      tabulateLibraries(module, machine, program.nativeLibraries);
    defineAnswers(module, machine);
    defineLookups(module, machine);
    definePackedLoads(module, machine);
    setTarget(module, machine);
    defineBfloatConversions(module, machine);
    specializeRuntimeCalls(module, machine);
    step.next("optimise");
    optimize(module, machine, options.optimization);
    step.next("lanes");
    dropUnusedVariants(module);
    avoidSubnormalAssists(module, machine);
    deinterleaveLanes(module, machine);
    selectLaneInstructions(module, machine);
    step.next("link");
    if (Linker::linkModules(*program.module, std::move(*translated)))
      return createStringError("cannot link the versions of the program");
    return Error::success();
  }

  /// What is left to the linker would be found in the program itself.
  Error checkEntryNames(const Module &module) const {
    for (const FunctionSignature &signature : program.metadata.functions) {
      std::string entry = entrySymbol(signature.name);
      const Function *wanted = module.getFunction(entry);
      if (caller != Caller::Executable && wanted && wanted->isDeclaration())
        return createStringError("a lowering calls '" + entry +
                                 "', but the program has another function of "
                                 "that name; rename one of them");
    }
    return Error::success();
  }

  /// What checks, chooses and calls: it runs on any CPU, even one that no
  /// version is for. The main of executables brings it along, and a process
  /// that compiles has it.
  Error addHost() {
    StepScope step(options.times, "link");
    for (Function &function : *program.module)
      if (!function.isDeclaration() && function.hasHiddenVisibility())
        function.setLinkage(GlobalValue::InternalLinkage);
    if (caller != Caller::Library)
      return Error::success();
    if (Error error = linkHost(*program.module))
      return error;
    setTarget(*program.module, *program.machine);
    return Error::success();
  }

  mlir::ModuleOp lowered;
  const Registry &registry;
  const CPUOptions &options;
  Caller caller;
  Compiled &program;
};

} // namespace

Expected<Compiled> numera::compileModule(mlir::ModuleOp lowered,
                                         ArrayRef<FunctionSignature> functions,
                                         const Registry &registry,
                                         const CPUOptions &options,
                                         Caller caller) {
  Compiled program;
  program.metadata = options.metadata;
  program.metadata.version = version().str();
  program.metadata.functions = functions.vec();
  if (functions.empty())
    return createStringError("the module has no function to call");
  program.context = std::make_unique<LLVMContext>();
  program.context->setDiagnosticHandlerCallBack(reportErrors);
  if (Error error =
          ProgramCompiler(lowered, registry, options, caller, program).run())
    return std::move(error);
  return program;
}
