// SPDX-License-Identifier: MIT
//
// Contractions on memrefs, and the arguments of a kernel call: the addresses of
// elements, and the loops.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CONTRACTIONWORK_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CONTRACTIONWORK_H

#include "ContractionLoops.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace numera {

/// A contraction and what goes with it.
struct ContractionWork {
  mlir::linalg::GenericOp generic;
  PackedContraction contraction;
  mlir::linalg::FillOp fill; ///< what its sums start with; perhaps null
};

/// All of them, found before one is replaced: a call of a kernel hides what it
/// does to a buffer.
std::vector<ContractionWork> findContractions(mlir::ModuleOp module,
                                              Target target);

/// The storage of an operand's elements, and what they mean.
struct StoredKind {
  mlir::Type storage;
  ElementKind kind;
};

/// What a kernel for a contraction reads and writes.
struct ContractionKinds {
  StoredKind row, column, sum;
  ElementKind value; ///< of what it computes with
  MacOp step;
  bool rowsAreLeft; ///< factors

  ContractionKinds(mlir::linalg::GenericOp generic,
                   const PackedContraction &contraction);
  /// The step itself, with its formats and attributes, and which factor is
  /// which: that is all that hooks say.
  std::string key() const;
};

/// Places of a memref: where element 0 of all loops lies, and how far each loop
/// goes.
struct Access {
  mlir::Value base; ///< an llvm.ptr
  llvm::SmallVector<mlir::Value> strides;
};
/// Where a memref's buffer begins, an llvm.ptr.
mlir::Value addressOf(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value memref);
Access accessOf(mlir::OpBuilder &builder, mlir::linalg::GenericOp generic,
                mlir::OpOperand &operand);
/// How far each loop goes in `operand`, where that is known; and how far
/// element 0 of all loops lies behind the buffer's begin.
struct StaticAccess {
  int64_t offset;
  llvm::SmallVector<int64_t> strides;
};
StaticAccess staticAccessOf(mlir::linalg::GenericOp generic,
                            mlir::OpOperand &operand);

/// How many times each loop runs.
llvm::SmallVector<mlir::Value> extentsOf(mlir::OpBuilder &builder,
                                         mlir::linalg::GenericOp generic);
/// The words of an array of kernel::Loop, i64.
llvm::SmallVector<mlir::Value> loopWords(mlir::OpBuilder &builder,
                                         const ContractionWork &work,
                                         llvm::ArrayRef<Access> accesses);
/// Writes them to `memory`.
void storeWords(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::ValueRange words, mlir::Value memory);
/// The four numbers of kernel::LoopCounts, constants, where each loop over
/// columns has become so many.
llvm::SmallVector<mlir::Value> loopCounts(mlir::OpBuilder &builder,
                                          mlir::Location loc,
                                          const PackedContraction &contraction,
                                          int64_t loopsOfColumn = 1);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CONTRACTIONWORK_H
