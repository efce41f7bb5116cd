// SPDX-License-Identifier: MIT
//
// What is done with a buffer before and after an operation, for passes that put
// several operations on it into one.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_BUFFERUSES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_BUFFERUSES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace numera {

/// The linalg.fill of `buffer` in front of `op`, in its block, if nothing
/// touches that memory in between; else null.
mlir::linalg::FillOp fillBefore(mlir::Operation *op, mlir::Value buffer);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_BUFFERUSES_H
