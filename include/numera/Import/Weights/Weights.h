// SPDX-License-Identifier: MIT
//
// Constants of an MLIR model whose elements are not in its text.

#ifndef NUMERA_IMPORT_WEIGHTS_WEIGHTS_H
#define NUMERA_IMPORT_WEIGHTS_WEIGHTS_H

#include "mlir/IR/BuiltinOps.h"

namespace numera {

/// Gives every `dense_resource<name>` of the module its elements, as a dense
/// attribute of the same type. They come from the resources of the model's own
/// file or, where it has none of the name, from a file in the safetensors
/// format: `weights`, or if that is empty the file beside `model` with the
/// ending `.safetensors`. The file is read only where it is needed.
///
/// A tensor of the file has the shape of the constant and its element type, or
/// a float type all of whose values are in it (BF16 for f32). Fails after one
/// error.
llvm::LogicalResult loadWeights(mlir::ModuleOp module, llvm::StringRef model,
                                llvm::StringRef weights);

} // namespace numera

#endif // NUMERA_IMPORT_WEIGHTS_WEIGHTS_H
