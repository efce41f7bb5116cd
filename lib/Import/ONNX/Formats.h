//===- Formats.h - Element types that are number formats -------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// The floats of ONNX other than f32 and f64. Tensors of these can only be read,
// written and cast.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_FORMATS_H
#define NUMERA_LIB_IMPORT_ONNX_FORMATS_H

#include "mlir/IR/Types.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include <string>

namespace numera::importer {

/// The element type for a TensorProto.DataType from FLOAT16 to FLOAT8E8M0, or
/// of an integer that is quantized to, of 4, 8 or 16 bits; null for others.
mlir::Type formatElement(mlir::MLIRContext *context, int64_t dataType);

/// The format of a stored tensor's codes, of 4 or 8 bits, where no other type
/// of C++ holds its numbers; null for others.
Format codeFormat(int64_t dataType);

/// How errors name a TensorProto.DataType.
std::string dataTypeName(int64_t dataType);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_FORMATS_H
