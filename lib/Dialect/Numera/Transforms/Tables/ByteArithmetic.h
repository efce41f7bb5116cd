// SPDX-License-Identifier: MIT
//
// Builds programs on bytes (Registry/Tables/ByteProgram.h), for scalars and
// vectors.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_TABLES_BYTEARITHMETIC_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_TABLES_BYTEARITHMETIC_H

#include "mlir/IR/Builders.h"
#include "numera/Registry/Tables/ByteProgram.h"

namespace numera {

/// What the program makes of `x` and `y`, i8 or vectors of it.
mlir::Value buildBytes(mlir::OpBuilder &builder, mlir::Location loc,
                       const ByteProgram &program, mlir::Value x,
                       mlir::Value y);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_TABLES_BYTEARITHMETIC_H
