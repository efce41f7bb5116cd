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
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
