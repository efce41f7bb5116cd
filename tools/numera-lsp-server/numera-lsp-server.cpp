// SPDX-License-Identifier: MIT
//
// MLIR's language server with the numera dialect.

#include "../PluginOption.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "numera/InitAll.h"
#include "llvm/Support/LogicalResult.h"

int main(int argc, char **argv) {
  numera::PluginOption plugins("numera-lsp-server");
  mlir::DialectRegistry dialects;
  numera::registerAll(dialects);
  return failed(mlir::MlirLspServerMain(argc, argv, dialects));
}
