// SPDX-License-Identifier: MIT
//
// The steps of numera-retype.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "numera/Dialect/Numera/Transforms/Policy.h"

namespace numera {

/// A constant of `format` with the value of an f32 attribute; an infinite one
/// becomes the lowest or highest value. For opaque formats, whose codes only
/// their library knows, an f32 constant and a cast.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           const Format &format, mlir::TypedAttr value);

/// Rewrites contractions and sums, already in the policy's format, to its
/// accumulator.
void retypeContractions(mlir::ModuleOp module, const ResolvedPolicy &policy);

/// A sum over the reduction loops of `generic`, whose body ends in the addition
/// to its accumulator, in the policy's accumulator and blocked order, cast to
/// the format; null where a reduced size is not known.
mlir::Value createBlockedSum(mlir::IRRewriter &rewriter,
                             mlir::linalg::GenericOp generic,
                             const ResolvedPolicy &policy);

/// Gives every operation that rounds stochastically, and has none, its random
/// bits, drawn by a numera.random with an id of its own. Functions that draw
/// take seed, step and sample as three trailing i64 and have the attribute
/// `numera.draws`.
llvm::LogicalResult assignRandomBits(mlir::ModuleOp module);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_H
