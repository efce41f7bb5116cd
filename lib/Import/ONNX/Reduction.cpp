//===- Reduction.cpp - Sums, means and extrema ----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;

namespace numera::importer {

/// The shape after a reduction, with 1 for reduced dimensions or without them.
static Shape reducedShape(const Shape &shape, ArrayRef<bool> reduced,
                          bool keep) {
  Shape result;
  for (auto [dim, gone] : llvm::zip_equal(shape, reduced)) {
    if (!gone)
      result.push_back(dim);
    else if (keep)
      result.push_back(Dim::fixed(1));
  }
  return result;
}

static Tensor minimum(Emitter &emit, const Tensor &x, ArrayRef<bool> reduced) {
  return emit.reduce(x, reduced, std::numeric_limits<float>::infinity(),
                     [](LocBuilder &b, ValueRange args) -> Value {
                       return arith::MinimumFOp::create(b, args[0], args[1]);
                     });
}

static LogicalResult mean(Node &node, const Tensor &x, ArrayRef<bool> reduced,
                          Tensor &result) {
  Shape gone;
  for (auto [dim, isGone] : llvm::zip_equal(x.shape, reduced))
    if (isGone)
      gone.push_back(dim);
  if (llvm::any_of(gone, [](Dim dim) { return dim.batched; }))
    return node.error("a mean over the batch, in " + str(x.shape) +
                      "; expected axes of fixed size");
  Tensor sum = node.emit.sum(x, reduced);
  Tensor count = Tensor::ofFloats({float(*elementCount(gone))}, {});
  result = node.emit.map({&sum, &count}, sum.shape,
                         [](LocBuilder &b, ValueRange args) -> Value {
                           return arith::DivFOp::create(b, args[0], args[1]);
                         });
  return success();
}

/// Reduces input 0 as `kind` says and finishes the node.
static LogicalResult reduceTo(Node &node, StringRef kind,
                              ArrayRef<bool> reduced, bool keep) {
  const Tensor &x = node.input(0);
  if (llvm::none_of(reduced, [](bool gone) { return gone; }))
    return node.finish(x);
  Tensor result;
  if (kind == "Max")
    result = node.emit.maximum(x, reduced);
  else if (kind == "Min")
    result = minimum(node.emit, x, reduced);
  else if (kind == "Sum")
    result = node.emit.sum(x, reduced);
  else if (failed(mean(node, x, reduced, result)))
    return failure();
  return node.finish(
      node.emit.reshape(result, reducedShape(x.shape, reduced, keep)));
}

LogicalResult importReduce(Node &node) {
  if (failed(node.checkFloat(0)))
    return failure();
  StringRef kind = node.op().drop_front(StringRef("Reduce").size());
  // The axes became an input in opset 13 for the sum, in 18 for the others.
  bool asInput = node.opset >= (kind == "Sum" ? 13 : 18);
  if (!asInput && node.numInputs() > 1)
    return node.error("2 inputs; expected the axes as an attribute in opset " +
                      Twine(node.opset));
  std::optional<SmallVector<int64_t>> axes;
  if (!asInput)
    axes = node.integers("axes");
  else if (node.has(1))
    axes = node.constants(1);
  bool keep = node.integer("keepdims", 1);
  bool noop = asInput && node.integer("noop_with_empty_axes", 0);
  if (node.failed())
    return failure();
  int64_t rank = node.input(0).rank();
  SmallVector<bool> reduced(rank, !noop);
  if (axes && !axes->empty())
    reduced = node.axes(*axes, rank);
  if (node.failed())
    return failure();
  return reduceTo(node, kind, reduced, keep);
}

LogicalResult importGlobalPool(Node &node) {
  const Tensor &x = node.input(0);
  if (x.rank() < 3)
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected batch, channels and spatial dimensions");
  SmallVector<bool> spatial(x.rank(), true);
  spatial[0] = spatial[1] = false;
  return reduceTo(node, node.op() == "GlobalMaxPool" ? "Max" : "Mean", spatial,
                  /*keep=*/true);
}

} // namespace numera::importer
