// SPDX-License-Identifier: MIT
//
// Copies of a model's operations that show what each layer does to its numbers
// (docs/Semantics/LayerErrors.md).

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_LAYERCOPIES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_LAYERCOPIES_H

#include "RetypeRules.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include <optional>

namespace numera {

/// The layers of one function. Two copies of its operations stand behind them:
/// the reference, in f32 or f64, and each layer on inputs of the reference.
/// Those that were there first stay as they are, and so do their random bits.
class LayerCopies {
public:
  LayerCopies(mlir::func::FuncOp function, Policies &policies)
      : function(function), policies(policies), builder(function.getContext()) {
  }

  /// True for a function whose operations can be told apart: a public one that
  /// calls none, without branches, on tensors.
  static bool canCopy(mlir::func::FuncOp function);

  /// Makes the copies; before values change their types.
  void copy();
  /// Returns the tensors of all rows; when each operation has its policy.
  void returnRows();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// Operations of one name, or a single one that has none.
  struct Layer {
    std::string name, operation;
    llvm::SmallVector<mlir::Operation *> operations;
    bool computes = false; ///< else it only moves numbers
  };
  struct Row {
    unsigned layer;
    mlir::Value value, own, reference;
    llvm::SmallVector<int> inputs;
  };

  void findLive();
  void findLayers();
  bool isCopied(mlir::Operation *op) const;
  void copyReference();
  mlir::IRMapping copyLayer(unsigned layer);
  llvm::SmallVector<int> inputsOf(const Layer &layer);

  mlir::func::FuncOp function;
  Policies &policies;
  mlir::OpBuilder builder;
  llvm::SmallVector<Layer> layers;
  llvm::DenseMap<mlir::Operation *, unsigned> layerOf;
  llvm::DenseSet<mlir::Operation *> live;
  mlir::IRMapping reference;
  llvm::SmallVector<Row> rows;
};

/// Puts the operations of functions with rows in the order of their rows: what
/// compares a layer with the reference stands beside the layer, while its
/// numbers are in the cache. When random bits have their ids.
void orderByRows(mlir::ModuleOp module);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_LAYERCOPIES_H
