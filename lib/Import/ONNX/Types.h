//===- Types.h - The element types of ONNX ---------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// A tensor of the importer has an element type of ONNX. Integers are signless
// inside a function, and those of less than 8 bits are kept in 8. Floats
// narrower than f32 are number formats: operators compute on them in f32 and
// round the result.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_TYPES_H
#define NUMERA_LIB_IMPORT_ONNX_TYPES_H

#include "mlir/IR/Types.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include <string>

namespace numera::importer {

/// TensorProto.DataType: older onnx headers lack the later names.
namespace type {
enum : int64_t {
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
};
} // namespace type

/// An integer or BOOL.
bool isInteger(int64_t dataType);
/// An unsigned integer or BOOL.
bool isUnsigned(int64_t dataType);
/// The bits of an integer; 1 for BOOL.
unsigned widthOf(int64_t dataType);
/// A float that is kept as codes of a number format.
bool isNarrow(int64_t dataType);
/// Of the types that a tensor of numbers may have.
bool isNumeric(int64_t dataType);

/// What elements are inside a function.
mlir::Type elementType(mlir::MLIRContext *context, int64_t dataType);
/// What elements are at its boundary: unsigned integers say so, and integers of
/// less than 8 bits are a number format.
mlir::Type boundaryType(mlir::MLIRContext *context, int64_t dataType);
/// The type of a caller's arrays where it is another one: of f16 and bf16,
/// which are codes inside. Else null.
mlir::Type arrayType(mlir::MLIRContext *context, int64_t dataType);

/// The format of a stored tensor's codes, of 4 or 8 bits, where no other type
/// of C++ holds its numbers; null for others.
Format codeFormat(int64_t dataType);

/// `value` modulo 2 to the width, as an integer of the type.
int64_t wrap(int64_t value, int64_t dataType);

/// How errors name a TensorProto.DataType.
std::string dataTypeName(int64_t dataType);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_TYPES_H
