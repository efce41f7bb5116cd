// SPDX-License-Identifier: MIT
//
// Sums of status flags (docs/Semantics/StatusFlags.md).

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGSUMS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGSUMS_H

#include "mlir/IR/Builders.h"

namespace numera {

/// Whether a flag of the set `flags` occurred: 0 or 1, of `type`.
mlir::Value hasFlag(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value flags, unsigned kind, mlir::Type type);

mlir::Value createZeros(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes,
                        mlir::Type type);

/// The sums of tensors of one shape: of one with flags, those of each; of
/// others, which are counts, theirs.
llvm::SmallVector<mlir::Value> sumFlags(mlir::OpBuilder &builder,
                                        mlir::Location loc,
                                        llvm::SmallVector<mlir::Value> parts);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGSUMS_H
