// SPDX-License-Identifier: MIT
//
// The weights of a model are no part of its code: where a program is made of
// several objects, they stay out of the IR. LLVM would go through millions of
// elements one by one, and code that is kept would not be that of the same
// model with other weights.

#ifndef NUMERA_LIB_TARGET_LINK_LARGECONSTANTS_H
#define NUMERA_LIB_TARGET_LINK_LARGECONSTANTS_H

#include "Codegen/Compiled.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <vector>

namespace numera {

/// The large constants of a module in the LLVM dialect, which declares them,
/// by names of our own, while this lives.
class LargeConstants {
public:
  /// `isLinked`: a linker puts them into the object that the code is in, else
  /// they are anywhere in memory. Those that a contraction's hooks read stay: a
  /// kernel is made for its tables.
  /// Symbols begin with `prefix`.
  LargeConstants(mlir::ModuleOp lowered, bool isLinked, llvm::StringRef prefix);
  ~LargeConstants();
  LargeConstants(const LargeConstants &) = delete;

  /// Bytes without an owner live as long as the module's context.
  llvm::ArrayRef<CodeConstant> constants() const { return all; }
  /// True where they are so large that a program with them may be longer than
  /// an instruction reaches.
  static bool areFar(llvm::ArrayRef<CodeConstant> constants);

  /// Where each begins, in memory as in an object.
  static constexpr uint64_t alignment = 64;

private:
  void take(mlir::LLVM::GlobalOp global, std::string symbol);
  void declare(mlir::LLVM::GlobalOp global, bool isNear);

  mlir::ModuleOp lowered;
  std::vector<CodeConstant> all;
  std::vector<std::pair<mlir::LLVM::GlobalOp, mlir::DictionaryAttr>> taken;
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_LINK_LARGECONSTANTS_H
