//===- Window.h - The sliding windows of Conv and the pools ----*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_WINDOW_H
#define NUMERA_LIB_IMPORT_ONNX_WINDOW_H

#include "Node.h"

namespace numera::importer {

/// A list attribute of `node` with one entry for each of `count`, each at least
/// `least` and at most 2^31.
llvm::LogicalResult readList(Node &node, llvm::StringRef name, size_t count,
                             int64_t byDefault, int64_t least,
                             llvm::SmallVector<int64_t> &list);

/// The node's auto_pad, NOTSET where it has none; an error for other words.
std::optional<std::string> readPadMode(Node &node);

/// The node's pads, those before each dimension and then those behind; an error
/// where auto_pad has a `mode` that makes them.
llvm::LogicalResult readPads(Node &node, size_t rank, llvm::StringRef mode,
                             llvm::SmallVector<int64_t> &pads);

/// A window over the spatial dimensions (those after batch and channel), one
/// entry a dimension.
struct Window {
  llvm::SmallVector<int64_t> input, kernel, strides, dilations, output;
  /// Zeros (or -inf) before and after, as the model asks for them.
  llvm::SmallVector<int64_t> low, high;
  /// What ceil_mode adds behind them so that the last window fits.
  llvm::SmallVector<int64_t> excess;

  size_t rank() const { return kernel.size(); }

  /// Reads strides, dilations, pads and auto_pad of `node` for its input 0 and
  /// computes the output sizes; `kernel` is set.
  llvm::LogicalResult read(Node &node, bool ceil);

  /// `x`, of input 0's shape, with its padding around it, filled with `number`.
  Tensor pad(Node &node, const Tensor &x, mlir::TypedAttr number) const;
  Tensor pad(Node &node, const Tensor &x, double number) const;
  /// stride * output + dilation * kernel, where the output's loops start at
  /// `output` and the kernel's at `kernel`.
  void appendTo(llvm::SmallVectorImpl<mlir::AffineExpr> &exprs,
                mlir::MLIRContext *context, unsigned outputLoop,
                unsigned kernelLoop) const;

private:
  llvm::LogicalResult resolve(Node &node, unsigned i, llvm::StringRef mode,
                              bool ceil);
};

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_WINDOW_H
