// SPDX-License-Identifier: MIT
//
// The passes on the `numera` dialect (docs/Passes.md).

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace numera {

/// A unit attribute of an scf.for with independent iterations. The loops around
/// it have it too.
inline constexpr llvm::StringLiteral parallelLoopAttr = "numera.parallel";

/// Registers the bufferization of operations of the dialect that read tensors.
void registerNumeraBufferization(mlir::DialectRegistry &dialects);

#define GEN_PASS_DECL
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES_H
