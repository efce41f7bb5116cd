// SPDX-License-Identifier: MIT
//
// Elementwise operations of linalg on vectors of f32.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_ELEMENTLANES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_ELEMENTLANES_H

#include "Loops.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace numera {

/// Computes neighbouring elements of an elementwise operation in the lanes of a
/// vector, where the builder stands.
class ElementLanes {
public:
  static constexpr int64_t lanes = 16;

  ElementLanes(mlir::OpBuilder &builder, mlir::linalg::GenericOp generic)
      : builder(builder), generic(generic), loc(generic.getLoc()),
        last(generic.getNumLoops() - 1) {}

  /// True if all it computes with are f32, and what it reads for neighbouring
  /// iterations of the last loop is one element, or lies side by side.
  bool hasForm();

  /// The `count` elements from the loops' values `from` on; lanes behind them
  /// hold anything. `given` are those of the operand `known`, if there is one.
  mlir::Value compute(llvm::ArrayRef<mlir::Value> from, int64_t count,
                      mlir::OpOperand *known = nullptr, mlir::Value given = {});
  /// The same, of all operands, in their order. What the body takes from
  /// outside is looked up in `outside` first.
  mlir::Value computeFrom(mlir::ValueRange inputs,
                          const mlir::IRMapping &outside = {});
  /// Writes the first `count` lanes to `buffer`.
  void store(mlir::Value vector, mlir::Value buffer, mlir::ValueRange indices,
             int64_t count);

private:
  mlir::Value load(mlir::OpOperand &input, llvm::ArrayRef<mlir::Value> from,
                   int64_t count);
  mlir::Value maskOf(int64_t count);
  mlir::VectorType vectorType() {
    return mlir::VectorType::get({lanes}, builder.getF32Type());
  }

  mlir::OpBuilder &builder;
  mlir::linalg::GenericOp generic;
  mlir::Location loc;
  unsigned last; ///< loop: its iterations are lanes
};

/// The elementwise operation right behind `op` that overwrites each element of
/// its result, all of one buffer, by what it makes of it and of other memory,
/// if it has a form in lanes and `loopsAt` its loops; else null.
mlir::linalg::GenericOp overwriterOf(mlir::linalg::GenericOp op);

/// Its operand that is the result of `op`.
mlir::OpOperand *overwrittenBy(mlir::linalg::GenericOp overwriter);

/// The values of the overwriter's loops at an element of a view, of this shape,
/// of what it overwrites; nothing where its loops are not each some of the
/// view's dimensions, one after the other.
std::optional<llvm::SmallVector<mlir::Value>>
loopsAt(mlir::OpBuilder &builder, mlir::linalg::GenericOp overwriter,
        llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> indices);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_ELEMENTLANES_H
