// SPDX-License-Identifier: MIT
//
// The matrix instructions of a GPU (PTX ISA, mma and wgmma) take factors in a
// few formats. Factors of a contraction are cast to one of these if that is
// exact.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_TENSORCORES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_TENSORCORES_H

#include "Contraction/ContractionWork.h"

namespace numera {

/// 89 of `sm_89` and `sm_90a`; 0 of anything else.
unsigned gpuVersion(llvm::StringRef gpu);

/// The factors that an instruction is given.
struct TensorFactors {
  Format row, column;
  std::string name;  ///< of the instruction: `bf16`, `e4m3_e5m2`
  unsigned bits = 0; ///< of a factor: 16 or 8
  /// True for those of four warps together, which only sm_90a has.
  bool ofWarpgroups = false;

  /// Null if the contraction does not name tensor cores. An error at `generic`
  /// if they cannot be had for its factors on `gpu`.
  static mlir::FailureOr<TensorFactors> of(mlir::linalg::GenericOp generic,
                                           const PackedContraction &contraction,
                                           const Registry &registry,
                                           llvm::StringRef gpu);
  explicit operator bool() const { return bits != 0; }
  /// Of runtime/kernels/device: `tensor8`, `warpgroup16`.
  std::string kind() const {
    return (ofWarpgroups ? "warpgroup" : "tensor") + std::to_string(bits);
  }
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_TENSORCORES_H
