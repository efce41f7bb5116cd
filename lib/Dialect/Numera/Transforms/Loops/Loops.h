// SPDX-License-Identifier: MIT
//
// Functions on linalg on memrefs that the lowerings to loops and to kernels
// share.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_LOOPS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_LOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace numera {

/// The buffer that a view is of; a buffer itself.
mlir::Value viewedBuffer(mlir::Value buffer);

/// The buffer that a view is of, where the view has all of its elements.
mlir::Value wholeBuffer(mlir::Value view);

/// True for an operation of parallel loops alone that writes one buffer, in the
/// order of the loops, and computes each element from those that it reads
/// there.
bool isElementwise(mlir::linalg::GenericOp generic);
/// The indices that a map gives at these values of the loops.
llvm::SmallVector<mlir::Value> indicesAt(mlir::OpBuilder &builder,
                                         mlir::Location loc,
                                         mlir::AffineMap map,
                                         llvm::ArrayRef<mlir::Value> loops);
/// The element of `input` that the body is given at these values of the loops.
mlir::Value readAt(mlir::OpBuilder &builder, mlir::linalg::GenericOp generic,
                   mlir::OpOperand &input, llvm::ArrayRef<mlir::Value> loops);
/// How far apart what neighbouring iterations of a loop read or write lies, in
/// elements of the last dimension; nothing if it is not on a line along it.
std::optional<int64_t> strideOfLanes(mlir::AffineMap map, unsigned loop);
/// The operations of the body, on what the map has for its arguments; what it
/// yields.
mlir::Value cloneBody(mlir::OpBuilder &builder, mlir::linalg::GenericOp generic,
                      mlir::IRMapping &map);

/// Where the memory of a buffer comes from: an allocation, a global or an
/// argument of the function. Null if that cannot be told, as of what a loop
/// carries.
mlir::Value originOf(mlir::Value buffer);

/// True for a number, and for memory that is known and is not `buffer`.
bool isElsewhere(mlir::Value value, mlir::Value buffer);

/// What an operation reads at constant indices becomes a view without these
/// dimensions.
void sliceAtConstants(mlir::IRRewriter &rewriter,
                      mlir::linalg::GenericOp generic);

/// Loops of one iteration go, and so do the dimensions that they go along; the
/// operation that is left.
mlir::linalg::GenericOp dropUnitLoops(mlir::IRRewriter &rewriter,
                                      mlir::linalg::GenericOp generic);

/// Loops that every operand goes through as through one become one.
void collapse(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp generic);

/// A copy of or into a part of a buffer becomes linalg; one between whole
/// buffers stays.
void replaceStridedCopies(mlir::IRRewriter &rewriter,
                          mlir::func::FuncOp function);

/// A buffer that is filled and into a part of which another is copied.
struct Padding {
  mlir::memref::CopyOp copy;
  /// Of constant offsets; of constant sizes, or the buffer's where that has a
  /// dynamic one.
  mlir::memref::SubViewOp inside;
  mlir::linalg::LinalgOp fill;
  mlir::Value value;
  /// What computes the source right before, if nothing else reads that; or
  /// null.
  mlir::linalg::GenericOp producer;
};
/// Nothing if the copy is into anything else.
std::optional<Padding> paddingOf(mlir::memref::CopyOp copy);

/// Such a buffer is written once, row by row.
void padRows(mlir::IRRewriter &rewriter, mlir::func::FuncOp function);

/// True if the last loop is a reduction of integers in any order, along which
/// what is read is contiguous: lanes can take steps of one sum.
bool reducesInLanes(mlir::linalg::GenericOp generic);

/// Has a short loop of long steps vectorised with masks, where that is faster.
void maskShortLoop(mlir::scf::ForOp loop);

/// Loops for such a reduction of short rows that takes sixteen rows at a time,
/// the outermost first; nothing, and no change, for any other operation.
std::optional<llvm::SmallVector<mlir::Operation *>>
reduceInBlocks(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp generic);

/// True for reductions of short windows whose results can be the lanes of
/// vectors: sums in f32 or f64, maxima and minima of numbers and of codes.
bool isWindowReduction(mlir::linalg::GenericOp generic);
/// Loops for them, the outermost first. They begin with `start`, or where that
/// is null with what the result's buffer holds. What `after` makes of a result
/// is what they write (`overwriterOf`), unless it is null.
llvm::SmallVector<mlir::Operation *>
reduceInWindows(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp generic,
                mlir::Value start, mlir::linalg::GenericOp after);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_LOOPS_H
