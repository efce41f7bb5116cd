// SPDX-License-Identifier: MIT
//
// Adds an operation of the dialect to a function, runs passes, and prints the
// module before and after.

#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/InitAll.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

static constexpr char text[] = R"(
func.func @f(%x: !numera.num<posit<16, 2>>) -> !numera.num<posit<16, 2>> {
  %y = numera.mul %x, %x : !numera.num<posit<16, 2>>
  return %y : !numera.num<posit<16, 2>>
}
)";

int main() {
  mlir::DialectRegistry dialects;
  numera::registerAll(dialects);
  numera::registerAllPasses();
  mlir::MLIRContext context(dialects);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return 1;
  module->walk([](numera::MulOp product) {
    mlir::OpBuilder builder(product);
    builder.setInsertionPointAfter(product);
    auto sum =
        numera::AddOp::create(builder, product.getLoc(), product.getType(),
                              product.getResult(), product.getLhs());
    product.getResult().replaceAllUsesExcept(sum.getResult(), sum);
  });
  module->print(llvm::outs());
  mlir::PassManager passes(&context);
  if (failed(mlir::parsePassPipeline("numera-lower", passes)) ||
      failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
}
