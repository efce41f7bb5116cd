//===- ONNX.h - Reads ONNX models as linalg on f32 tensors -----*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// A model becomes one function on f32 tensors made of linalg, tensor, arith
// and math operations. What the later passes rely on:
//
//  * A contraction is linalg.matmul, linalg.batch_matmul,
//    linalg.conv_2d_nchw_fchw, or a linalg.generic whose body is
//    `arith.mulf %lhs, %rhs` and `arith.addf %acc, %product`; it starts at
//    +0.0 and walks output dimensions first, then channel, kernel row, kernel
//    column. A bias is a separate addition after it.
//  * A maximum, sum or mean is a reduction with one operation in its body
//    (`arith.maximumf`, `arith.addf`) that starts at -inf or +0.0; a mean
//    divides afterwards, by `arith.divf`.
//  * Everything else is an elementwise linalg.generic that broadcasts through
//    its indexing maps. Softmax and the norms are sequences of these.
//  * Floats narrower than f32 are cast and nothing else: Cast is numera.cast
//    with the rounding and the overflow of the ONNX standard, and a tensor of
//    them may be an input or output of the model.
//  * Each operation is located at NameLoc(<node name>), or the node's first
//    output where it has no name, and keeps its operator, `onnx.Softmax`
//    (Operator.h); constants at their initializer's name.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_IMPORT_ONNX_H
#define NUMERA_IMPORT_ONNX_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <optional>
#include <string>

namespace numera {

/// Reads the ONNX model in the file `path` and returns a module with one public
/// `func.func`, named after the graph (`main_graph` where it has no name).
/// Arguments and results carry the model's names as `numera.name`. A first
/// dimension without a size is the batch: it becomes `?`, and all inputs that
/// have one must agree on it when the function runs.
///
/// Opsets 7 to 28 are read. Returns null after exactly one error, located at
/// the file (line and column 0), which names the node, what was found and what
/// was expected.
mlir::OwningOpRef<mlir::ModuleOp> importONNX(llvm::StringRef path,
                                             mlir::MLIRContext *context);

/// The same of a model in memory; errors are located at `name`, and external
/// data is in `folder`.
mlir::OwningOpRef<mlir::ModuleOp> importONNX(llvm::StringRef bytes,
                                             llvm::StringRef name,
                                             llvm::StringRef folder,
                                             mlir::MLIRContext *context);

/// The files with external data of the tensors of a model: what the model calls
/// them, and where they are. No value where that cannot be told of all.
std::optional<std::map<std::string, std::string>>
externalFilesOf(llvm::StringRef path);

} // namespace numera

#endif // NUMERA_IMPORT_ONNX_H
