//===- Composite.cpp - Operators written in operators of ONNX -------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Each text is the composition that the ONNX standard gives or describes. What
// is rounded, and in which order, is what the text says.
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace numera::importer {

/// A number with all its digits and a point.
static std::string digits(double number) {
  return llvm::formatv("{0:e9}", number).str();
}

static std::string listOf(int64_t from, int64_t to) {
  std::string list = "[";
  for (int64_t i = from; i < to; ++i)
    list += (i > from ? ", " : "") + std::to_string(i);
  return list + "]";
}

/// The shape [1, C, 1, …] for one number a channel.
static std::string channels(int64_t rank) {
  std::string shape = "[1, -1";
  for (int64_t i = 2; i < rank; ++i)
    shape += ", 1";
  return shape + "]";
}

/// d = x - mean;  d / sqrt(mean d² + epsilon), over `axes`.
static std::string normalized(const std::string &axes, float epsilon) {
  return "mean = ReduceMean(x, " + axes +
         ")\nd = Sub(x, mean)\nsquares = Mul(d, d)\n"
         "variance = ReduceMean(squares, " +
         axes + ")\nshifted = Add(variance, " + digits(epsilon) +
         ")\ndeviation = Sqrt(shifted)\nn = Div(d, deviation)\n";
}

LogicalResult importInstanceNormalization(Node &node) {
  float epsilon = node.real("epsilon", 1e-5f);
  const Tensor &x = node.input(0);
  if (node.failed())
    return failure();
  if (x.rank() < 3)
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected batch, channels and spatial dimensions");
  std::string shape = channels(x.rank());
  return node.expand(
      normalized(listOf(2, x.rank()), epsilon) + "s = Reshape(scale, " + shape +
          ")\nb = Reshape(bias, " + shape + ")\nm = Mul(n, s)\ny = Add(m, b)\n",
      {{"x", &x}, {"scale", &node.input(1)}, {"bias", &node.input(2)}}, {"y"});
}

LogicalResult importGroupNormalization(Node &node) {
  float epsilon = node.real("epsilon", 1e-5f);
  int64_t groups = node.integer("num_groups", 0);
  node.ignore("stash_type");
  const Tensor &x = node.input(0);
  if (node.failed())
    return failure();
  if (x.rank() < 2 || groups < 1 || x.shape[1].count % groups != 0)
    return node.error(Twine(groups) + " groups of the channels of " +
                      str(x.shape) + "; expected a divisor");
  std::string shape = channels(x.rank());
  // Up to opset 20 there is one scale for a group.
  bool ofGroups =
      node.input(1).shape == fixedShape({groups}) && !x.shape[1].is(groups);
  Shape grouped = {x.shape[0], Dim::fixed(groups),
                   Dim::fixed(x.shape[1].count / groups)};
  grouped.append(x.shape.begin() + 2, x.shape.end());
  Tensor split = node.emit.reshape(x, grouped);
  std::string text = normalized(listOf(2, split.rank()), epsilon);
  std::string wide = channels(split.rank());
  if (ofGroups)
    text += "s = Reshape(scale, " + wide + ")\nb = Reshape(bias, " + wide +
            ")\nm = Mul(n, s)\nz = Add(m, b)\nform = Shape(original)\n"
            "y = Reshape(z, form)\n";
  else
    text += "form = Shape(original)\nz = Reshape(n, form)\n"
            "s = Reshape(scale, " +
            shape + ")\nb = Reshape(bias, " + shape +
            ")\nm = Mul(z, s)\ny = Add(m, b)\n";
  return node.expand(text,
                     {{"x", &split},
                      {"original", &x},
                      {"scale", &node.input(1)},
                      {"bias", &node.input(2)}},
                     {"y"});
}

LogicalResult importRMSNormalization(Node &node) {
  float epsilon = node.real("epsilon", 1e-5f);
  node.ignore("stash_type");
  const Tensor &x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  if (node.failed())
    return failure();
  std::string axes = listOf(axis, x.rank());
  return node.expand("squares = Mul(x, x)\nmean = ReduceMean(squares, " + axes +
                         ")\nshifted = Add(mean, " + digits(epsilon) +
                         ")\nroot = Sqrt(shifted)\nn = Div(x, root)\n"
                         "y = Mul(n, scale)\n",
                     {{"x", &x}, {"scale", &node.input(1)}}, {"y"});
}

LogicalResult importMeanVarianceNormalization(Node &node) {
  const Tensor &x = node.input(0);
  SmallVector<int64_t> axes =
      node.integers("axes").value_or(SmallVector<int64_t>{0, 2, 3});
  std::string list = "[";
  for (int64_t axis : axes)
    list += std::to_string(axis) + ", ";
  list += "]";
  return node.expand("mean = ReduceMean(x, " + list +
                         ")\nmean2 = Mul(mean, mean)\nx2 = Mul(x, x)\n"
                         "power = ReduceMean(x2, " +
                         list +
                         ")\nvariance = Sub(power, mean2)\n"
                         "deviation = Sqrt(variance)\nd = Sub(x, mean)\n"
                         "safe = Add(deviation, 1.0e-9)\ny = Div(d, safe)\n",
                     {{"x", &x}}, {"y"});
}

LogicalResult importLpNormalization(Node &node) {
  const Tensor &x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  int64_t p = node.integer("p", 2);
  if (node.failed())
    return failure();
  if (p != 1 && p != 2)
    return node.error("attribute 'p' is " + Twine(p) + "; expected 1 or 2");
  // A row of zeros stays one.
  return node.expand(
      "norm = ReduceL" + std::to_string(p) + "(x, [" + std::to_string(axis) +
          "])\nzero = Sub(norm, norm)\nisZero = Equal(norm, zero)\n"
          "one = Add(zero, 1.0)\nsafe = Where(isZero, one, norm)\n"
          "y = Div(x, safe)\n",
      {{"x", &x}}, {"y"});
}

/// x / (bias + alpha / size · sum x²)^beta, over neighbouring channels.
LogicalResult importLRN(Node &node) {
  int64_t size = node.integer("size", 1);
  float alpha = node.real("alpha", 1e-4f), beta = node.real("beta", 0.75f);
  float bias = node.real("bias", 1.0f);
  const Tensor &x = node.input(0);
  if (node.failed())
    return failure();
  if (x.rank() < 3 || size < 1 || x.shape[1].isDynamic())
    return node.error("size " + Twine(size) + " for " + str(x.shape));
  Emitter &emit = node.emit;
  Tensor squares = power(emit, x, 2);
  SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  Tensor padded = emit.pad(squares, low, high, emit.number(0, x.dataType));
  // The sum of `size` neighbours, in order.
  SmallVector<AffineExpr> from;
  unsigned loops = x.rank() + 1;
  for (unsigned i = 0; i < x.rank(); ++i)
    from.push_back(emit.b.getAffineDimExpr(i));
  from[1] = from[1] + emit.b.getAffineDimExpr(x.rank());
  SmallVector<AffineExpr> to;
  for (unsigned i = 0; i < x.rank(); ++i)
    to.push_back(emit.b.getAffineDimExpr(i));
  SmallVector<utils::IteratorType> iterators(x.rank(),
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  MLIRContext *context = emit.b.getContext();
  Value taps = emit.empty({Dim::fixed(size)}, x.dataType);
  Value source = emit.value(padded);
  Tensor sums = emit.generic(
      {{source, AffineMap::get(loops, 0, from, context)},
       {taps,
        AffineMap::get(loops, 0, emit.b.getAffineDimExpr(x.rank()), context)}},
      emit.filled(x.shape, emit.number(0, x.dataType)),
      AffineMap::get(loops, 0, to, context), iterators,
      [](LocBuilder &b, ValueRange args) { return add(b, args[2], args[0]); },
      x.dataType);
  sums.shape = x.shape;
  return node.expand("scaled = Mul(sums, " + digits(alpha / float(size)) +
                         ")\nbase = Add(scaled, " + digits(bias) +
                         ")\ndivisor = Pow(base, " + digits(beta) +
                         ")\ny = Div(x, divisor)\n",
                     {{"x", &x}, {"sums", &sums}}, {"y"});
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// -log p of each target, times its weight, and what `reduction` makes of it.
static std::string likelihoodLoss(const Tensor &x, bool weighs,
                                  std::optional<int64_t> ignored,
                                  StringRef reduction) {
  // x is N x C x …; the target N x ….
  std::string text = "where = Cast<to = 7>(target)\n";
  if (ignored)
    text += "isIgnored = Equal(where, [" + std::to_string(*ignored) +
            "])\nplace = Where(isIgnored, [0], where)\n";
  else
    text += "place = Identity(where)\n";
  text += "column = Unsqueeze(place, [1])\n"
          "found = GatherElements<axis = 1>(x, column)\n"
          "likelihood = Squeeze(found, [1])\nloss0 = Neg(likelihood)\n";
  // Sums of products need weights where some do not count.
  bool hasFactor = weighs || ignored;
  if (weighs)
    text += "factor0 = Gather(weight, place)\n";
  else if (ignored)
    text += "ones0 = Cast<to = 1>([1])\nones1 = CastLike(ones0, likelihood)\n"
            "form = Shape(likelihood)\nfactor0 = Expand(ones1, form)\n";
  if (hasFactor && ignored)
    text += "nothing0 = Cast<to = 1>([0])\n"
            "nothing = CastLike(nothing0, likelihood)\n"
            "factor = Where(isIgnored, nothing, factor0)\n";
  else if (hasFactor)
    text += "factor = Identity(factor0)\n";
  text +=
      hasFactor ? "loss = Mul(loss0, factor)\n" : "loss = Identity(loss0)\n";
  if (reduction == "none")
    return text + "y = Identity(loss)\n";
  if (reduction == "sum")
    return text + "y = ReduceSum<keepdims = 0>(loss)\n";
  if (!hasFactor)
    return text + "y = ReduceMean<keepdims = 0>(loss)\n";
  return text + "total = ReduceSum<keepdims = 0>(loss)\n"
                "count = ReduceSum<keepdims = 0>(factor)\n"
                "y = Div(total, count)\n";
}

/// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
LogicalResult importLoss(Node &node) {
  std::string reduction = node.text("reduction", "mean");
  std::optional<int64_t> ignored;
  if (node.hasAttribute("ignore_index"))
    ignored = node.integer("ignore_index", 0);
  const Tensor &x = node.input(0), &target = node.input(1);
  if (node.failed() || failed(node.checkFloat(0)) ||
      failed(node.checkInteger(1)))
    return failure();
  Shape expected = x.shape;
  if (x.rank() >= 2)
    expected.erase(expected.begin() + 1);
  if (x.rank() < 2 || target.shape != expected)
    return node.error("scores of " + str(x.shape) + " for targets of " +
                      str(target.shape));
  if (!llvm::is_contained({"none", "sum", "mean"}, StringRef(reduction)))
    return node.error("attribute 'reduction' is " + quote(reduction) +
                      "; expected none, sum or mean");
  std::string text;
  bool isEntropy = node.op() == "SoftmaxCrossEntropyLoss";
  text = isEntropy ? "x = LogSoftmax<axis = 1>(scores)\n"
                   : "x = Identity(scores)\n";
  text += likelihoodLoss(x, node.has(2), ignored, reduction);
  SmallVector<StringRef> outputs = {"y"};
  if (isEntropy)
    outputs.push_back("x");
  return node.expand(text,
                     {{"scores", &x},
                      {"target", &target},
                      {"weight", node.has(2) ? &node.input(2) : nullptr}},
                     outputs);
}

/// y = (x - mean) / sqrt(variance + epsilon) · scale + bias of the batch, and
/// the running mean and variance.
LogicalResult trainBatchNormalization(Node &node, float epsilon,
                                      float momentum) {
  const Tensor &x = node.input(0);
  std::string axes = "[0";
  for (int64_t i = 2; i < x.rank(); ++i)
    axes += ", " + std::to_string(i);
  axes += "]";
  std::string shape = channels(x.rank()), old = digits(momentum),
              fresh = digits(1.0f - momentum);
  return node.expand(
      normalized(axes, epsilon) + "s = Reshape(scale, " + shape +
          ")\nb = Reshape(bias, " + shape +
          ")\nm = Mul(n, s)\ny = Add(m, b)\n"
          "mean1 = Squeeze(mean, " +
          axes + ")\nvariance1 = Squeeze(variance, " + axes +
          ")\nm0 = Mul(oldMean, " + old + ")\nm1 = Mul(mean1, " + fresh +
          ")\nrunningMean = Add(m0, m1)\nv0 = Mul(oldVariance, " + old +
          ")\nv1 = Mul(variance1, " + fresh +
          ")\nrunningVariance = Add(v0, v1)\n",
      {{"x", &x},
       {"scale", &node.input(1)},
       {"bias", &node.input(2)},
       {"oldMean", &node.input(3)},
       {"oldVariance", &node.input(4)}},
      {"y", "runningMean", "runningVariance"});
}

//===----------------------------------------------------------------------===//
// Products of quantized numbers
//===----------------------------------------------------------------------===//

/// MatMulInteger and ConvInteger: numbers without their zero points, in i32.
LogicalResult importIntegerProduct(Node &node) {
  bool isConv = node.op() == "ConvInteger";
  auto number = [&](unsigned i, unsigned zero) {
    Tensor wide = convertTo(node.emit, node.input(i), type::Int32);
    if (!node.has(zero))
      return std::optional(wide);
    Tensor point = convertTo(node.emit, node.input(zero), type::Int32);
    // One for each row on the left, for each column on the right; for each
    // output channel of a convolution.
    if (point.rank() == 1 && !point.shape[0].is(1)) {
      Shape shape = point.shape;
      if (isConv)
        shape.append(wide.rank() - 1, Dim::fixed(1));
      else if (i == 0)
        shape.push_back(Dim::fixed(1));
      point = node.emit.reshape(point, shape);
    }
    if (broadcast(wide.shape, point.shape) != wide.shape) {
      (void)node.error(node.inputName(zero) + " has shape " +
                       str(node.input(zero).shape) + " for " + str(wide.shape));
      return std::optional<Tensor>();
    }
    return std::optional(node.emit.map({&wide, &point}, wide.shape,
                                       [](LocBuilder &b, ValueRange args) {
                                         return sub(b, args[0], args[1]);
                                       }));
  };
  std::optional<Tensor> x = number(0, 2), y = x ? number(1, 3) : x;
  if (!y)
    return failure();
  if (!isConv) {
    auto product = matmul(node, *x, *y);
    return product ? node.finish(*product) : failure();
  }
  node.inputs = {&*x, &*y};
  LogicalResult result = importConv(node);
  return result;
}

/// QLinearMatMul and QLinearConv: dequantized, multiplied, quantized.
LogicalResult importQuantizedProduct(Node &node) {
  bool isConv = node.op() == "QLinearConv";
  auto input = [&](unsigned i) -> const Tensor * {
    return node.has(i) ? &node.input(i) : nullptr;
  };
  Emitter &emit = node.emit;
  // x, its scale and zero point; the same of y; the result's.
  auto real = [&](unsigned i, bool isLeft) -> std::optional<Tensor> {
    Tensor number = convertTo(emit, node.input(i), type::Float);
    Tensor scale = convertTo(emit, node.input(i + 1), type::Float);
    Tensor zero = convertTo(emit, node.input(i + 2), type::Float);
    auto shaped = [&](const Tensor &one) {
      if (one.rank() != 1 || one.shape[0].is(1))
        return emit.reshape(one, {});
      Shape shape = one.shape;
      if (isConv)
        shape.append(number.rank() - 1, Dim::fixed(1));
      else if (isLeft)
        shape.push_back(Dim::fixed(1));
      return emit.reshape(one, shape);
    };
    if ((scale.rank() <= 1 && elementCount(scale.shape) == 1))
      scale = emit.reshape(scale, {});
    scale = shaped(scale);
    zero =
        elementCount(zero.shape) == 1 ? emit.reshape(zero, {}) : shaped(zero);
    if (broadcast(number.shape, scale.shape) != number.shape ||
        broadcast(number.shape, zero.shape) != number.shape) {
      (void)node.error("scales of " + str(node.input(i + 1).shape) + " for " +
                       str(number.shape));
      return std::nullopt;
    }
    return emit.map({&number, &zero, &scale}, number.shape,
                    [](LocBuilder &b, ValueRange args) {
                      return mul(b, sub(b, args[0], args[1]), args[2]);
                    });
  };
  for (unsigned i = 0; i < 8; ++i)
    if (!node.has(i))
      return node.error("input " + Twine(i) + " is left out");
  std::optional<Tensor> x = real(0, true), y = x ? real(3, false) : x;
  if (!y)
    return failure();
  Tensor product;
  Tensor scale = convertTo(emit, *input(6), type::Float), zero = *input(7);
  if (isConv) {
    Tensor bias;
    SmallVector<const Tensor *, 4> all = node.inputs;
    node.inputs = {&*x, &*y};
    if (all.size() > 8 && all[8]) {
      // The bias is in units of the product of both scales.
      Tensor wide = convertTo(emit, *all[8], type::Float);
      Tensor first = convertTo(emit, *all[1], type::Float);
      Tensor second = convertTo(emit, *all[4], type::Float);
      first = emit.reshape(first, {});
      if (elementCount(second.shape) == 1)
        second = emit.reshape(second, {});
      bias = emit.map({&wide, &first, &second}, wide.shape,
                      [](LocBuilder &b, ValueRange args) {
                        return mul(b, args[0], mul(b, args[1], args[2]));
                      });
      node.inputs.push_back(&bias);
    }
    if (failed(importConv(node)))
      return failure();
    product = node.results.pop_back_val();
    node.inputs = all;
  } else {
    auto found = matmul(node, *x, *y);
    if (!found)
      return failure();
    product = *found;
  }
  return node.expand(
      "q = QuantizeLinear(product, scale, zero)\n",
      {{"product", &product}, {"scale", &scale}, {"zero", &zero}}, {"q"});
}

} // namespace numera::importer
