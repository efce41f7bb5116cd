//===- Convolution.cpp - Conv ---------------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A convolution of one group over two spatial dimensions is
// linalg.conv_2d_nchw_fchw. Any other one is a linalg.generic: depthwise over
// (n, c, o… | k…), and groups over (n, g, f, o… | c, k…) with the channels of
// image, weights and result split into group and channel. One group is the
// grouped form without g.
//
//===----------------------------------------------------------------------===//
#include "Convolution.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

LogicalResult checkKernel(Node &node) {
  auto sizes = ArrayRef(node.input(1).shape).drop_front(2);
  std::optional<SmallVector<int64_t>> kernel = node.integers("kernel_shape");
  if (kernel && fixedShape(*kernel) != Shape(sizes))
    return node.error("attribute 'kernel_shape' is " +
                      str(fixedShape(*kernel)) + "; the weights have " +
                      str(sizes));
  return failure(node.failed());
}

LogicalResult checkBias(Node &node, Dim channels) {
  if (!node.has(2))
    return success();
  const Tensor &bias = node.input(2);
  if (bias.shape != Shape{channels})
    return node.error(node.inputName(2) + " has shape " + str(bias.shape) +
                      "; expected " + str({channels}));
  if (bias.dataType != node.input(0).dataType)
    return node.error(node.inputName(2) + " has elements of " +
                      dataTypeName(bias.dataType) + "; expected " +
                      dataTypeName(node.input(0).dataType));
  return success();
}

/// Checks the shapes of image, weights and bias against each other.
static LogicalResult checkChannels(Node &node, int64_t groups) {
  const Shape &x = node.input(0).shape, &w = node.input(1).shape;
  if (x.size() < 3)
    return node.error(node.inputName(0) + " has shape " + str(x) +
                      "; expected batch, channels and spatial dimensions");
  if (failed(node.checkRank(1, x.size())))
    return failure();
  if (x[1].isDynamic() ||
      llvm::any_of(w, [](Dim dim) { return dim.isDynamic(); }))
    return node.error("image " + str(x) + " and weights " + str(w) +
                      "; expected fixed sizes but for the batch");
  if (groups < 1 || groups > x[1].count || w[1].count * groups != x[1].count)
    return node.error("image of " + Twine(x[1].count) + " channels, weights " +
                      str(w) + " and group = " + Twine(groups) +
                      "; expected channels = group * " + Twine(w[1].count));
  if (w[0].count % groups != 0)
    return node.error(Twine(w[0].count) + " output channels and group = " +
                      Twine(groups) + "; expected a multiple of the groups");
  if (failed(checkBias(node, w[0])))
    return failure();
  return checkKernel(node);
}

static Tensor namedConv2D(Emitter &emit, const Window &window,
                          const Tensor &padded, const Tensor &taps,
                          const Shape &shape) {
  Value image = emit.value(padded), weights = emit.value(taps);
  Value init = emit.filled(shape, emit.number(0, padded.dataType));
  auto op = linalg::Conv2DNchwFchwOp::create(
      emit.b, TypeRange(init.getType()), ValueRange{image, weights},
      ValueRange(init), emit.b.getI64TensorAttr(window.strides),
      emit.b.getI64TensorAttr(window.dilations));
  return emit.result(op->getResult(0), shape, padded.dataType);
}

static SmallVector<AffineExpr> loops(LocBuilder &b, ArrayRef<unsigned> list) {
  return llvm::map_to_vector(
      list, [&](unsigned loop) { return b.getAffineDimExpr(loop); });
}

static void appendLoops(SmallVectorImpl<AffineExpr> &exprs, LocBuilder &b,
                        unsigned first, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    exprs.push_back(b.getAffineDimExpr(first + i));
}

