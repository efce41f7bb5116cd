// SPDX-License-Identifier: MIT
//
// Any text is a module of the dialect, or has an error. A module is printed as
// what is parsed as the same module, and is valid when its constants are
// folded.

#include "Fuzz.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;
using numera::fuzz::promise;

/// A context keeps all types and attributes, so that one does not live for
/// ever.
static MLIRContext &freshContext() {
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 500 == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<arith::ArithDialect, func::FuncDialect,
                         tensor::TensorDialect, numera::NumeraDialect>();
  }
  return *context;
}

static std::string print(ModuleOp module, bool generic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  if (generic)
    flags.printGenericOpForm();
  module.print(stream, flags);
  return text;
}

static void fold(ModuleOp module, MLIRContext &context) {
  RewritePatternSet patterns(&context);
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("numera"))
    name.getCanonicalizationPatterns(patterns, &context);
  GreedyRewriteConfig config;
  config.setMaxIterations(4);
  (void)applyPatternsGreedily(module, std::move(patterns), config);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = freshContext();
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      said += diagnostic.str() + '\n';
  });
  std::string text = numera::fuzz::textOf(data, size).str();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    promise(!said.empty(), "what is refused has an error");
    return 0;
  }
  for (bool generic : {false, true}) {
    std::string printed = print(*module, generic);
    OwningOpRef<ModuleOp> again =
        parseSourceString<ModuleOp>(printed, &context);
    promise(bool(again), "what is printed is parsed: " + printed + said);
    promise(print(*again, generic) == printed,
            "what is printed is the same: " + printed);
  }
  fold(*module, context);
  promise(succeeded(verify(*module)), "what is folded is valid: " + said);
  return 0;
}
