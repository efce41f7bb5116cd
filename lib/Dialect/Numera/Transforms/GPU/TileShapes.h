// SPDX-License-Identifier: MIT
//
// Compile-time choices for a contraction on a GPU: the tile of a block, and how
// elements are fetched.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_TILESHAPES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_TILESHAPES_H

#include "TensorCores.h"
#include <array>

namespace numera {

/// One of those that runtime/kernels/device has.
struct TileShape {
  int64_t rows, columns;

  /// `tensor` perhaps null. `isBrief`: a step is an instruction or two. `gpu`
  /// as in `sm_90a`; it has so many processors, if that is known.
  static TileShape of(mlir::linalg::GenericOp generic,
                      const PackedContraction &contraction,
                      const TensorFactors &tensor, bool isBrief,
                      llvm::StringRef gpu, unsigned processors);
  std::string name() const {
    return std::to_string(rows) + "x" + std::to_string(columns);
  }
};

/// kernel::Layout of rows and columns, packed; not for sums in quires.
std::array<int32_t, 2> layoutsOf(const ContractionWork &work,
                                 const TileShape &shape,
                                 const TensorFactors &tensor);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_GPU_TILESHAPES_H
