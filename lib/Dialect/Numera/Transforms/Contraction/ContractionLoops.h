// SPDX-License-Identifier: MIT
//
// Recognises a linalg.generic that a kernel in runtime/kernels can run. It is
// used before bufferization, to decide whether operands stay narrow, and after
// it, by the pass that calls the kernel.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CONTRACTIONLOOPS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CONTRACTIONLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// True if a step may be taken on factors that were cast to the accumulator's
/// format: the casts are exact, and nothing is registered for the step.
bool factorsEmbed(MacOp step);

/// The product of the loops' extents; none if one is known only at run time.
std::optional<int64_t> extentOf(llvm::ArrayRef<int64_t> ranges,
                                llvm::ArrayRef<unsigned> loops);

/// A contraction in the terms of numera/Runtime/Contraction.h. Loops are
/// numbers of dimensions of the generic.
struct PackedContraction {
  /// One of these is the body.
  MacOp step;
  QuireMacOp quireStep;
  /// The type that values have while they are computed with: f32, f64 or the
  /// storage integer of the accumulator; f64 where that is a quire.
  mlir::Type carrier;
  /// Set if every product and sum is rounded to this format in a carrier: the
  /// step is the runtime's (FormatFamily::carrierStep), or of an opaque format
  /// the carrier's operations and `round_to`, unless that is known to round as
  /// this format does.
  Format carried;
  /// True if the factors are stored as the floats that are computed with, and
  /// so are taken from where they lie.
  bool isDirect = false;
  /// Inputs of the generic.
  unsigned rowsInput = 0, columnsInput = 0;
  llvm::SmallVector<unsigned> batch, rows, columns, steps;

  /// Null for what is left to loops: another body, an operand that is no exact
  /// value of the accumulator, a product of a matrix and a vector (its operand
  /// is read once, which packing would only delay, unless each sum's elements
  /// lie side by side), a depthwise convolution.
  /// `target` says whose lowerings of an opaque format count.
  static std::optional<PackedContraction> of(mlir::linalg::GenericOp generic,
                                             Target target = Target::CPU);

  /// The loops of a product that is a function's: any body of one numera.mac of
  /// both inputs. Nothing but the step, the inputs and the loops is set.
  static std::optional<PackedContraction>
  ofProduct(mlir::linalg::GenericOp generic);

private:
  bool findBody(mlir::linalg::GenericOp generic);
  bool findStep(mlir::linalg::GenericOp generic, Target target);
  bool findFactors(mlir::Block *body, mlir::Value lhs, mlir::Value rhs);
  bool acceptsMac(Target target);
  bool acceptsQuire();
  void findCarrier(Target target);
  bool findLoops(mlir::linalg::GenericOp generic);
  bool orient(mlir::linalg::GenericOp generic, Target target);
  double directCost(mlir::linalg::GenericOp generic) const;
  void swapSides();
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CONTRACTIONLOOPS_H
