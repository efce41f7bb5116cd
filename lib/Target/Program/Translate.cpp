// SPDX-License-Identifier: MIT

#include "Translate.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

using namespace llvm;
using namespace numera;

/// The first error that MLIR reports while this lives.
namespace {
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
              text.empty())
            text = diagnostic.str();
          return mlir::success();
        }) {}
  std::string text;

private:
  mlir::ScopedDiagnosticHandler handler;
};
} // namespace

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

/// Removes what passes noted on arguments, such as `numera.weight`. Translation
/// has no use for it, and its warning about each prints the function whole.
static void dropNotes(mlir::ModuleOp lowered) {
  for (auto function : lowered.getOps<mlir::LLVM::LLVMFuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      mlir::NamedAttrList kept;
      for (mlir::NamedAttribute attribute :
           mlir::function_interface_impl::getArgAttrs(function, i))
        if (attribute.getName().strref().starts_with("llvm."))
          kept.append(attribute);
      function.setArgAttrs(i, kept.getDictionary(lowered.getContext()));
    }
}

Expected<std::unique_ptr<Module>> numera::translate(mlir::ModuleOp lowered,
                                                    LLVMContext &context) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  lowered.getContext()->appendDialectRegistry(registry);
  FirstError error(lowered.getContext());
  flattenConstants(lowered);
  dropNotes(lowered);
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(lowered, context, "program");
  if (module)
    return module;
  return createStringError("cannot translate the module to LLVM IR: " +
                           error.text);
}
