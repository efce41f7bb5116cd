// SPDX-License-Identifier: MIT
//
// Neighbouring elements that one thread of a kernel reads and writes 16 bytes
// at a time.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_KERNELRUNS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_KERNELRUNS_H

#include "mlir/IR/Builders.h"

namespace numera {

/// The `count` elements of `memref`, of static strides, that begin at `indices`
/// and are aligned to as many bytes as are read at a time.
llvm::SmallVector<mlir::Value> loadRun(mlir::OpBuilder &builder,
                                       mlir::Location loc, mlir::Value memref,
                                       mlir::ValueRange indices, int64_t count);
/// Writes such elements.
void storeRun(mlir::OpBuilder &builder, mlir::Location loc,
              llvm::ArrayRef<mlir::Value> values, mlir::Value memref,
              mlir::ValueRange indices);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_KERNELRUNS_H
