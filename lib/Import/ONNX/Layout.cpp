//===- Layout.cpp - Padding, reshapes and transposes ----------------------===//
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
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

Tensor Emitter::pad(const Tensor &tensor, ArrayRef<int64_t> low,
                    ArrayRef<int64_t> high, float number) {
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
  Value padding = scalar(number);
  return result(tensor::PadOp::create(b, type(padded), source, amounts(low),
                                      amounts(high), padding),
                padded);
}

Tensor Emitter::transpose(const Tensor &tensor, ArrayRef<int64_t> permutation) {
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(tensor.shape[axis]);
  if (tensor.host) {
    SmallVector<int64_t> strides, from = stridesOf(tensor.shape);
    for (int64_t axis : permutation)
      strides.push_back(from[axis]);
    return gatherStrided(tensor, shape, strides, 0);
  }
  if (permutation.empty()) // which no linalg.transpose may be
    return tensor;
  auto op =
      linalg::TransposeOp::create(b, value(tensor), empty(shape), permutation);
  return result(op->getResult(0), shape);
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
  return lhs.count != rhs.count ? lhs.count < rhs.count : !lhs.batched;
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
  // What is left over on one side has size 1.
  for (; i < from.size(); ++i)
    runs.back().from.push_back(i);
  for (; j < to.size(); ++j)
    runs.back().to.push_back(j);
  return runs;
}

Tensor Emitter::reshape(const Tensor &tensor, ArrayRef<Dim> shape) {
  Tensor reshaped = tensor;
  reshaped.shape = Shape(shape);
  if (tensor.host || tensor.shape == reshaped.shape)
    return reshaped;

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
    current = tensor::CollapseShapeOp::create(b, type(middle), current, from);
  if (middle.size() != shape.size())
    current = tensor::ExpandShapeOp::create(b, type(shape), current, to,
                                            sizes(shape));
  return result(current, shape);
}

} // namespace numera::importer
