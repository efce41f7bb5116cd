// SPDX-License-Identifier: MIT
//
// mlir-reduce with the numera dialect and its passes: makes the smallest IR on
// which a script still finds a fault.

#include "../PluginOption.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "numera/InitAll.h"

int main(int argc, char **argv) {
  numera::PluginOption plugins("numera-reduce");
  mlir::DialectRegistry dialects;
  numera::registerAll(dialects);
  numera::registerAllPasses();
  mlir::MLIRContext context(dialects);
  // What it tries is often invalid, which is no error of the one who calls it.
  std::string first;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream stream(first);
    if (first.empty() &&
        diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      stream << diagnostic.getLocation() << ": error: " << diagnostic << '\n';
  });
  bool isWrong = failed(mlir::mlirReduceMain(argc, argv, context));
  if (isWrong)
    llvm::errs() << first;
  return isWrong;
}
