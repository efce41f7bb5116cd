// SPDX-License-Identifier: MIT

#include "numera/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "numera/Conversion/NumeraToCPU.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

void numera::registerAll(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<NumeraDialect>();
}

void numera::registerAllPasses() {
  mlir::registerAllPasses();
  registerNumeraPasses();
  registerNumeraToCPU();
}
