//===- Layout.cpp - Padding, slices, reshapes and transposes --------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A reshape pairs runs of source dimensions with runs of result dimensions that
// hold equally many elements, collapses each run to one dimension, and expands
// it again. In the worst case the whole tensor is one run, so every reshape is
// a collapse and an expansion, whatever the batch size.
//
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

Tensor Emitter::pad(const Tensor &tensor, ArrayRef<int64_t> low,
                    ArrayRef<int64_t> high, TypedAttr number) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return tensor;
  Shape padded = tensor.shape;
  for (auto [dim, before, after] : llvm::zip_equal(padded, low, high))
    dim.count += before + after;
  auto amounts = [&](ArrayRef<int64_t> list) {
    return llvm::map_to_vector(list, [&](int64_t amount) -> OpFoldResult {
      return b.getIndexAttr(amount);
    });
  };
  Value source = value(tensor);
  Value padding = arith::ConstantOp::create(b, number);
  return result(tensor::PadOp::create(b, type(padded, tensor.dataType), source,
                                      amounts(low), amounts(high), padding),
                padded, tensor.dataType);
}

static SmallVector<OpFoldResult> indices(Emitter &emit,
                                         ArrayRef<int64_t> list) {
  return llvm::map_to_vector(list, [&](int64_t index) -> OpFoldResult {
    return emit.b.getIndexAttr(index);
  });
}

/// A tensor without elements, from nothing.
static Tensor emptyOf(Emitter &emit, const Tensor &like, ArrayRef<Dim> shape) {
  return emit.result(emit.empty(shape, like.dataType), shape, like.dataType);
}

static bool isEmpty(ArrayRef<Dim> shape) {
  return llvm::any_of(shape, [](Dim dim) { return dim.count == 0; });
}

Tensor Emitter::slice(const Tensor &tensor, ArrayRef<Dim> shape,
                      ArrayRef<int64_t> starts, ArrayRef<int64_t> steps) {
  bool isFixed = llvm::none_of(shape, [](Dim dim) { return dim.isDynamic(); });
  if (tensor.host && !tensor.value && isFixed) {
    int64_t origin = 0;
    SmallVector<int64_t> strides = stridesOf(tensor.shape);
    for (auto [stride, start, step] : llvm::zip_equal(strides, starts, steps)) {
      origin += stride * start;
      stride *= step;
    }
    return gatherStrided(tensor, shape, strides, origin);
  }
  if (isEmpty(shape))
    return emptyOf(*this, tensor, shape);
  if (llvm::all_of(steps, [](int64_t step) { return step > 0; })) {
    Value source = value(tensor);
    return result(
        tensor::ExtractSliceOp::create(b, type(shape, tensor.dataType), source,
                                       indices(*this, starts), sizes(shape),
                                       indices(*this, steps)),
        shape, tensor.dataType);
  }
  Value source = value(tensor);
  return generate(
      shape, tensor.dataType, [&](LocBuilder &inner, ValueRange at) -> Value {
        SmallVector<Value> from;
        for (auto [i, start, step] : llvm::zip_equal(at, starts, steps))
          from.push_back(add(inner, index(inner, start),
                             mul(inner, i, index(inner, step))));
        return Emitter::at(inner, source, from);
      });
}

/// Concatenates compile-time tensors, seen as matrices split at `axis`.
template <typename Element>
static std::vector<Element>
concatenate(ArrayRef<const Tensor *> inputs, unsigned axis, ArrayRef<Dim> shape,
            std::vector<Element> HostData::*elements) {
  int64_t rows = product(shape.take_front(axis)).count;
  std::vector<Element> joined;
  joined.reserve(product(shape).count);
  for (int64_t row = 0; row < rows; ++row)
    for (const Tensor *input : inputs) {
      int64_t columns = product(ArrayRef(input->shape).drop_front(axis)).count;
      auto first = ((*input->host).*elements).begin() + row * columns;
      joined.insert(joined.end(), first, first + columns);
    }
  return joined;
}

