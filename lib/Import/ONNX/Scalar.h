//===- Scalar.h - Arithmetic on elements -----------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// Operations in the bodies of structured operations, on floats and integers
// alike. Integers wrap. Nothing here is undefined: a quotient by 0 is 0.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_SCALAR_H
#define NUMERA_LIB_IMPORT_ONNX_SCALAR_H

#include "Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace numera::importer {

/// A number as an attribute of type f32, f64, index or an integer.
mlir::TypedAttr attr(mlir::Type type, double number);
/// The ends of a type's range; infinities of floats.
mlir::TypedAttr least(mlir::Type type, bool isUnsigned);
mlir::TypedAttr greatest(mlir::Type type, bool isUnsigned);

mlir::Value constant(LocBuilder &b, mlir::Type type, double number);
mlir::Value index(LocBuilder &b, int64_t number);
/// Of f64.
mlir::Value real(LocBuilder &b, double number);

mlir::Value add(LocBuilder &b, mlir::Value x, mlir::Value y);
mlir::Value sub(LocBuilder &b, mlir::Value x, mlir::Value y);
mlir::Value mul(LocBuilder &b, mlir::Value x, mlir::Value y);
/// Of integers, rounded toward zero.
mlir::Value div(LocBuilder &b, mlir::Value x, mlir::Value y,
                bool isUnsigned = false);
/// Of integers: what is left of `div`.
mlir::Value rem(LocBuilder &b, mlir::Value x, mlir::Value y,
                bool isUnsigned = false);
mlir::Value max(LocBuilder &b, mlir::Value x, mlir::Value y,
                bool isUnsigned = false);
mlir::Value min(LocBuilder &b, mlir::Value x, mlir::Value y,
                bool isUnsigned = false);
mlir::Value neg(LocBuilder &b, mlir::Value x);

enum class Order { Equal, Less, LessOrEqual };
/// False for NaN.
mlir::Value compare(LocBuilder &b, Order order, mlir::Value x, mlir::Value y,
                    bool isUnsigned = false);
mlir::Value select(LocBuilder &b, mlir::Value condition, mlir::Value yes,
                   mlir::Value no);
mlir::Value both(LocBuilder &b, mlir::Value x, mlir::Value y);
mlir::Value either(LocBuilder &b, mlir::Value x, mlir::Value y);
mlir::Value negation(LocBuilder &b, mlir::Value condition);
/// x != x
mlir::Value isNaN(LocBuilder &b, mlir::Value x);

/// A cast as NumPy's, but for floats beyond the range of an integer, which are
/// saturated, those to fewer than 8 bits as i32 first, and NaN, which is 0.
/// BOOL is whether a number is not 0.
mlir::Value convert(LocBuilder &b, mlir::Value x, int64_t from, int64_t to);
/// The index of a signed integer or of a float.
mlir::Value toIndex(LocBuilder &b, mlir::Value x);
mlir::Value fromIndex(LocBuilder &b, mlir::Value index, mlir::Type type);
/// An index into `size` elements that may count from the end, within them.
mlir::Value wrapIndex(LocBuilder &b, mlir::Value index, mlir::Value size);
/// Within 0 and size - 1.
mlir::Value clampIndex(LocBuilder &b, mlir::Value index, mlir::Value size);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_SCALAR_H
