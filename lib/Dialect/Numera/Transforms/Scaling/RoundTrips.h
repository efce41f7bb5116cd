// SPDX-License-Identifier: MIT
//
// Matches numbers that become elements of a block, and numbers again:
//
//   q = x · 2^-e        a number for the element format F
//   r = round_to<F> q   or the code of it
//   y = r · 2^e

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_ROUNDTRIPS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_ROUNDTRIPS_H

#include "BlockSteps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// A number on its way to its element, or through it: what stands between
/// `scaled` and `result` is `rounding`.
struct RoundTrip {
  mlir::Value number;      ///< f32, an argument of the body
  mlir::Operation *scaled; ///< by the reciprocal of the scale
  llvm::SmallVector<mlir::Operation *, 2> rounding;
  /// Times the scale; or the cast that gives the element's code.
  mlir::Operation *result;
  mlir::linalg::GenericOp maxima; ///< what the scales come from
  mlir::Value codes;              ///< of the scales
  mlir::AffineMap access;         ///< of the scales
  BlockSteps steps;

  bool isToCode() const { return llvm::isa<CastOp>(result); }
};

/// The one that ends with `result`, in the body of `generic`, if its blocks lie
/// along the last dimension and their scales come from all their numbers.
std::optional<RoundTrip> roundTripOf(mlir::linalg::GenericOp generic,
                                     mlir::Operation *result);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_ROUNDTRIPS_H
