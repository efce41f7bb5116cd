// SPDX-License-Identifier: MIT
//
// The passes on the `numera` dialect (docs/Passes.md).

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace numera {

#define GEN_PASS_DECL
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES_H
