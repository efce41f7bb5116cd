// SPDX-License-Identifier: MIT
//
// Builds operations in a carrier: scalars of f32 or f64, and vectors of them.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CARRIER_CARRIERARITHMETIC_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CARRIER_CARRIERARITHMETIC_H

#include "mlir/IR/Builders.h"
#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// f32 or f64 in the shape of `type`.
mlir::Type carrierType(mlir::Type type, unsigned width);

/// Unless said otherwise a NaN may come out with any payload and sign.
class CarrierArithmetic {
public:
  CarrierArithmetic(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// The operation before its rounding, on the path that the family names.
  mlir::Value operate(OpKind operation, EvaluationPath path, Rounding mode,
                      llvm::ArrayRef<mlir::Value> operands);
  /// Exact. -0 becomes +0 where the format has none.
  mlir::Value negate(mlir::Value x, const Format &format);
  mlir::Value absolute(mlir::Value x);
  /// NaN if either is; -0 is below +0.
  mlir::Value minimum(mlir::Value x, mlir::Value y);
  mlir::Value maximum(mlir::Value x, mlir::Value y);
  mlir::Value isNaN(mlir::Value x);
  /// NaR as the infinity that no number of its format is: it equals itself and
  /// is below all.
  mlir::Value ordered(mlir::Value x);
  /// `numera.cmp` on values of a format, totally ordered or not.
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x,
                      mlir::Value y, bool isTotallyOrdered);
  /// Between f32 and f64: exact, or one rounding to nearest-even.
  mlir::Value convert(mlir::Value x, mlir::Type type);

  /// NaN is canonical.
  mlir::Value round(mlir::Value x, const OperationRules &rules,
                    mlir::Value random);
  mlir::Value encodeRounded(mlir::Value x, const OperationRules &rules,
                            mlir::Value random, mlir::Type code);
  mlir::Value encode(mlir::Value x, const Format &format, mlir::Type code);

  /// The number in the carrier that the code was made of, nothing rounded; null
  /// if there is none.
  static mlir::Value encodedAs(mlir::Value code, mlir::Type carrier,
                               const Format &format);
  /// True if what defines `x` gives no NaN but the canonical one.
  static bool hasCanonicalNaN(mlir::Value x);

private:
  mlir::Value plus(mlir::Value x, mlir::Value y);
  mlir::Value minus(mlir::Value x, mlir::Value y);
  mlir::Value times(mlir::Value x, mlir::Value y);
  mlir::Value negative(mlir::Value x);
  mlir::Value toOdd(mlir::Value nearest, mlir::Value error);
  mlir::Value sumToOdd(mlir::Value x, mlir::Value y);
  mlir::Value firstBits(mlir::Value x);
  mlir::Value productError(mlir::Value x, mlir::Value y, mlir::Value product);
  mlir::Value productToOdd(mlir::Value x, mlir::Value y);
  mlir::Value quotientToOdd(mlir::Value x, mlir::Value y);
  mlir::Value constant(mlir::Type like, double value);
  mlir::Value integer(mlir::Type like, uint64_t value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CARRIER_CARRIERARITHMETIC_H
