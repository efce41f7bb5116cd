// SPDX-License-Identifier: MIT
//
// Sums and products of 8-bit floats, which a GPU computes four in a word
// (runtime/nvptx/Bytes.cpp). Operations on vectors become calls of vector
// forms, which lib/Target/NVPTX/Bytes.cpp defines.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_KERNELBYTES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_KERNELBYTES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace numera {

/// True if a GPU has a form for `op` on several codes: of the formats, not of
/// the rounding or of what is registered, on which nothing depends here.
bool isOnBytes(mlir::Operation *op);

/// True if the body consists of such operations, on its own values.
bool isOnBytes(mlir::linalg::GenericOp generic);

/// The body of such an operation on vectors: `operands` has the elements of
/// each, none where the body does not read it. Returns the elements of each
/// result.
llvm::SmallVector<llvm::SmallVector<mlir::Value>>
cloneOnBytes(mlir::OpBuilder &builder, mlir::linalg::GenericOp generic,
             llvm::ArrayRef<llvm::SmallVector<mlir::Value>> operands);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_KERNELBYTES_H
