//===- Tensor.h - Shapes and compile-time tensors --------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//===---------------------------------------------------------------------===//
//
// A tensor in the importer: its shape, its element type, its SSA value once it
// has one, and its elements if they are known at compile time.
//
//===----------------------------------------------------------------------===//
#ifndef NUMERA_LIB_IMPORT_ONNX_TENSOR_H
#define NUMERA_LIB_IMPORT_ONNX_TENSOR_H

#include "Types.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace numera::importer {

/// A dimension: `count`, or `count` times sizes that are known only when the
/// function runs: the batch, the length of a sequence, what the function
/// computes. Elements of integer tensors are of the same type, so that a shape
/// computed from sizes is still a compile-time value.
struct Dim {
  int64_t count = 0;
  /// The numbers of these sizes (Emitter::addSize), four of 16 bits, the
  /// smallest first; 0 for none.
  uint64_t sizes = 0;

  static constexpr unsigned kMaxSizes = 4;
  static constexpr unsigned kMaxNumber = 0xffff;

  static Dim fixed(int64_t count) { return {count, 0}; }
  static Dim dynamic(unsigned number) { return {1, number}; }
  bool isDynamic() const { return sizes != 0; }
  bool is(int64_t size) const { return !isDynamic() && count == size; }
  bool operator==(const Dim &) const = default;

  /// The numbers of the sizes, one as often as it is a factor.
  llvm::SmallVector<unsigned, kMaxSizes> factors() const;
};

/// The product; nothing where it has more factors than kMaxSizes or overflows.
std::optional<Dim> multiply(Dim lhs, Dim rhs);
/// The quotient; nothing where it is no such number for all sizes.
std::optional<Dim> divide(Dim lhs, Dim rhs);

using Shape = llvm::SmallVector<Dim, 4>;

/// The sizes beyond which a model is taken to be damaged: they keep all
/// arithmetic on sizes far from overflow.
constexpr int64_t kMaxElements = int64_t(1) << 40;
constexpr int64_t kMaxFolded = int64_t(1) << 26;
constexpr int64_t kMaxRank = 16;

/// The product of the counts (sizes left out), or nothing when it exceeds
/// kMaxElements or a dimension is negative.
std::optional<int64_t> elementCount(llvm::ArrayRef<Dim> shape);

/// The elements of a shape that passed Node::checkSize, as one dimension; -1
/// for one that would not.
Dim product(llvm::ArrayRef<Dim> shape);

/// A shape from sizes that are all known.
Shape fixedShape(llvm::ArrayRef<int64_t> sizes);

/// The shape as in `1x28x28`; a dynamic dimension is written `?`, or `4?` when
/// it is four times a size, and a scalar's shape is `scalar`.
std::string str(llvm::ArrayRef<Dim> shape);

/// The shape of numpy's broadcast of both, or nothing when they disagree.
std::optional<Shape> broadcast(llvm::ArrayRef<Dim> lhs,
                               llvm::ArrayRef<Dim> rhs);

/// Elements that are known at compile time, row-major: `ints` of integers and
/// booleans, `doubles` of DOUBLE, `floats` of all other floats, whose numbers
/// f32 has.
struct HostData {
  std::vector<float> floats = {};
  std::vector<double> doubles = {};
  std::vector<Dim> ints = {};
};

/// A tensor of the graph. `value` is null until a compile-time tensor is needed
/// by an operation; `host` is null when the elements are not known.
struct Tensor {
  Shape shape;
  /// A TensorProto.DataType.
  int64_t dataType = type::Float;
  mlir::Value value;
  std::shared_ptr<const HostData> host;
  /// Numbers that came of the sizes of tensors: what is computed from these is
  /// known too.
  bool isFromShape = false;
  std::string name;

  int64_t rank() const { return shape.size(); }
  bool isIntegral() const { return isInteger(dataType); }
  bool isDouble() const { return dataType == type::Double; }
  /// Whether an element is a multiple of a size that is not known.
  bool isDynamic() const;
  /// The elements of compile-time floats; `i` counts them row-major.
  double number(size_t i) const;
  /// The single compile-time f32 element, whatever the rank.
  std::optional<float> scalar() const;
  /// The single compile-time element, of whatever type.
  mlir::TypedAttr scalarAttr(mlir::MLIRContext *context) const;
  bool isEmpty() const;

  static Tensor ofFloats(std::vector<float> elements, Shape shape);
  static Tensor ofDoubles(std::vector<double> elements, Shape shape);
  static Tensor ofInts(std::vector<Dim> elements, Shape shape,
                       int64_t dataType = type::Int64);
  static Tensor ofInts(llvm::ArrayRef<int64_t> list);
};

/// The compile-time tensor `out(i…) = source(position of i…)`: `origin` and
/// `strides` (one an output dimension) give the position in the elements of
/// `source`. Transposes, slices and broadcasts are all of this form.
Tensor gatherStrided(const Tensor &source, llvm::ArrayRef<Dim> shape,
                     llvm::ArrayRef<int64_t> strides, int64_t origin);

/// Row-major strides.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<Dim> shape);

} // namespace numera::importer

#endif // NUMERA_LIB_IMPORT_ONNX_TENSOR_H
