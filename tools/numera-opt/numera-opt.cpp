// SPDX-License-Identifier: MIT
//
// mlir-opt with the numera dialect, its passes, and `--formats F.yaml`.

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/InitAll.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

static cl::opt<std::string>
    formats("formats", cl::desc("Read formats and lowerings from a YAML file"),
            cl::value_desc("file"));

int main(int argc, char **argv) {
  mlir::DialectRegistry dialects;
  numera::registerAll(dialects);
  numera::registerAllPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Numera's optimiser driver\n", dialects);
  auto registry = std::make_shared<numera::Registry>();
  if (!formats.empty() && !registry->load(formats, errs()))
    return 1;
  dialects.addExtension(+[](mlir::MLIRContext *, numera::NumeraDialect *) {});
  static std::shared_ptr<const numera::Registry> shared;
  shared = registry;
  dialects.addExtension(
      +[](mlir::MLIRContext *, numera::NumeraDialect *dialect) {
        dialect->setRegistry(shared);
      });
  return failed(mlir::MlirOptMain(argc, argv, input, output, dialects));
}
