//===- FlexAttention.cpp - Attention with graphs in between ---------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Graph.h"
#include "Operators.h"
#include <cmath>
#include <onnx/onnx_pb.h>

using namespace mlir;

namespace numera::importer {

/// What a graph of one input makes of `x`, with the same shape and type.
static LogicalResult modify(Node &node, StringRef name, Tensor &x) {
  const onnx::GraphProto *body = node.body(name);
  if (!body)
    return failure(node.failed());
  auto results = node.graph.importBody(*body, {x});
  if (!results)
    return node.fail(), failure();
  if (results->size() != 1 || results->front().shape != x.shape ||
      results->front().dataType != x.dataType)
    return node.error("attribute " + quote(name) + " does not give " +
                      dataTypeName(x.dataType) + " " + str(x.shape));
  x = results->front();
  return success();
}

LogicalResult importFlexAttention(Node &node) {
  Tensor q = node.input(0), k = node.input(1), v = node.input(2);
  for (unsigned i = 0; i < 3; ++i)
    if (failed(node.checkRank(i, 4)) || failed(node.checkFloat(i)))
      return failure();
  Dim heads = q.shape[1], shared = k.shape[1], batch = q.shape[0];
  Shape keys = {batch, shared, k.shape[2], q.shape[3]};
  Shape values = {batch, shared, k.shape[2], v.shape[3]};
  if (heads.isDynamic() || shared.isDynamic() || q.shape[3].isDynamic() ||
      shared.count < 1 || heads.count % shared.count != 0 || k.shape != keys ||
      v.shape != values || k.dataType != q.dataType || v.dataType != q.dataType)
    return node.error("queries of " + str(q.shape) + ", keys of " +
                      str(k.shape) + " and values of " + str(v.shape));
  double scale = node.real("scale", 0.0f);
  if (!node.hasAttribute("scale"))
    scale = 1 / std::sqrt(double(q.shape[3].count));
  int64_t precision = node.integer("softmax_precision", q.dataType);
  if (node.failed())
    return failure();
  if (isInteger(precision) || !isNumeric(precision))
    return node.error("attribute 'softmax_precision' is " +
                      dataTypeName(precision) + "; expected a type of floats");
  Emitter &emit = node.emit;
  int64_t group = heads.count / shared.count;
  // Each head of keys and values is that of as many heads of queries.
  auto repeat = [&](const Tensor &x) {
    if (group == 1)
      return x;
    Shape one = x.shape, whole = x.shape;
    one.insert(one.begin() + 2, Dim::fixed(1));
    Shape all = one;
    all[2] = Dim::fixed(group);
    whole[1] = heads;
    return emit.reshape(emit.expand(emit.reshape(x, one), all), whole);
  };
  k = repeat(k);
  v = repeat(v);
  Tensor factor = q.isDouble() ? Tensor::ofDoubles({scale}, {})
                               : Tensor::ofFloats({float(scale)}, {});
  auto scores =
      node.compute("turned = Transpose<perm = [0, 1, 3, 2]>(k)\n"
                   "products = MatMul(q, turned)\n"
                   "scores = Mul(products, factor)\n",
                   {{"q", &q}, {"k", &k}, {"factor", &factor}}, {"scores"});
  if (!scores)
    return failure();
  Tensor current = convertTo(emit, scores->front(), precision);
  if (failed(modify(node, "score_mod", current)))
    return failure();
  auto shares =
      node.compute("y = Softmax<axis = -1>(x)\n", {{"x", &current}}, {"y"});
  if (!shares)
    return failure();
  current = shares->front();
  if (failed(modify(node, "prob_mod", current)))
    return failure();
  current = convertTo(emit, current, q.dataType);
  return node.expand("y = MatMul(x, v)\n", {{"x", &current}, {"v", &v}}, {"y"});
}

} // namespace numera::importer
