//===- Resize.h - How Resize finds its elements ----------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_RESIZE_H
#define NUMERA_LIB_IMPORT_ONNX_RESIZE_H

#include "List.h"
#include "Node.h"

namespace numera::importer {

/// What the attributes of Resize and Upsample say.
struct Resizing {
  Node &node;
  std::string mode = {}, place = {}, nearest = {};
  double cubic = -0.75;
  bool excludesOutside = false;
  bool antialiases = false;
  double outside = 0;

  bool crops() const { return place == "tf_crop_and_resize"; }
  bool isCubic() const { return mode == "cubic"; }

  /// Resizes one dimension by numbers that are known.
  Tensor along(const Tensor &x, int64_t axis, int64_t result, double scale,
               double start, double end) const;
  /// Resizes to `shape` by numbers of which some are known only when the model
  /// runs; the program fails where they give another shape.
  std::optional<Tensor> atRunTime(const Tensor &x, llvm::ArrayRef<int64_t> axes,
                                  const List &regions, const List &scales,
                                  const List &sizes, llvm::StringRef policy,
                                  const Shape &shape) const;

private:
  /// The neighbours of a place and their weights.
  struct Taps {
    llvm::SmallVector<int64_t> from;
    llvm::SmallVector<double> weights;
    bool isOutside = false;
  };
  /// What is known of one dimension when the model runs: values of f64.
  struct Side {
    int64_t size, result;
    mlir::Value scale, start, end;
  };

  Taps tapsAt(int64_t i, int64_t size, int64_t result, double scale,
              double start, double end) const;
  double source(int64_t i, int64_t size, int64_t result, double scale,
                double start, double end) const;
  int64_t nearestOf(double x) const;

  mlir::Value source(LocBuilder &b, mlir::Value i, const Side &side) const;
  mlir::Value nearestOf(LocBuilder &b, mlir::Value x) const;
  mlir::Value weightOf(LocBuilder &b, mlir::Value distance) const;
  Tensor along(const Tensor &x, int64_t axis, const Side &side) const;

  /// The sums of neighbours `from` by their `weights`, or the neighbours where
  /// there are none; `outside` where a flag is set.
  Tensor apply(const Tensor &x, int64_t axis, int64_t result,
               const Tensor &from, const Tensor *weights,
               const Tensor *flags) const;
};

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_RESIZE_H
