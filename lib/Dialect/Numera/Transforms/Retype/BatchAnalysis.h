// SPDX-License-Identifier: MIT
//
// Finds the batch of a model in its tensors and loops (docs/Semantics/
// Stochastic.md, D8). The random bits of a sample must not depend on which
// other samples are computed with it.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_BATCHANALYSIS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_BATCHANALYSIS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

namespace numera {

/// The dimensions of a tensor, or the loops of an operation, along which the
/// sample changes.
struct BatchPlace {
  uint64_t dims = 0; ///< a bit for each dimension
  /// With one dimension d: index d is (front * samples + sample) * inner +
  /// rest, front < outer, rest < inner. 0 where the way is not known.
  int64_t inner = 0;
  int64_t outer = 1; ///< 0 for any number of them
  /// True if outer * inner is known from a size alone, and all of it is taken
  /// for inner. Values tell better.
  bool isGuess = false;

  static BatchPlace at(unsigned dim, int64_t inner = 1, int64_t outer = 1) {
    return {uint64_t{1} << dim, inner, outer, false};
  }
  /// Of a dimension with `count` for each sample.
  static BatchPlace guess(unsigned dim, int64_t count) {
    return {uint64_t{1} << dim, count, 1, count != 1};
  }
  static BatchPlace unknown(uint64_t dims) { return {dims, 0, 1, false}; }
  /// The same in another dimension.
  BatchPlace moved(unsigned dim) const {
    return {uint64_t{1} << dim, inner, outer, isGuess};
  }
  bool isNone() const { return dims == 0; }
  bool isKnown() const { return dims != 0 && inner != 0; }
  unsigned dim() const { return llvm::countr_zero(dims); } ///< if known
  /// True if both may be the same. Both are known.
  bool agrees(const BatchPlace &other) const {
    if (isGuess || other.isGuess)
      return outer * other.outer == 0 ||
             inner * outer == other.inner * other.outer;
    return inner == other.inner && outer == other.outer;
  }
  bool operator==(const BatchPlace &) const = default;
};

/// The place in a value that comes from one of two.
BatchPlace join(BatchPlace x, BatchPlace y);

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
  /// True if the batch that `function` is called with is one sample, whatever
  /// is computed of it.
  bool hasOneSample(mlir::func::FuncOp function) const {
    return single.contains(function);
  }
  /// The argument that tells the size of the batch, if there is one.
  mlir::BlockArgument argumentOf(mlir::func::FuncOp function) const;
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
  bool keepsPlace(BatchPlace place, mlir::OffsetSizeAndStrideOpInterface part,
                  unsigned i, int64_t whole) const;
  BatchPlace placeInSlice(mlir::tensor::ExtractSliceOp slice,
                          llvm::ArrayRef<int64_t> dims) const;
  void visitSlice(mlir::Operation *op);
  void visitBranch(mlir::Operation *branch);
  void visitLoop(mlir::scf::ForOp loop);
  void visitLoop(mlir::scf::WhileOp loop);
  void visitCall(mlir::func::CallOp call);
  Places placesOf(mlir::ValueRange range) const;
  void assign(mlir::ValueRange range, const Places &list);

  llvm::DenseMap<mlir::Value, BatchPlace> values;
  llvm::DenseMap<mlir::Value, int64_t> sizes;
  llvm::DenseMap<mlir::Operation *, BatchPlace> loops;
  llvm::DenseMap<mlir::Operation *, Places> called, returned;
  llvm::DenseSet<mlir::Operation *> ambiguous, single;
  bool isOneSample = false; ///< of what is being analysed
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_BATCHANALYSIS_H
