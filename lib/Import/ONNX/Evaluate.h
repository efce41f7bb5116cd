//===- Evaluate.h - Operations on constants --------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_EVALUATE_H
#define NUMERA_LIB_IMPORT_ONNX_EVALUATE_H

#include "Tensor.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace numera::importer {

/// The elements of the result, of `dataType`, where all that the operation
/// reads is constant, it is small, and every operation in its body folds; else
/// null.
std::shared_ptr<const HostData> evaluate(mlir::linalg::GenericOp op,
                                         int64_t dataType);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_EVALUATE_H
