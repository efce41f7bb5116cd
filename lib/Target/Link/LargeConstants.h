// SPDX-License-Identifier: MIT
//
// The weights of a model are no part of its code: where a program is made of
// several objects, they stay out of the IR. LLVM would go through millions of
// elements one by one, and code that is kept would not be that of the same
// model with other weights.

#ifndef NUMERA_LIB_TARGET_LINK_LARGECONSTANTS_H
#define NUMERA_LIB_TARGET_LINK_LARGECONSTANTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace numera {

/// The large constants of a module in the LLVM dialect, which declares them
/// while this lives.
class LargeConstants {
public:
  /// `isLinked`: a linker puts them into the object that the code is in, else
  /// they are anywhere in memory. Those that a contraction's hooks read stay: a
  /// kernel is made for its tables.
  LargeConstants(mlir::ModuleOp lowered, bool isLinked);
  ~LargeConstants();
  LargeConstants(const LargeConstants &) = delete;

  struct Constant {
    std::string symbol;
    llvm::ArrayRef<char> bytes; ///< as long as the module's context
  };
  llvm::ArrayRef<Constant> constants() const { return all; }

  /// Where each begins, in memory as in an object.
  static constexpr uint64_t alignment = 64;

private:
  void take(mlir::LLVM::GlobalOp global, bool isLinked);

  std::vector<Constant> all;
  std::vector<std::pair<mlir::LLVM::GlobalOp, mlir::DictionaryAttr>> taken;
};

/// Defines them as hidden symbols.
void define(llvm::Module &module,
            llvm::ArrayRef<LargeConstants::Constant> constants);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LINK_LARGECONSTANTS_H
