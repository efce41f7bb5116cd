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

/// On an scf.for, a unit: its iterations do not depend on each other, so that
/// their order does not matter. The loops around it have it too.
inline constexpr llvm::StringLiteral parallelLoopAttr = "numera.parallel";

/// How operations of the dialect that read tensors read their buffers.
void registerNumeraBufferization(mlir::DialectRegistry &dialects);

#define GEN_PASS_DECL
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES_H