/// One input and one output channel a group.
static Tensor depthwise(Emitter &emit, const Window &window,
                        const Tensor &padded, const Tensor &taps,
                        const Shape &shape) {
  LocBuilder &b = emit.b;
  unsigned spatial = window.rank(), kernel = 2 + spatial;
  SmallVector<AffineExpr> image = loops(b, {0, 1}), weights = loops(b, {1});
  window.appendTo(image, b.getContext(), 2, kernel);
  appendLoops(weights, b, kernel, spatial);

  Shape flat = taps.shape;
  flat.erase(flat.begin() + 1);
  unsigned count = kernel + spatial;
  Value left = emit.value(padded), right = emit.value(emit.reshape(taps, flat));
  return emit.contract(
      {left, AffineMap::get(count, 0, image, b.getContext())},
      {right, AffineMap::get(count, 0, weights, b.getContext())}, shape,
      spatial, padded.dataType);
}

/// The shape with dimension i split into groups and the rest.
static Shape split(Shape shape, unsigned i, int64_t groups) {
  shape[i].count /= groups;
  shape.insert(shape.begin() + i, Dim::fixed(groups));
  return shape;
}

static Tensor grouped(Emitter &emit, const Window &window, Tensor padded,
                      Tensor taps, const Shape &shape, int64_t groups) {
  LocBuilder &b = emit.b;
  bool one = groups == 1;
  unsigned spatial = window.rank();
  // Loops: n, g (unless there is one group), f, outputs, c, kernel.
  unsigned f = one ? 1 : 2, output = f + 1, c = output + spatial;
  unsigned kernel = c + 1, count = kernel + spatial;
  SmallVector<AffineExpr> image = one ? loops(b, {0, c}) : loops(b, {0, 1, c});
  SmallVector<AffineExpr> weights =
      one ? loops(b, {f, c}) : loops(b, {1, f, c});
  window.appendTo(image, b.getContext(), output, kernel);
  appendLoops(weights, b, kernel, spatial);

  Shape result = shape;
  if (!one) {
    padded = emit.reshape(padded, split(padded.shape, 1, groups));
    taps = emit.reshape(taps, split(taps.shape, 0, groups));
    result = split(shape, 1, groups);
  }
  Value left = emit.value(padded), right = emit.value(taps);
  Tensor sums =
      emit.contract({left, AffineMap::get(count, 0, image, b.getContext())},
                    {right, AffineMap::get(count, 0, weights, b.getContext())},
                    result, 1 + spatial, padded.dataType);
  return emit.reshape(sums, shape);
}

Tensor convolve(Emitter &emit, const Window &window, const Tensor &padded,
                const Tensor &weights, const Shape &shape, int64_t groups) {
  if (groups == 1 && window.rank() == 2)
    return namedConv2D(emit, window, padded, weights, shape);
  if (groups > 1 && weights.shape[1].is(1) && weights.shape[0].is(groups))
    return depthwise(emit, window, padded, weights, shape);
  return grouped(emit, window, padded, weights, shape, groups);
}

Tensor addBias(Emitter &emit, const Tensor &sums, const Tensor &bias) {
  return emit.mapAlong({emit.aligned(sums, sums.rank()), {&bias, {1}}},
                       sums.shape, [](LocBuilder &b, ValueRange args) -> Value {
                         return add(b, args[0], args[1]);
                       });
}

LogicalResult importConv(Node &node) {
  int64_t groups = node.integer("group", 1);
  if (node.failed() || failed(checkChannels(node, groups)))
    return failure();
  const Shape &w = node.input(1).shape;
  Window window;
  for (Dim dim : ArrayRef(w).drop_front(2))
    window.kernel.push_back(dim.count);
  if (failed(window.read(node, /*ceil=*/false)))
    return failure();
  Shape shape = {node.input(0).shape[0], w[0]};
  for (int64_t size : window.output)
    shape.push_back(Dim::fixed(size));
  if (failed(node.checkSize(shape)))
    return failure();

  Tensor result =
      convolve(node.emit, window, window.pad(node, node.input(0), 0),
               node.input(1), shape, groups);
  return node.finish(node.has(2) ? addBias(node.emit, result, node.input(2))
                                 : result);
}

} // namespace numera::importer
