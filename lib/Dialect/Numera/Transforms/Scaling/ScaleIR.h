// SPDX-License-Identifier: MIT
//
// The steps of scales (Registry/Scaling/ScaleSteps.h) as IR, and loops over a
// tensor and its scales.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_SCALEIR_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_SCALEIR_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Scaling/ScaleSteps.h"

namespace numera {

/// The arithmetic of ScaleSteps as operations on scalars.
struct IRArithmetic {
  using Value = mlir::Value;

  mlir::OpBuilder &builder;
  mlir::Location loc;

  static Format formatOf(Value x) { return formatOfType(x.getType()); }
  Value constant(const Format &format, double number);
  Value binary(OpKind operation, Value x, Value y);
  Value unary(OpKind operation, Value x);
  Value cast(const Format &to, Value x, const CastRules &rules);
  Value nonzero(Value x, Value other);
};

using ScaleBody = llvm::function_ref<mlir::Value(
    ScaleSteps<IRArithmetic> &, IRArithmetic &, mlir::ValueRange)>;

/// An operand of an elementwise operation and how it is read.
struct ScaleAccess {
  mlir::Value value;
  mlir::AffineMap map;
};

/// linalg.generic over `sizes`, all parallel, whose result has elements of type
/// `element`.
mlir::Value mapElements(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes,
                        llvm::ArrayRef<ScaleAccess> operands,
                        mlir::Type element, const ScaledFormat &format,
                        ScaleBody body);

/// The largest magnitude in `values`, f32, along the loops that `kept` lacks;
/// 0 where there is none, NaN where one is. Magnitudes are ordered as their
/// bits are, NaNs last: integers, whose maximum vectorizes in any order.
mlir::Value largestMagnitude(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value values, llvm::ArrayRef<bool> kept);

struct Range {
  mlir::Value least, most;
};
/// The least and the largest of `values`, f32, and 0, along the same loops. One
/// of the two is NaN where a value is.
Range rangeWithZero(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value values, llvm::ArrayRef<bool> kept);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_SCALEIR_H
