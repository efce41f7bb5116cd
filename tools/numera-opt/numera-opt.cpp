// SPDX-License-Identifier: MIT
//
// mlir-opt with the numera dialect, its passes, and `--formats F.yaml`.

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "numera/InitAll.h"
#include "numera/Registry/Plugin.h"
#include "numera/Registry/Registry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

static cl::opt<std::string>
    formats("formats", cl::desc("Read formats and lowerings from a YAML file"),
            cl::value_desc("file"));
static cl::list<std::string>
    plugins("load-plugin", cl::desc("Add the family of formats of a plugin"),
            cl::value_desc("file"));

int main(int argc, char **argv) {
  numera::registerAllPasses();
  // Flags first: which formats there are decides what the dialect parses.
  mlir::DialectRegistry all;
  numera::registerAll(all);
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Numera's optimiser driver\n", all);
  std::string error;
  for (const std::string &plugin : plugins)
    if (!numera::loadPlugin(plugin, error)) {
      WithColor::error(errs(), "numera-opt") << error << '\n';
      return 1;
    }
  auto registry = std::make_shared<numera::Registry>();
  if (!formats.empty() && !registry->load(formats, errs()))
    return 1;
  mlir::DialectRegistry dialects;
  numera::registerAll(dialects, registry);
  return failed(mlir::MlirOptMain(argc, argv, input, output, dialects));
}