Tensor Emitter::concat(ArrayRef<const Tensor *> tensors, unsigned axis,
                       ArrayRef<Dim> shape) {
  const Tensor &first = *tensors.front();
  bool isKnown = llvm::all_of(tensors, [](const Tensor *tensor) {
    return tensor->host && !tensor->value;
  });
  if (isKnown && elementCount(shape) <= kMaxFolded) {
    Tensor joined;
    if (first.isIntegral())
      joined =
          Tensor::ofInts(concatenate(tensors, axis, shape, &HostData::ints),
                         Shape(shape), first.dataType);
    else if (first.isDouble())
      joined = Tensor::ofDoubles(
          concatenate(tensors, axis, shape, &HostData::doubles), Shape(shape));
    else
      joined = Tensor::ofFloats(
          concatenate(tensors, axis, shape, &HostData::floats), Shape(shape));
    joined.dataType = first.dataType;
    joined.isFromShape = llvm::any_of(
        tensors, [](const Tensor *tensor) { return tensor->isFromShape; });
    return joined;
  }
  Value current = empty(shape, first.dataType);
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  Dim start = Dim::fixed(0);
  for (const Tensor *input : tensors) {
    if (input->isEmpty())
      continue;
    Value source = value(*input);
    SmallVector<OpFoldResult> at = indices(*this, starts);
    at[axis] = sizes({start}).front();
    current = tensor::InsertSliceOp::create(
        b, source, current, at, sizes(input->shape), indices(*this, steps));
    start = sum(start, input->shape[axis]).value_or(start);
  }
  return result(current, shape, first.dataType);
}

Tensor Emitter::expand(const Tensor &tensor, ArrayRef<Dim> shape) {
  if (tensor.shape == shape)
    return tensor;
  bool isFixed = llvm::none_of(shape, [](Dim dim) { return dim.isDynamic(); });
  if (tensor.host && !tensor.value && isFixed &&
      elementCount(shape) <= kMaxFolded) {
    SmallVector<int64_t> strides(shape.size() - tensor.rank(), 0);
    for (auto [dim, stride] :
         llvm::zip_equal(tensor.shape, stridesOf(tensor.shape)))
      strides.push_back(dim.is(1) ? 0 : stride);
    return gatherStrided(tensor, shape, strides, 0);
  }
  return map({&tensor}, shape,
             [](LocBuilder &, ValueRange args) { return args[0]; });
}

Tensor Emitter::transpose(const Tensor &tensor, ArrayRef<int64_t> permutation) {
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(tensor.shape[axis]);
  if (tensor.host && !tensor.value) {
    SmallVector<int64_t> strides, from = stridesOf(tensor.shape);
    for (int64_t axis : permutation)
      strides.push_back(from[axis]);
    return gatherStrided(tensor, shape, strides, 0);
  }
  if (permutation.empty()) // which no linalg.transpose may be
    return tensor;
  auto op = linalg::TransposeOp::create(
      b, value(tensor), empty(shape, tensor.dataType), permutation);
  return result(op->getResult(0), shape, tensor.dataType);
}

namespace {
/// Dimensions of the source and of the result that hold the same elements.
struct Run {
  ReassociationIndices from, to;
  Dim size;
};
} // namespace

/// Whether `lhs` is the one to grow until both are equal.
static bool isShort(Dim lhs, Dim rhs) {
  if (lhs.count != rhs.count)
    return lhs.count < rhs.count;
  return lhs.factors().size() < rhs.factors().size();
}

static SmallVector<Run> pairRuns(ArrayRef<Dim> from, ArrayRef<Dim> to) {
  SmallVector<Run> runs;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    Run run;
    run.from.push_back(i);
    run.to.push_back(j);
    Dim left = from[i++], right = to[j++];
    while (left != right) {
      bool growLeft = isShort(left, right) && i < from.size();
      if (!growLeft && j == to.size())
        break;
      if (growLeft) {
        run.from.push_back(i);
        left = product({left, from[i++]});
      } else {
        run.to.push_back(j);
        right = product({right, to[j++]});
      }
    }
    run.size = left;
    runs.push_back(run);
  }
  // What is left over on one side has one element in all.
  for (; i < from.size(); ++i)
    runs.back().from.push_back(i);
  for (; j < to.size(); ++j)
    runs.back().to.push_back(j);
  return runs;
}

Tensor Emitter::reshape(const Tensor &tensor, ArrayRef<Dim> shape) {
  Tensor reshaped = tensor;
  reshaped.shape = Shape(shape);
  bool isFixed = llvm::none_of(shape, [](Dim dim) { return dim.isDynamic(); });
  if ((tensor.host && !tensor.value && isFixed) ||
      tensor.shape == reshaped.shape)
    return reshaped;
  if (isEmpty(shape))
    return emptyOf(*this, tensor, shape);

  SmallVector<ReassociationIndices> from, to;
  Shape middle;
  if (!tensor.shape.empty() && !shape.empty())
    for (Run &run : pairRuns(tensor.shape, shape)) {
      from.push_back(run.from);
      to.push_back(run.to);
      middle.push_back(run.size);
    }
  Value current = value(tensor);
  if (middle.size() != tensor.shape.size())
    current = tensor::CollapseShapeOp::create(b, type(middle, tensor.dataType),
                                              current, from);
  if (middle.size() != shape.size())
    current = tensor::ExpandShapeOp::create(b, type(shape, tensor.dataType),
                                            current, to, sizes(shape));
  return result(current, shape, tensor.dataType);
}

} // namespace numera::importer
