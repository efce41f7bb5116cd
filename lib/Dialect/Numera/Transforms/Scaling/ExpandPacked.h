// SPDX-License-Identifier: MIT
//
// Codes without gaps on tensors (ExpandPacked.cpp).

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_EXPANDPACKED_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_EXPANDPACKED_H

#include "mlir/IR/Builders.h"
#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// The same codes, stored without gaps on their way. As they are where there
/// are no gaps: f32, f64, and formats as wide as the integer that holds them.
mlir::Value throughPacked(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value codes);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_EXPANDPACKED_H
