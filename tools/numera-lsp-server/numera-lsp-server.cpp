// SPDX-License-Identifier: MIT
//
// MLIR's language server with the numera dialect; with --yaml, one for
// configurations.

#include "../PluginOption.h"
#include "ConfigurationServer.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "numera/InitAll.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/Program.h"

using namespace llvm;

/// With `--lit-test` messages are apart by lines of dashes, as MLIR's server
/// has them in its tests.
static int serveYAML(int argc, char **argv) {
  cl::opt<bool> isTest("lit-test", cl::desc("Read messages of a test"));
  cl::opt<bool> standard("stdio", cl::desc("As it is; many editors say it"));
  cl::ParseCommandLineOptions(argc, argv, "Numera's server for YAML\n");
  if (isTest)
    lsp::URIForFile::registerSupportedScheme("test");
  (void)sys::ChangeStdinToBinary();
  lsp::JSONTransport transport(stdin, outs(),
                               isTest ? lsp::Delimited : lsp::Standard, isTest);
  return numera::serveConfigurations(transport);
}

int main(int argc, char **argv) {
  numera::PluginOption plugins("numera-lsp-server");
  // Read before the others: MLIR's server reads the command line itself.
  cl::opt<bool> yaml("yaml", cl::desc("Serve configurations (YAML), not MLIR"));
  if (is_contained(ArrayRef<char *>(argv, size_t(argc)), StringRef("--yaml")))
    return serveYAML(argc, argv);
  mlir::DialectRegistry dialects;
  numera::registerAll(dialects);
  return failed(mlir::MlirLspServerMain(argc, argv, dialects));
}
