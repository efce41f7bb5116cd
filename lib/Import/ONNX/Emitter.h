//===- Emitter.h - The operations that models are made of ------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// Emits the few forms that every ONNX operator becomes (see
// numera/Import/ONNX.h). Callers check shapes first: nothing here fails.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_EMITTER_H
#define NUMERA_LIB_IMPORT_ONNX_EMITTER_H

#include "Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace numera::importer {

using LocBuilder = mlir::ImplicitLocOpBuilder;

/// The scalar computation inside an operation.
using Body = llvm::function_ref<mlir::Value(LocBuilder &, mlir::ValueRange)>;

/// A tensor read by an elementwise operation: its dimension i runs along
/// dimension axes[i] of the result, or stands still where its size is 1.
struct Operand {
  const Tensor *tensor;
  llvm::SmallVector<unsigned, 4> axes;
};

/// A tensor read by a structured operation through a map.
struct Access {
  mlir::Value value;
  mlir::AffineMap map;
};

class Emitter {
public:
  /// Constants are located at their names, in `file`.
  Emitter(LocBuilder &builder, mlir::Location file) : b(builder), file(file) {}

  LocBuilder &b;

  /// The function argument whose first dimension is the batch size.
  void setBatch(mlir::Value argument);

  mlir::RankedTensorType type(llvm::ArrayRef<Dim> shape, bool integral = false);
  /// The tensor's SSA value; a compile-time tensor becomes a constant.
  mlir::Value value(const Tensor &tensor);
  mlir::Value scalar(float number);
  /// A result tensor before its elements are computed.
  mlir::Value empty(llvm::ArrayRef<Dim> shape);
  mlir::Value filled(llvm::ArrayRef<Dim> shape, float number);
  /// Sizes as tensor operations take them.
  llvm::SmallVector<mlir::OpFoldResult> sizes(llvm::ArrayRef<Dim> shape);

  /// linalg.generic over dimensions whose first `parallel` are the result's.
  Tensor generic(llvm::ArrayRef<Access> inputs, mlir::Value init,
                 mlir::AffineMap initMap,
                 llvm::ArrayRef<mlir::utils::IteratorType> iterators,
                 Body body);

  /// Elementwise: numpy's alignment of each tensor with `shape`.
  Tensor map(llvm::ArrayRef<const Tensor *> tensors, llvm::ArrayRef<Dim> shape,
             Body body);
  /// Elementwise: each operand says which dimensions it runs along.
  Tensor mapAlong(llvm::ArrayRef<Operand> operands, llvm::ArrayRef<Dim> shape,
                  Body body);
  Operand aligned(const Tensor &tensor, unsigned rank);

  /// Reduces the dimensions marked in `reduced`, which the result lacks. The
  /// body takes the element and the accumulator.
  Tensor reduce(const Tensor &tensor, llvm::ArrayRef<bool> reduced, float init,
                Body body);
  /// The reductions that models are made of.
  Tensor sum(const Tensor &tensor, llvm::ArrayRef<bool> reduced);
  Tensor maximum(const Tensor &tensor, llvm::ArrayRef<bool> reduced);

  /// acc + lhs * rhs from +0.0; the first dimensions are the result's.
  Tensor contract(Access lhs, Access rhs, llvm::ArrayRef<Dim> shape,
                  unsigned reductions);

  Tensor pad(const Tensor &tensor, llvm::ArrayRef<int64_t> low,
             llvm::ArrayRef<int64_t> high, float number);
  /// Same elements in the same order; both shapes hold equally many.
  Tensor reshape(const Tensor &tensor, llvm::ArrayRef<Dim> shape);
  /// Dimension i of the result is dimension permutation[i] of the tensor.
  Tensor transpose(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation);

  Tensor result(mlir::Value value, llvm::ArrayRef<Dim> shape);

private:
  mlir::Value size(Dim dim);

  mlir::Location file;
  mlir::Value batch;
  mlir::Value batchSize;
  /// Constants that were emitted, one for each shape they are used in.
  llvm::DenseMap<const HostData *, llvm::SmallVector<Tensor, 1>> constants;
};

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_EMITTER_H
