//===- Dropout.cpp - What is dropped in training --------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"
#include <random>

using namespace mlir;

namespace numera::importer {

/// NumPy's RandomState(seed).uniform(0, 1, shape).
static Tensor uniform(uint32_t seed, ArrayRef<Dim> shape) {
  std::mt19937 generator(seed);
  std::vector<double> numbers(size_t(*elementCount(shape)));
  for (double &number : numbers) {
    double high = double(generator() >> 5), low = double(generator() >> 6);
    number = (high * 0x1p26 + low) * 0x1p-53;
  }
  return Tensor::ofDoubles(std::move(numbers), Shape(shape));
}

/// y = x * mask / (1 - ratio), with numbers that the seed gives.
static LogicalResult dropAtRandom(Node &node, int64_t seed) {
  const Tensor &x = node.input(0);
  if (llvm::any_of(x.shape, [](Dim dim) { return dim.isDynamic(); }))
    return node.error("drops of an open batch, of " + str(x.shape));
  if (seed < 0 || seed > int64_t(UINT32_MAX))
    return node.error("a seed of " + Twine(seed) + "; expected 0 to 2^32 - 1");
  if (failed(node.checkFoldable(x.shape)))
    return failure();
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  List training(node, 2), ratios(node, 1);
  if (node.failed())
    return failure();
  if (training.size() != 1 || ratios.size() > 1)
    return node.error("the ratio and the mode are " + Twine(ratios.size()) +
                      " and " + Twine(training.size()) +
                      " numbers; expected one each");
  Value ratio =
      ratios.size() ? ratios.real(b, 0) : constant(b, b.getF64Type(), 0.5);
  Value zero = constant(b, b.getF64Type(), 0),
        one = constant(b, b.getF64Type(), 1);
  require(node,
          both(b, compare(b, Order::LessOrEqual, zero, ratio),
               compare(b, Order::Less, ratio, one)),
          "has a ratio that is not at least 0 and less than 1");
  Value drops =
      both(b, compare(b, Order::Equal, training.index(b, 0), index(b, 1)),
           compare(b, Order::Less, zero, ratio));
  Tensor numbers = uniform(uint32_t(seed), x.shape);
  Tensor mask = emit.map(
      {&numbers}, x.shape,
      [&](LocBuilder &b, ValueRange args) {
        return either(b, negation(b, drops),
                      compare(b, Order::LessOrEqual, ratio, args[0]));
      },
      type::Bool);
  Tensor wide = widen(emit, x);
  Value scale =
      convert(b, div(b, one, sub(b, one, ratio)), type::Double, wide.dataType);
  Tensor y = emit.map(
      {&wide, &mask}, x.shape,
      [&](LocBuilder &b, ValueRange args) {
        Value kept = convert(b, args[1], type::Bool, wide.dataType);
        return select(b, drops, mul(b, mul(b, args[0], kept), scale), args[0]);
      },
      wide.dataType);
  if (failed(node.finish(convertTo(emit, y, x.dataType))))
    return failure();
  return node.hasOutput(1) ? node.finish(mask) : success();
}

LogicalResult importDropout(Node &node) {
  node.ignore("ratio");
  int64_t seed = node.integer("seed", 0);
  if (node.opset < 7)
    node.ignore("is_test");
  if (node.failed())
    return failure();
  const Tensor &x = node.input(0);
  // Since opset 12 an input says whether to drop anything.
  bool drops = node.has(2);
  if (drops && node.input(2).host) {
    std::optional<SmallVector<int64_t>> training = node.constants(2);
    if (!training)
      return failure();
    drops = llvm::any_of(*training, [](int64_t flag) { return flag != 0; });
  }
  bool keepsAll = node.has(1) && node.input(1).scalar() == 0.0f;
  if (drops && !keepsAll) {
    if (failed(node.checkFloat(0)))
      return failure();
    if (!node.hasAttribute("seed"))
      return node.error("training mode may be on, and there is no seed");
    return dropAtRandom(node, seed);
  }
  if (failed(node.finish(x)) || !node.hasOutput(1))
    return failure(node.failed());
  // Nothing is dropped.
  Tensor all = Tensor::ofInts({Dim::fixed(1)}, {}, type::Bool);
  if (node.opset < 10)
    all = convertTo(node.emit, all, x.dataType);
  return node.finish(node.emit.expand(all, x.shape));
}

} // namespace numera::importer
