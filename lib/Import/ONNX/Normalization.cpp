//===- Normalization.cpp - Softmax and the norms --------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// The primitive sequences that composite operators stand for:
//
//   Softmax      m = max x;  e = exp(x - m);  e / sum e
//   LogSoftmax   m = max x;  d = x - m;  d - log(sum exp d)
//   LayerNorm    d = x - sum x / n;  d / sqrt(sum (d d) / n + eps) * scale + b
//   BatchNorm    x * s + t with s = scale / sqrt(var + eps), t = b - mean s;
//                s and t are computed in f64 and rounded once when the model is
//                imported, as long as its four parameters are constants
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

namespace {
/// A tensor some of whose dimensions are reduced, and what is left of them.
struct Reduced {
  Node &node;
  const Shape &shape;
  SmallVector<bool> gone;

  /// Elementwise, on a full tensor and one without the reduced dimensions.
  template <typename Op> Tensor with(const Tensor &full, const Tensor &rest) {
    SmallVector<unsigned, 4> kept;
    for (auto [i, isGone] : llvm::enumerate(gone))
      if (!isGone)
        kept.push_back(i);
    return node.emit.mapAlong(
        {node.emit.aligned(full, shape.size()), {&rest, kept}}, shape,
        [](LocBuilder &b, ValueRange args) -> Value {
          return Op::create(b, args[0], args[1]);
        });
  }
};
} // namespace

template <typename Op> static Tensor unary(Emitter &emit, const Tensor &x) {
  return emit.map({&x}, x.shape, [](LocBuilder &b, ValueRange args) -> Value {
    return Op::create(b, args[0]);
  });
}

template <typename Op>
static Tensor binary(Emitter &emit, const Tensor &x, const Tensor &y) {
  return emit.map({&x, &y}, *broadcast(x.shape, y.shape),
                  [](LocBuilder &b, ValueRange args) -> Value {
                    return Op::create(b, args[0], args[1]);
                  });
}

LogicalResult importSoftmax(Node &node) {
  // Before opset 13 the tensor is a matrix whose columns start at `axis`.
  bool coerced = node.opset < 13;
  const Tensor &x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", coerced ? 1 : -1), x.rank());
  if (node.failed())
    return failure();
  Reduced rows{node, x.shape, SmallVector<bool>(x.rank(), false)};
  for (int64_t i = axis; i < (coerced ? x.rank() : axis + 1); ++i)
    rows.gone[i] = true;

  Emitter &emit = node.emit;
  Tensor maximum = emit.maximum(x, rows.gone);
  Tensor shifted = rows.with<arith::SubFOp>(x, maximum);
  Tensor powers = unary<math::ExpOp>(emit, shifted);
  Tensor sums = emit.sum(powers, rows.gone);
  if (node.op() == "Softmax")
    return node.finish(rows.with<arith::DivFOp>(powers, sums));
  Tensor logs = unary<math::LogOp>(emit, sums);
  return node.finish(rows.with<arith::SubFOp>(shifted, logs));
}

LogicalResult importLayerNormalization(Node &node) {
  const Tensor &x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  float epsilon = node.real("epsilon", 1e-5f);
  node.ignore("stash_type");
  if (node.failed())
    return failure();
  ArrayRef<Dim> normalized = ArrayRef(x.shape).drop_front(axis);
  for (unsigned i = 1; i < node.numInputs(); ++i)
    if (node.has(i) && broadcast(x.shape, node.input(i).shape) != x.shape)
      return node.error(node.inputName(i) + " has shape " +
                        str(node.input(i).shape) +
                        ", which does not broadcast to " + str(x.shape));
  if (llvm::any_of(normalized, [](Dim dim) { return dim.isDynamic(); }))
    return node.error("normalizes the batch, in " + str(x.shape) +
                      "; expected axes of fixed size");
  Reduced rows{node, x.shape, SmallVector<bool>(x.rank(), false)};
  std::fill(rows.gone.begin() + axis, rows.gone.end(), true);

  Emitter &emit = node.emit;
  Tensor n = Tensor::ofFloats({float(*elementCount(normalized))}, {});
  Tensor small = Tensor::ofFloats({epsilon}, {});
  Tensor mean = binary<arith::DivFOp>(emit, emit.sum(x, rows.gone), n);
  Tensor centred = rows.with<arith::SubFOp>(x, mean);
  Tensor squares = binary<arith::MulFOp>(emit, centred, centred);
  Tensor variance =
      binary<arith::DivFOp>(emit, emit.sum(squares, rows.gone), n);
  Tensor deviation =
      unary<math::SqrtOp>(emit, binary<arith::AddFOp>(emit, variance, small));
  Tensor y = rows.with<arith::DivFOp>(centred, deviation);
  y = binary<arith::MulFOp>(emit, y, node.input(1));
  if (node.has(2))
    y = binary<arith::AddFOp>(emit, y, node.input(2));
  if (failed(node.finish(y)) || node.numOutputs() == 1)
    return failure(node.failed());
  // The mean and the inverse of the deviation, with the reduced dimensions.
  Shape kept = x.shape;
  std::fill(kept.begin() + axis, kept.end(), Dim::fixed(1));
  Tensor inverse =
      binary<arith::DivFOp>(emit, Tensor::ofFloats({1.0f}, {}), deviation);
  if (failed(node.finish(emit.reshape(mean, kept))))
    return failure();
  return node.finish(emit.reshape(inverse, kept));
}

