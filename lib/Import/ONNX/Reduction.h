//===- Reduction.h - Parts of reductions -----------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_REDUCTION_H
#define NUMERA_LIB_IMPORT_ONNX_REDUCTION_H

#include "Node.h"

namespace numera::importer {

/// The shape after a reduction, with 1 for reduced dimensions or without them.
Shape reducedShape(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<bool> reduced,
                   bool keep);

/// The sum over the dimensions marked, divided by their number; nothing after
/// an error.
std::optional<Tensor> mean(Node &node, const Tensor &x,
                           llvm::ArrayRef<bool> reduced);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_REDUCTION_H
