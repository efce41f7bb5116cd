//===- Loops.h - Loops over a sequence -------------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_LOOPS_H
#define NUMERA_LIB_IMPORT_ONNX_LOOPS_H

#include "Node.h"

namespace numera::importer {

/// What a loop leaves behind.
struct LoopResults {
  /// The states after the last step.
  llvm::SmallVector<Tensor> states;
  /// What the steps put out, stacked along a first dimension.
  llvm::SmallVector<Tensor> outputs;
};

/// One step: the states after it, followed by what it puts out; nothing after
/// an error.
using LoopStep = llvm::function_ref<std::optional<llvm::SmallVector<Tensor>>(
    mlir::Value step, llvm::ArrayRef<Tensor> states,
    llvm::ArrayRef<Tensor> parts)>;

/// A loop of `steps` steps, as many as the batch where it is open. Step i reads
/// the part i of dimension 0 of each of the sequences.
std::optional<LoopResults> loop(Node &node, Dim steps,
                                llvm::ArrayRef<Tensor> states,
                                llvm::ArrayRef<Tensor> sequences,
                                LoopStep step);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_LOOPS_H
