// SPDX-License-Identifier: MIT
//
// Compares a vector form with its scalar function, both compiled, lane by lane
// and bit for bit.

#ifndef NUMERA_TEST_UNIT_LANES_H
#define NUMERA_TEST_UNIT_LANES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"

#include <random>

namespace numera::test {

/// A function of which each argument, and the result, is read from memory.
class Lanes {
public:
  /// Functions of `module` to be called: `addCaller` for each, then `compile`.
  explicit Lanes(std::unique_ptr<llvm::LLVMContext> context,
                 std::unique_ptr<llvm::Module> module)
      : context(std::move(context)), module(std::move(module)) {}

  llvm::Module &getModule() { return *module; }

  /// Adds `name`(where the arguments are, where the result goes): a call of
  /// `callee` with `constants` in the place of its last arguments.
  llvm::Function *addCaller(llvm::StringRef name, llvm::FunctionCallee callee,
                            llvm::ArrayRef<int32_t> constants = {});
  /// Compiles the module for this machine. Null after a failed expectation.
  bool compile();
  /// Calls a caller.
  void call(llvm::StringRef name, llvm::ArrayRef<const void *> arguments,
            void *result);

  struct Operand {
    unsigned bits; ///< of which are random; the rest of its bytes is zero
    bool isVector = true;
  };
  /// `rounds` times: random bits, each lane of `vector`, with a result of some
  /// bytes, against `scalar`. Both are callers.
  void expectSame(llvm::StringRef scalar, llvm::StringRef vector,
                  unsigned lanes, llvm::ArrayRef<Operand> operands,
                  unsigned result, unsigned rounds);

private:
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::mt19937_64 random{1};
};

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_LANES_H
