// SPDX-License-Identifier: MIT
//
// mlir-reduce with the numera dialect and its passes: makes the smallest IR on
// which a script still finds a fault.

#include "../PluginOption.h"
#include "ReduceFunctions.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "numera/InitAll.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FileSystem.h"

/// The program that `--reduction-tree='… test=PROGRAM …'` names; empty if none.
static llvm::StringRef testIn(llvm::ArrayRef<char *> arguments) {
  constexpr llvm::StringLiteral key = "test=";
  for (llvm::StringRef argument : arguments) {
    size_t start = argument.find(key);
    if (start != llvm::StringRef::npos)
      return argument.drop_front(start + key.size()).split(' ').first;
  }
  return {};
}

int main(int argc, char **argv) {
  numera::PluginOption plugins("numera-reduce");
  llvm::StringRef test = testIn(llvm::ArrayRef(argv, size_t(argc)));
  if (!test.empty() && !llvm::sys::fs::can_execute(test)) {
    llvm::errs() << "numera-reduce: error: test '" << test
                 << "' is no program; expected a script that may be executed\n";
    return 1;
  }
  mlir::DialectRegistry dialects;
  numera::registerAll(dialects);
  numera::registerAllPasses();
  numera::registerReduceFunctions();
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
  if (isWrong && !first.empty())
    llvm::errs() << first;
  else if (isWrong && !test.empty())
    llvm::errs() << "numera-reduce: error: the test '" << test
                 << "' finds no fault in the module as it is; expected that it "
                    "exits with 1\n";
  return isWrong;
}
