// SPDX-License-Identifier: MIT
//
// The description of the results that numera-retype adds to a function to show
// the errors of its layers.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICS_LAYERROWS_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICS_LAYERROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace numera {

/// A tensor that a layer makes. The function returns three tensors for it,
/// behind its own results and those of the rows before it.
struct LayerRow {
  /// In the order of the results. `Own` is what the layer makes of the inputs
  /// that it has in the reference.
  enum Result { Value, Own, Reference, results };

  std::string name; ///< of the model's node, or the operation's with a number
  std::string operation;
  std::string format;      ///< name or spelling
  std::vector<int> inputs; ///< rows that the layer reads
};

/// Notes rows on the function.
void setLayerRows(mlir::func::FuncOp function, llvm::ArrayRef<LayerRow> rows);
/// How many there are.
size_t countLayerRows(mlir::func::FuncOp function);
/// Empty where there are none.
std::vector<LayerRow> layerRowsOf(mlir::func::FuncOp function);
/// How many results the function has in front of those rows: its own, and one
/// of counts (FlagCounts.h), if there is one.
unsigned countOwnResults(mlir::func::FuncOp function);
/// Takes the description off again.
void dropLayerRows(mlir::func::FuncOp function);
/// Takes the rows off, and their description.
void eraseLayerRows(mlir::func::FuncOp function);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICS_LAYERROWS_H
