//===- Single.h - Operators that are one operation -------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_SINGLE_H
#define NUMERA_LIB_IMPORT_ONNX_SINGLE_H

#include "Emitter.h"

namespace numera::importer {

/// An operator that is one operation, by its name in MLIR, or in the dialect if
/// MLIR has none.
struct Single {
  llvm::StringRef onnx, mlir;
  mlir::Value create(LocBuilder &b, mlir::ValueRange operands) const;
};

/// The row of `Operations.def` that has the operator, or null.
const Single *findSingle(llvm::StringRef name);

/// x < 0 ? negative : x
mlir::Value whereNegative(LocBuilder &b, mlir::Value x, mlir::Value negative);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_SINGLE_H
