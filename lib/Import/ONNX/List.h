//===- List.h - Numbers of an input, known or computed ---------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// Scales, sizes, pads, axes, starts and ends: a list of numbers that is known
// when the model is imported, or computed when it runs.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_LIST_H
#define NUMERA_LIB_IMPORT_ONNX_LIST_H

#include "Node.h"

namespace numera::importer {

class List {
public:
  /// Of no elements.
  List() = default;
  /// The elements of input i, of rank 1 or 0; none where it is left out.
  /// Reports an input of another shape.
  List(Node &node, unsigned i);
  /// An attribute's numbers, which may be missing.
  static List of(const std::optional<llvm::SmallVector<float>> &numbers);

  int64_t size() const { return count; }
  bool isKnown() const { return known.has_value(); }
  /// The numbers; reports a list that is computed.
  std::optional<llvm::SmallVector<double>> numbers() const;
  /// Element i as an index, or as an f64.
  mlir::Value index(LocBuilder &b, int64_t i) const;
  mlir::Value real(LocBuilder &b, int64_t i) const;

private:
  mlir::Value element(LocBuilder &b, int64_t i) const;

  Node *node = nullptr;
  unsigned input = 0;
  int64_t count = 0;
  std::optional<llvm::SmallVector<double>> known = llvm::SmallVector<double>();
  mlir::Value values;
  int64_t dataType = 0;
  bool isScalar = false;
};

/// The program ends with an error that names the node where `condition` does
/// not hold.
void require(Node &node, mlir::Value condition, const llvm::Twine &message);
/// The same where an index is not `size`, which the model declares.
void requireSize(Node &node, mlir::Value size, Dim wanted);
/// The same where the elements of input i, if they are computed, are not the
/// sizes from the declared dimension `first` on. Fails where there are not as
/// many.
llvm::LogicalResult requireSizes(Node &node, unsigned i,
                                 llvm::ArrayRef<Dim> wanted);
/// The same where the axes of input i, which are computed, are none of those of
/// `rank` dimensions that fit. Fails where none can be.
llvm::LogicalResult
requireAxes(Node &node, unsigned i, int64_t rank,
            llvm::function_ref<bool(llvm::ArrayRef<bool>)> fits);
/// Whether the axes of input i are those marked, as a BOOL.
Tensor areAxes(Node &node, unsigned i, llvm::ArrayRef<bool> marked);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_LIST_H
