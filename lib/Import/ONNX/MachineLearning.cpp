//===- MachineLearning.cpp - Operators of ai.onnx.ml ----------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"

using namespace mlir;

namespace numera::importer {

LogicalResult importArrayFeatureExtractor(Node &node) {
  Tensor x = node.input(0);
  if (x.rank() == 0)
    return node.error("of a scalar");
  if (x.rank() == 1)
    x = node.emit.reshape(x, {Dim::fixed(1), x.shape[0]});
  Tensor places =
      node.emit.reshape(node.input(1), {product(node.input(1).shape)});
  return node.expand("y = Gather<axis = -1>(x, places)\n",
                     {{"x", &x}, {"places", &places}}, {"y"});
}

/// 1 for what is greater than the threshold.
LogicalResult importBinarizer(Node &node) {
  const Tensor &x = node.input(0);
  double threshold = node.real("threshold", 0.0f);
  if (node.failed() || failed(node.checkFloat(0)))
    return failure();
  return node.finish(
      node.emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) {
        Type type = args[0].getType();
        Value isMore =
            compare(b, Order::Less, constant(b, type, threshold), args[0]);
        return select(b, isMore, constant(b, type, 1), constant(b, type, 0));
      }));
}

} // namespace numera::importer
