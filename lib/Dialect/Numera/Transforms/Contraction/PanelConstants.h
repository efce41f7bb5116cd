// SPDX-License-Identifier: MIT
//
// The constants whose elements vectors of a contraction run along, laid out in
// panels: all steps of some columns, then those of the next. The kernel of
// runtime/kernels/DirectContraction.cpp reads them as they are.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_PANELCONSTANTS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_PANELCONSTANTS_H

#include "ContractionWork.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

namespace numera {

/// A constant in panels of `width` columns.
struct Panels {
  mlir::memref::GlobalOp global;
  int64_t width, count;
  int64_t missing; ///< columns of the last panel, where zeros lie
  int64_t pitch;   ///< from panel to panel, in elements
  /// How far each loop of the contraction goes; that of the columns, in a
  /// panel.
  llvm::SmallVector<int64_t> strides;
};

class PanelConstants {
public:
  explicit PanelConstants(mlir::ModuleOp module);

  /// The columns of `work` in panels, if they are a constant of which panels
  /// can be made.
  std::optional<Panels> layOut(const ContractionWork &work);
  /// Removes what nobody reads any more.
  void eraseUnused();

private:
  /// A loop over elements: how many, and how far apart they lie in the old
  /// order and in the new one.
  struct Move {
    int64_t extent, from, to;
    bool operator==(const Move &) const = default;
  };
  struct LaidOut {
    mlir::memref::GlobalOp from;
    llvm::SmallVector<Move> moves;
    mlir::memref::GlobalOp to;
  };

  mlir::memref::GlobalOp globalOf(mlir::Value value);
  /// `panel` is the move that goes from panel to panel; the last move goes
  /// through the columns of each.
  mlir::memref::GlobalOp moved(mlir::memref::GlobalOp global,
                               llvm::ArrayRef<Move> moves, size_t panel,
                               int64_t missing);
  static void copy(const char *from, char *to, llvm::ArrayRef<Move> moves,
                   int64_t size);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  std::vector<LaidOut> laidOut; ///< so far
  llvm::SetVector<mlir::memref::GetGlobalOp> replaced;
  llvm::StringMap<size_t> readers;                ///< of each constant
  llvm::DenseMap<mlir::Attribute, size_t> owners; ///< of its elements
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_PANELCONSTANTS_H
