// SPDX-License-Identifier: MIT

#include "Compile.h"
#include "LaneInstructions.h"
#include "Specialize.h"
#include "VectorForms.h"
#include "VectorVariants.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"

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

static Expected<std::unique_ptr<Module>> translate(mlir::ModuleOp lowered,
                                                   LLVMContext &context) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  lowered.getContext()->appendDialectRegistry(registry);
  FirstError error(lowered.getContext());
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(lowered, context, "program");
  if (module)
    return module;
  return createStringError("cannot translate the module to LLVM IR: " +
                           error.text);
}

/// LLVM remarks on loops that it leaves scalar, which is no one's concern; what
/// it calls an error is one line.
static void reportErrors(const DiagnosticInfo *info, void *) {
  if (info->getSeverity() != DS_Error)
    return;
  DiagnosticPrinterRawOStream printer(errs() << "error: ");
  info->print(printer);
  errs() << '\n';
}

Expected<Compiled> numera::compileModule(mlir::ModuleOp lowered,
                                         ArrayRef<FunctionSignature> functions,
                                         const Registry &registry,
                                         const CPUOptions &options,
                                         Caller caller) {
  Compiled program;
  Expected<std::unique_ptr<TargetMachine>> machine =
      createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  program.machine = std::move(*machine);
  program.metadata = options.metadata;
  program.metadata.version = version().str();
  program.metadata.target = "cpu " + program.machine->getTargetCPU().str();
  program.metadata.functions = functions.vec();
  if (functions.empty())
    return createStringError("the module has no function to call");

  program.context = std::make_unique<LLVMContext>();
  program.context->setDiagnosticHandlerCallBack(reportErrors);
  Expected<std::unique_ptr<Module>> module =
      translate(lowered, *program.context);
  if (!module)
    return module.takeError();
  program.module = std::move(*module);
  setTarget(*program.module, *program.machine);

  // Before their hooks are hidden.
  if (Error error =
          linkKernels(*program.module, kernelsOf(lowered), *program.machine))
    return error;
  if (Error error = addEntryPoints(*program.module, program.metadata, caller))
    return error;
  if (Error error = defineVectorForms(*program.module))
    return error;
  Expected<std::vector<std::string>> native = linkLibraries(
      *program.module, registry, librariesOf(lowered), *program.machine);
  if (!native)
    return native.takeError();
  program.nativeLibraries = std::move(*native);
  if (Error error = linkRuntime(*program.module))
    return error;

  setTarget(*program.module, *program.machine);
  specializeRuntimeCalls(*program.module, *program.machine);
  optimize(*program.module, *program.machine, options.optimization);
  dropUnusedVariants(*program.module);
  selectLaneInstructions(*program.module, *program.machine);
  return program;
}
