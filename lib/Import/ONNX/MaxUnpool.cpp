//===- MaxUnpool.cpp - Maxima back at their places ------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Window.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

/// The shape of what was pooled: the indices count its elements.
static std::optional<Shape> pooledShape(Node &node) {
  Shape shape = node.input(0).shape;
  size_t rank = shape.size() - 2;
  SmallVector<int64_t> kernel, strides, pads;
  if (!node.hasAttribute("kernel_shape")) {
    (void)node.error("attribute 'kernel_shape' is missing");
    return std::nullopt;
  }
  if (failed(readList(node, "kernel_shape", rank, 1, 1, kernel)) ||
      failed(readList(node, "strides", rank, 1, 1, strides)) ||
      failed(readPads(node, rank, "NOTSET", pads)))
    return std::nullopt;
  for (size_t i = 0; i < rank; ++i) {
    int64_t &size = shape[i + 2].count;
    // Sizes are at most 2^40: a larger product is reported as such.
    size = std::min(size - 1, kMaxElements / strides[i] + 1) * strides[i] +
           kernel[i] - pads[i] - pads[rank + i];
    if (size < 0) {
      (void)node.error("pads leave " + Twine(size) + " of dimension " +
                       Twine(i + 2) + "; expected at least 0");
      return std::nullopt;
    }
  }
  if (failed(node.checkSize(shape)))
    return std::nullopt;
  return shape;
}

LogicalResult importMaxUnpool(Node &node) {
  const Tensor &x = node.input(0), &where = node.input(1);
  if (failed(node.checkFloat(0)))
    return failure();
  if (x.rank() < 3)
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected batch, channels and spatial dimensions");
  if (where.dataType != type::Int64 || where.shape != x.shape)
    return node.error("indices of shape " + str(where.shape) + " and " +
                      dataTypeName(where.dataType) + "; expected " +
                      str(x.shape) + " and INT64");
  if (llvm::any_of(x.shape, [](Dim dim) { return dim.isDynamic(); }))
    return node.error("of an open batch, in " + str(x.shape) +
                      "; expected fixed sizes");
  std::optional<Shape> pooled = pooledShape(node);
  if (!pooled)
    return failure();
  std::optional<Shape> shape = node.has(2) ? node.shapeFrom(2) : pooled;
  if (!shape || failed(node.checkSize(*shape)) ||
      (node.has(2) && failed(requireSizes(node, 2, *shape))))
    return failure();
  SmallVector<int64_t> low(pooled->size(), 0), high;
  bool isLarger = shape->size() == pooled->size();
  for (auto [asked, size] : llvm::zip(*shape, *pooled)) {
    high.push_back(asked.count - size.count);
    isLarger &= !asked.isDynamic() && high.back() >= 0;
  }
  if (!isLarger)
    return node.error("output_shape is " + str(*shape) +
                      "; expected at least " + str(*pooled));
  Emitter &emit = node.emit;
  TypedAttr zero = emit.number(0, x.dataType);
  Shape flat = {product(*pooled)}, list = {product(x.shape)};
  Tensor target = emit.result(emit.filled(flat, zero), flat, x.dataType);
  Tensor indices = emit.reshape(where, list), values = emit.reshape(x, list);
  std::optional<SmallVector<Tensor>> found = SmallVector<Tensor>{target};
  if (!x.isEmpty() && !target.isEmpty())
    found = node.compute(
        "y = ScatterElements<axis = 0>(target, indices, values)\n",
        {{"target", &target}, {"indices", &indices}, {"values", &values}},
        {"y"});
  if (!found)
    return failure();
  return node.finish(
      emit.pad(emit.reshape(found->front(), *pooled), low, high, zero));
}

} // namespace numera::importer
