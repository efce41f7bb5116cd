// SPDX-License-Identifier: MIT
//
// The module of the kernels, for passes that create kernels.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_KERNELMODULE_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_KERNELMODULE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace numera {

/// Eight warps: enough of them to hide what memory takes, and few registers
/// lost where a kernel needs many. runtime/kernels/device counts on it.
inline constexpr int32_t threadsOfBlock = 256;

/// `gpu.module @kernels`, made where there is none.
mlir::gpu::GPUModuleOp kernelModule(mlir::ModuleOp module);

/// An empty kernel in it, of blocks of threadsOfBlock threads, with a name like
/// `name`.
mlir::gpu::GPUFuncOp createKernel(mlir::ModuleOp module, mlir::Location loc,
                                  llvm::StringRef name,
                                  mlir::TypeRange arguments);

/// Launches `kernel` on so many blocks, an index.
mlir::gpu::LaunchFuncOp launch(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::gpu::GPUFuncOp kernel, mlir::Value blocks,
                               mlir::ValueRange operands);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_KERNELMODULE_H
