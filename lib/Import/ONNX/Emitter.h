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

  mlir::RankedTensorType type(llvm::ArrayRef<Dim> shape, mlir::Type element);
  mlir::RankedTensorType type(llvm::ArrayRef<Dim> shape,
                              int64_t dataType = type::Float);
  /// What the elements of a tensor of `dataType` are.
  mlir::Type element(int64_t dataType);
  /// The tensor's SSA value; a compile-time tensor becomes a constant.
  mlir::Value value(const Tensor &tensor);
  /// A number as a constant of `dataType`, which is not a narrow float.
  mlir::TypedAttr number(double value, int64_t dataType);
  /// A result tensor before its elements are computed.
  mlir::Value empty(llvm::ArrayRef<Dim> shape, int64_t dataType = type::Float);
  mlir::Value filled(llvm::ArrayRef<Dim> shape, mlir::TypedAttr number);
  mlir::Value filled(llvm::ArrayRef<Dim> shape, float number);
  /// Sizes as tensor operations take them.
  llvm::SmallVector<mlir::OpFoldResult> sizes(llvm::ArrayRef<Dim> shape);

  /// linalg.generic over dimensions whose first `parallel` are the result's.
  /// Integers that depend on constants alone are computed at once. `isKnown`
  /// says the same of floats.
  Tensor generic(llvm::ArrayRef<Access> inputs, mlir::Value init,
                 mlir::AffineMap initMap,
                 llvm::ArrayRef<mlir::utils::IteratorType> iterators, Body body,
                 int64_t dataType, bool isKnown = false);

  /// Elementwise: numpy's alignment of each tensor with `shape`. The result is
  /// of `dataType`; by default of DOUBLE if a tensor is, else of the first
  /// one's type.
  Tensor map(llvm::ArrayRef<const Tensor *> tensors, llvm::ArrayRef<Dim> shape,
             Body body, int64_t dataType = 0);
  /// Elementwise: each operand says which dimensions it runs along.
  Tensor mapAlong(llvm::ArrayRef<Operand> operands, llvm::ArrayRef<Dim> shape,
                  Body body, int64_t dataType = 0);
  Operand aligned(const Tensor &tensor, unsigned rank);
  /// Each element from its indices.
  Tensor generate(llvm::ArrayRef<Dim> shape, int64_t dataType, Body body,
                  bool isKnown = false);
  /// The same as a sum over further dimensions of fixed sizes, whose indices
  /// follow: the body takes the indices and then the accumulator.
  Tensor generateReduced(llvm::ArrayRef<Dim> shape,
                         llvm::ArrayRef<int64_t> reductions,
                         mlir::TypedAttr init, int64_t dataType, Body body,
                         bool isKnown = false) {
    return generateReducedAlong(shape, fixedShape(reductions), init, dataType,
                                body, isKnown);
  }
  Tensor generateReducedAlong(llvm::ArrayRef<Dim> shape,
                              llvm::ArrayRef<Dim> reductions,
                              mlir::TypedAttr init, int64_t dataType, Body body,
                              bool isKnown = false);
  /// The element of `tensor` at `indices`, in the body of an operation; the
  /// tensor's value is to be there before the operation.
  static mlir::Value at(LocBuilder &b, mlir::Value tensor,
                        mlir::ValueRange indices);

  /// Reduces the dimensions marked in `reduced`, which the result lacks. The
  /// body takes the element and the accumulator.
  Tensor reduce(const Tensor &tensor, llvm::ArrayRef<bool> reduced,
                mlir::TypedAttr init, Body body, int64_t dataType = 0);
  /// The reductions that models are made of.
  Tensor sum(const Tensor &tensor, llvm::ArrayRef<bool> reduced);
  Tensor maximum(const Tensor &tensor, llvm::ArrayRef<bool> reduced);
  Tensor minimum(const Tensor &tensor, llvm::ArrayRef<bool> reduced);

  /// acc + lhs * rhs from +0; the first dimensions are the result's.
  Tensor contract(Access lhs, Access rhs, llvm::ArrayRef<Dim> shape,
                  unsigned reductions, int64_t dataType = type::Float);

  Tensor pad(const Tensor &tensor, llvm::ArrayRef<int64_t> low,
             llvm::ArrayRef<int64_t> high, mlir::TypedAttr number);
  /// The part of `tensor` that starts at `starts` and takes every steps[i]-th
  /// element.
  Tensor slice(const Tensor &tensor, llvm::ArrayRef<Dim> shape,
               llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> steps);
  /// Tensors behind each other along `axis`, which makes `shape`.
  Tensor concat(llvm::ArrayRef<const Tensor *> tensors, unsigned axis,
                llvm::ArrayRef<Dim> shape);
  /// Same elements in the same order; both shapes hold equally many.
  Tensor reshape(const Tensor &tensor, llvm::ArrayRef<Dim> shape);
  /// Dimension i of the result is dimension permutation[i] of the tensor.
  Tensor transpose(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation);
  /// numpy's broadcast to `shape`, which is known to fit.
  Tensor expand(const Tensor &tensor, llvm::ArrayRef<Dim> shape);

  Tensor result(mlir::Value value, llvm::ArrayRef<Dim> shape,
                int64_t dataType = type::Float);

  /// A size of the inputs, of which there is no value yet.
  Dim addSize();
  /// Whether there are more than can be told apart: Node::checkSize refuses it.
  bool hasTooManySizes() const { return dynamicSizes.size() > Dim::kMaxNumber; }
  /// Where it is: dimension `axis` of a function argument.
  void setSize(Dim dim, mlir::Value argument, unsigned axis);
  /// A dimension of a size that was computed, in the function itself.
  Dim computed(mlir::Value size);
  bool isComputed(Dim dim) const;
  /// lhs + times · rhs, as a size of its own where it is no multiple of one;
  /// nothing where it may be negative.
  std::optional<Dim> sum(Dim lhs, Dim rhs, int64_t times = 1);
  bool isSum(Dim dim) const;
  /// The value of a dynamic dimension as an index.
  mlir::Value size(Dim dim);
  /// The value of any dimension.
  mlir::Value extent(Dim dim);
  /// Whether what is emitted is in no loop or branch.
  bool isOutside() const;

private:
  mlir::Value constant(const Tensor &tensor);
  mlir::Value total(llvm::ArrayRef<Dim> terms);

  mlir::Location file;
  /// A size that is known when the function runs.
  struct Size {
    mlir::Value argument; ///< of which it is a dimension; null: computed
    unsigned axis = 0;
    mlir::Value value; ///< null until it is asked for
    Shape terms = {};  ///< of which it is the sum, by their sizes; or none
  };
  llvm::SmallVector<Size> dynamicSizes; ///< number 1 is the first
  /// Constants that were emitted, one for each shape they are used in.
  llvm::DenseMap<const HostData *, llvm::SmallVector<Tensor, 1>> constants;
};

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_EMITTER_H
