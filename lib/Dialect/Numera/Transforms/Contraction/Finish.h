// SPDX-License-Identifier: MIT
//
// Elementwise operations on the sums of a contraction, such as a bias, an
// activation or a residual, as a function that the kernel calls for each tile
// before it writes it (Finish in runtime/kernels/Problem.h).

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_FINISH_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_FINISH_H

#include "ContractionWork.h"

namespace numera {

/// The operation right behind a contraction that overwrites its sums.
struct Finish {
  mlir::linalg::GenericOp generic;
  mlir::OpOperand *sums; ///< its operand that these are

  /// Nothing if there is none that the kernel can do.
  static std::optional<Finish> of(const ContractionWork &work);

  /// Where the sums are only copied into a padded buffer afterwards, has them
  /// computed there.
  void writePadded(const ContractionWork &work) const;
  /// The operands that a finish is given, in the order of its inputs.
  llvm::SmallVector<mlir::OpOperand *> inputs() const;
  /// Adds the function to the module; its address.
  mlir::LLVM::LLVMFuncOp emit(mlir::SymbolTable &symbols) const;
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_FINISH_H
