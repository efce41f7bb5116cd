// SPDX-License-Identifier: MIT
//
// The uses of a buffer before and after an operation, for passes that merge
// several operations on it.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_BUFFERS_BUFFERUSES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_BUFFERS_BUFFERUSES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace numera {

/// The attribute of a function that says through which of its pointers memory
/// is reached by nothing else: an array of numbers of arguments, as they are
/// after lowering to LLVM.
inline constexpr llvm::StringLiteral apartAttribute = "numera.apart";

/// An error at an operation of linalg on tensors, for passes on memory.
mlir::LogicalResult checkIsInMemory(mlir::Operation *root);

/// An error at an operation of linalg on memory with a type of the dialect, for
/// passes on codes.
mlir::LogicalResult checkIsOnCodes(mlir::Operation *root);

/// The memory that a buffer is part of, if it belongs to this function alone,
/// which allocates it or whose caller keeps it apart for a result: an operation
/// that uses no view of it does not touch it. Else null.
mlir::Value ownMemoryOf(mlir::Value buffer);

/// The linalg.fill of `buffer` in front of `op`, in its block, if nothing
/// touches that memory in between; else null.
mlir::linalg::FillOp fillBefore(mlir::Operation *op, mlir::Value buffer);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_BUFFERS_BUFFERUSES_H