/// s and t of BatchNorm from constants, in f64.
static void foldParameters(Node &node, float epsilon, Tensor &scale,
                           Tensor &shift) {
  auto elements = [&](unsigned i) -> ArrayRef<float> {
    return node.input(i).host->floats;
  };
  std::vector<float> scales, shifts;
  for (auto [gamma, beta, mean, variance] :
       llvm::zip_equal(elements(1), elements(2), elements(3), elements(4))) {
    double factor = gamma / std::sqrt(double(variance) + double(epsilon));
    scales.push_back(factor);
    shifts.push_back(beta - double(mean) * factor);
  }
  scale = Tensor::ofFloats(std::move(scales), node.input(1).shape);
  shift = Tensor::ofFloats(std::move(shifts), node.input(1).shape);
  scale.name = node.input(1).name;
  shift.name = node.input(2).name;
}

/// The same from tensors that are computed when the model runs.
static void emitParameters(Node &node, float epsilon, Tensor &scale,
                           Tensor &shift) {
  Emitter &emit = node.emit;
  Tensor small = Tensor::ofFloats({epsilon}, {});
  Tensor deviation = unary<math::SqrtOp>(
      emit, binary<arith::AddFOp>(emit, node.input(4), small));
  scale = binary<arith::DivFOp>(emit, node.input(1), deviation);
  shift = binary<arith::SubFOp>(
      emit, node.input(2), binary<arith::MulFOp>(emit, node.input(3), scale));
}

LogicalResult importBatchNormalization(Node &node) {
  float epsilon = node.real("epsilon", 1e-5f);
  float momentum = node.real("momentum", 0.9f);
  bool spatial = node.integer("spatial", 1);
  bool training = node.integer("training_mode", 0);
  if (node.failed())
    return failure();
  if (!spatial)
    return node.error("attribute 'spatial' is not 1; only one mean a channel "
                      "is supported");
  const Tensor &x = node.input(0);
  if (x.rank() < 2)
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected batch and channels");
  bool known = true;
  for (unsigned i = 1; i < 5; ++i) {
    known &= node.input(i).host && !node.input(i).isDouble();
    if (node.input(i).shape != Shape{x.shape[1]})
      return node.error(node.inputName(i) + " has shape " +
                        str(node.input(i).shape) + "; expected " +
                        str({x.shape[1]}) + ", one for each channel");
  }
  if (training)
    return trainBatchNormalization(node, epsilon, momentum);
  Tensor scale, shift;
  (known ? foldParameters : emitParameters)(node, epsilon, scale, shift);
  Operand image = node.emit.aligned(x, x.rank());
  Tensor product =
      node.emit.mapAlong({image, {&scale, {1}}}, x.shape,
                         [](LocBuilder &b, ValueRange args) -> Value {
                           return arith::MulFOp::create(b, args[0], args[1]);
                         });
  image.tensor = &product;
  return node.finish(
      node.emit.mapAlong({image, {&shift, {1}}}, x.shape,
                         [](LocBuilder &b, ValueRange args) -> Value {
                           return arith::AddFOp::create(b, args[0], args[1]);
                         }));
}

} // namespace numera::importer
