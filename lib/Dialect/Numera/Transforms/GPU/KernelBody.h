// SPDX-License-Identifier: MIT
//
// The body of a kernel that computes one element a thread.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_KERNELBODY_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_KERNELBODY_H

#include "KernelModule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace numera {

/// The loops of a generic, as a kernel goes through them.
struct KernelLoops {
  llvm::SmallVector<mlir::Value> extents; ///< of all loops, in their order
  /// Loops whose iterations write different elements: one thread each. The last
  /// one is that along which the result is contiguous.
  llvm::SmallVector<unsigned> parallel;
  /// The others, in written order, inside a thread.
  llvm::SmallVector<unsigned> sequential;
  /// Elements along the last parallel loop that a thread computes.
  int64_t width = 1;

  static KernelLoops of(mlir::OpBuilder &builder,
                        mlir::linalg::GenericOp generic);
};

/// What `width` is to be: 1 but where 16 bytes can be read at a time.
int64_t elementsOfThread(mlir::linalg::GenericOp generic,
                         const KernelLoops &loops);

/// True for what a kernel does not take as an argument but computes itself.
bool isKernelConstant(mlir::Value value);

/// Fills `kernel`, whose arguments are `operands`, with what `generic` does.
/// Sums start with `starts`, kernel constants, and where that is null with what
/// is in memory.
void buildKernelBody(mlir::linalg::GenericOp generic, const KernelLoops &loops,
                     mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::Value> starts,
                     mlir::gpu::GPUFuncOp kernel);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_KERNELBODY_H
