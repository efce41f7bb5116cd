// SPDX-License-Identifier: MIT
//
// Small modules in the LLVM dialect, made by upstream passes from functions on
// memrefs: what the tests of lib/Target compile.

#ifndef NUMERA_TEST_UNIT_LOWERED_H
#define NUMERA_TEST_UNIT_LOWERED_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace numera::test {

/// A module and the context it lives in.
class Lowered {
public:
  explicit Lowered(llvm::StringRef text) : context(makeRegistry()) {
    // For `numera.library`: the dialect is not linked here.
    context.allowUnregisteredDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return;
    mlir::PassManager passes(&context);
    if (failed(mlir::parsePassPipeline(
            "convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts",
            passes)) ||
        failed(passes.run(*module)))
      module = nullptr;
  }
  explicit operator bool() const { return static_cast<bool>(module); }
  mlir::ModuleOp operator*() { return *module; }

private:
  static mlir::DialectRegistry makeRegistry() {
    static bool once = (mlir::registerAllPasses(), true);
    (void)once;
    mlir::DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    return registry;
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// `result[i] = CALL(x[i], y[i])` over memrefs of `element`, as the function
/// `f`. `call` is the text of the call, `declaration` that of its callee.
inline std::string elementwise(llvm::StringRef element, llvm::StringRef dim,
                               llvm::StringRef call,
                               llvm::StringRef declaration) {
  std::string type = ("memref<" + dim + "x" + element + ">").str();
  std::string size = dim == "?" ? "%n" : "";
  return ("func.func @f(%x: " + type + ", %y: " + type + ") -> " + type +
          " attributes {llvm.emit_c_interface} {\n"
          "  %zero = arith.constant 0 : index\n"
          "  %one = arith.constant 1 : index\n"
          "  %n = memref.dim %x, %zero : " +
          type + "\n  %r = memref.alloc(" + size + ") : " + type +
          "\n  scf.for %i = %zero to %n step %one {\n"
          "    %a = memref.load %x[%i] : " +
          type + "\n    %b = memref.load %y[%i] : " + type +
          "\n    %c = " + call + "\n    memref.store %c, %r[%i] : " + type +
          "\n  }\n  return %r : " + type + "\n}\n" + declaration)
      .str();
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_LOWERED_H
