// SPDX-License-Identifier: MIT
//
// Finds the batch of a model in its tensors and loops (docs/Semantics/
// Stochastic.md, D8). The random bits of a sample must not depend on which
// other samples are computed with it.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_BATCHANALYSIS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_BATCHANALYSIS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"

namespace numera {

/// The dimensions of a tensor, or the loops of an operation, along which the
/// sample changes.
struct BatchPlace {
  uint64_t dims = 0; ///< a bit for each dimension
  /// With one dimension d: index d is sample * inner + rest, rest < inner. 0
  /// where the way is not known.
  int64_t inner = 0;

  static BatchPlace at(unsigned dim, int64_t inner = 1) {
    return {uint64_t{1} << dim, inner};
  }
  static BatchPlace unknown(uint64_t dims) { return {dims, 0}; }
  bool isNone() const { return dims == 0; }
  bool isKnown() const { return dims != 0 && inner != 0; }
  unsigned dim() const { return llvm::countr_zero(dims); } ///< if known
  bool operator==(const BatchPlace &) const = default;
};

class BatchAnalysis {
public:
  /// Analyses every function of the module. Without `hasBatch` no argument of
  /// the model has the batch: a call is one sample.
  explicit BatchAnalysis(mlir::ModuleOp module, bool hasBatch = true);

  /// Loops of a linalg operation that go through the batch.
  BatchPlace loopsOf(mlir::linalg::LinalgOp op) const {
    return loops.lookup(op);
  }
  BatchPlace placeOf(mlir::Value value) const { return values.lookup(value); }
  /// How many of an index there are for a sample, where it is the batch's size
  /// times a constant; else 0.
  int64_t samplesOf(mlir::Value size) const { return sizes.lookup(size); }
  /// True if calls of `function` have the batch in different arguments or
  /// dimensions, so that there is no one place.
  bool isAmbiguous(mlir::func::FuncOp function) const {
    return ambiguous.contains(function);
  }

private:
  using Places = llvm::SmallVector<BatchPlace>;

  Places analyse(mlir::func::FuncOp function, const Places &arguments);
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitLinalg(mlir::linalg::LinalgOp op);
  void visitEmpty(mlir::Operation *op);
  void visitReshape(mlir::Operation *op);
  void visitSlice(mlir::Operation *op);
  void visitLoop(mlir::Operation *op);
  void visitCall(mlir::func::CallOp call);
  Places placesOf(mlir::ValueRange range) const;
  void assign(mlir::ValueRange range, const Places &list);

  llvm::DenseMap<mlir::Value, BatchPlace> values;
  llvm::DenseMap<mlir::Value, int64_t> sizes;
  llvm::DenseMap<mlir::Operation *, BatchPlace> loops;
  llvm::DenseMap<mlir::Operation *, Places> called, returned;
  llvm::DenseSet<mlir::Operation *> ambiguous;
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_BATCHANALYSIS_H
