// SPDX-License-Identifier: MIT
//
// mlir-opt with the numera dialect, its passes, and `--formats F.yaml`.

#include "../PluginOption.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "numera/InitAll.h"
#include "numera/Registry/Registry.h"
#include "numera/Target/Check/Proofs.h"
#include "numera/Target/Libraries/Examine/Libraries.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

static cl::opt<std::string>
    formats("formats", cl::desc("Read formats and lowerings from a YAML file"),
            cl::value_desc("file"));

int main(int argc, char **argv) {
  numera::PluginOption plugins("numera-opt");
  numera::registerAllPasses();
  // Flags first: which formats there are decides what the dialect parses.
  mlir::DialectRegistry all;
  numera::registerAll(all);
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Numera's optimiser driver\n", all);
  auto registry = std::make_shared<numera::Registry>();
  if (!formats.empty() && (!registry->load(formats, errs()) ||
                           !numera::examineLibraries(*registry, errs())))
    return 1;
  numera::loadProofs(*registry, errs());
  mlir::DialectRegistry dialects;
  numera::registerAll(dialects, registry);
  return failed(mlir::MlirOptMain(argc, argv, input, output, dialects));
}
