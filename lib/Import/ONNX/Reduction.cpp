//===- Reduction.cpp - Sums, means, extrema and norms ---------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Reduction.h"
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace numera::importer {

Shape reducedShape(ArrayRef<Dim> shape, ArrayRef<bool> reduced, bool keep) {
  Shape result;
  for (auto [dim, gone] : llvm::zip_equal(shape, reduced)) {
    if (!gone)
      result.push_back(dim);
    else if (keep)
      result.push_back(Dim::fixed(1));
  }
  return result;
}

Tensor absolute(Emitter &emit, const Tensor &x) {
  bool noSign = isUnsigned(x.dataType);
  return emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) -> Value {
    if (!x.isIntegral())
      return math::AbsFOp::create(b, args[0]);
    return noSign ? args[0] : max(b, args[0], neg(b, args[0]));
  });
}

Tensor power(Emitter &emit, const Tensor &x, double exponent) {
  if (exponent == 1)
    return x;
  return emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) -> Value {
    Value x = args[0];
    if (exponent == 2)
      return mul(b, x, x);
    if (exponent == 0.5)
      return math::SqrtOp::create(b, x);
    return math::PowFOp::create(b, x, constant(b, x.getType(), exponent));
  });
}

static Tensor logarithm(Emitter &emit, const Tensor &x) {
  return emit.map({&x}, x.shape, [](LocBuilder &b, ValueRange args) -> Value {
    return math::LogOp::create(b, args[0]);
  });
}

std::optional<Tensor> mean(Node &node, const Tensor &x,
                           ArrayRef<bool> reduced) {
  Shape gone;
  for (auto [dim, isGone] : llvm::zip_equal(x.shape, reduced))
    if (isGone)
      gone.push_back(dim);
  Tensor sum = node.emit.sum(x, reduced);
  Dim count = product(gone);
  Value size = count.isDynamic() ? node.emit.size(count) : Value();
  return node.emit.map({&sum}, sum.shape, [&](LocBuilder &b, ValueRange args) {
    Value number = size ? fromIndex(b, size, args[0].getType())
                        : constant(b, args[0].getType(), double(count.count));
    return div(b, args[0], number, isUnsigned(x.dataType));
  });
}

/// log(sum exp(x)), by m + log(sum exp(x - m)) with the maximum m, which does
/// not overflow.
static Tensor logSumExp(Emitter &emit, const Tensor &x,
                        ArrayRef<bool> reduced) {
  Tensor most = emit.maximum(x, reduced);
  // An infinite maximum is not subtracted.
  Tensor finite =
      emit.map({&most}, most.shape, [](LocBuilder &b, ValueRange args) {
        Value zero = constant(b, args[0].getType(), 0);
        Value isFinite =
            compare(b, Order::Equal, sub(b, args[0], args[0]), zero);
        return select(b, isFinite, args[0], zero);
      });
  SmallVector<unsigned, 4> kept;
  for (auto [i, gone] : llvm::enumerate(reduced))
    if (!gone)
      kept.push_back(i);
  Tensor powers =
      emit.mapAlong({emit.aligned(x, x.rank()), {&finite, kept}}, x.shape,
                    [](LocBuilder &b, ValueRange args) -> Value {
                      return math::ExpOp::create(b, sub(b, args[0], args[1]));
                    });
  Tensor sums = emit.sum(powers, reduced);
  return emit.map({&sums, &finite}, sums.shape,
                  [](LocBuilder &b, ValueRange args) -> Value {
                    Value log = math::LogOp::create(b, args[0]);
                    return add(b, log, args[1]);
                  });
}

static std::optional<Tensor> reduced(Node &node, const Tensor &x,
                                     StringRef kind, ArrayRef<bool> gone) {
  Emitter &emit = node.emit;
  if (kind == "Max")
    return emit.maximum(x, gone);
  if (kind == "Min")
    return emit.minimum(x, gone);
  if (kind == "Sum")
    return emit.sum(x, gone);
  if (kind == "Mean")
    return mean(node, x, gone);
  if (kind == "Prod")
    return emit.reduce(x, gone, emit.number(1, x.dataType),
                       [](LocBuilder &b, ValueRange args) {
                         return mul(b, args[1], args[0]);
                       });
  if (kind == "L1")
    return emit.sum(absolute(emit, x), gone);
  if (kind == "L2")
    return power(emit, emit.sum(power(emit, x, 2), gone), 0.5);
  if (kind == "SumSquare")
    return emit.sum(power(emit, x, 2), gone);
  if (kind == "LogSum")
    return logarithm(emit, emit.sum(x, gone));
  return logSumExp(emit, x, gone);
}

/// What an operator of one element that is not reduced gives. Roots and
/// logarithms of integers are those of f64, rounded toward zero.
static std::optional<Tensor> reducedOrNot(Node &node, StringRef kind,
                                          ArrayRef<bool> gone, bool keep) {
  const Tensor &x = node.input(0);
  StringRef folds = llvm::StringSwitch<StringRef>(kind)
                        .Case("Sum", "Add")
                        .Case("Prod", "Mul")
                        .Cases({"Max", "Min"}, kind)
                        .Default("");
  if (x.isDynamic() && x.rank() == 1 && gone[0] && !folds.empty())
    if (std::optional<Tensor> folded = foldReduction(node, folds))
      return node.emit.reshape(*folded, reducedShape(x.shape, gone, keep));
  bool throughReals =
      x.isIntegral() && (kind == "L2" || kind.starts_with("Log"));
  std::optional<Tensor> result =
      reduced(node, throughReals ? convertTo(node.emit, x, type::Double) : x,
              kind, gone);
  if (!result)
    return std::nullopt;
  return convertTo(
      node.emit, node.emit.reshape(*result, reducedShape(x.shape, gone, keep)),
      x.dataType);
}

/// Axes that are known only when the model runs: the declared shape of the
/// result leaves few possibilities, and the one that holds is taken.
static LogicalResult reduceAtRunTime(Node &node, StringRef kind, bool keep) {
  std::optional<Shape> shape = node.declared(0);
  const Tensor &x = node.input(0), &axes = node.input(1);
  if (!shape || axes.shape.size() > 1 || x.rank() > 8)
    return failure(!node.constants(1));
  int64_t count = axes.shape.empty() ? 1 : axes.shape[0].count;
  std::optional<Tensor> result;
  Tensor isAny;
  for (unsigned mask = 0; mask < 1u << x.rank(); ++mask) {
    SmallVector<bool> gone;
    for (int64_t i = 0; i < x.rank(); ++i)
      gone.push_back(mask >> i & 1);
    if (llvm::popcount(mask) != count ||
        reducedShape(x.shape, gone, keep) != *shape)
      continue;
    std::optional<Tensor> one = reducedOrNot(node, kind, gone, keep);
    if (!one)
      return failure();
    Tensor isOne = areAxes(node, 1, gone);
    if (!result) {
      result = one;
      isAny = isOne;
      continue;
    }
    isAny =
        node.emit.map({&isAny, &isOne}, {}, [](LocBuilder &b, ValueRange args) {
          return either(b, args[0], args[1]);
        });
    result = node.emit.map(
        {&isOne, &*one, &*result}, *shape,
        [](LocBuilder &b, ValueRange args) {
          return select(b, args[0], args[1], args[2]);
        },
        x.dataType);
  }
  if (!result)
    return node.error("no " + Twine(count) + " axes of " + str(x.shape) +
                      " reduce it to the declared " + str(*shape));
  require(node, Emitter::at(node.emit.b, node.emit.value(isAny), {}),
          "takes axes that do not give the size that the model declares");
  return node.finish(*result);
}

LogicalResult importReduce(Node &node) {
  StringRef kind = node.op().drop_front(StringRef("Reduce").size());
  const Tensor &x = node.input(0);
  // The axes became an input in opset 13 for the sum, in 18 for the others.
  bool asInput = node.opset >= (kind == "Sum" ? 13 : 18);
  if (!asInput && node.numInputs() > 1)
    return node.error("2 inputs; expected the axes as an attribute in opset " +
                      Twine(node.opset));
  bool keep = node.integer("keepdims", 1);
  bool noop = asInput && node.integer("noop_with_empty_axes", 0);
  std::optional<SmallVector<int64_t>> axes;
  if (!asInput)
    axes = node.integers("axes");
  else if (node.has(1) && node.input(1).isEmpty())
    axes = SmallVector<int64_t>();
  else if (node.has(1) && !node.input(1).host)
    return reduceAtRunTime(node, kind, keep);
  else if (node.has(1))
    axes = node.constants(1);
  if (node.failed())
    return failure();
  int64_t rank = x.rank();
  bool isNamed = axes && !axes->empty();
  SmallVector<bool> gone(rank, !noop);
  if (isNamed)
    gone = node.axes(*axes, rank);
  if (node.failed())
    return failure();
  // No axes at all: each element is reduced for itself, or stays what it is.
  if (noop && !isNamed)
    return kind == "Max" || kind == "Min" || kind == "Sum" || kind == "Mean" ||
                   kind == "Prod"
               ? node.finish(x)
               : [&] {
                   std::optional<Tensor> one =
                       reducedOrNot(node, kind, gone, keep);
                   return one ? node.finish(*one) : failure();
                 }();
  std::optional<Tensor> result = reducedOrNot(node, kind, gone, keep);
  return result ? node.finish(*result) : failure();
}

LogicalResult importGlobalPool(Node &node) {
  const Tensor &x = node.input(0);
  if (x.rank() < 3)
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected batch, channels and spatial dimensions");
  SmallVector<bool> spatial(x.rank(), true);
  spatial[0] = spatial[1] = false;
  Shape shape = reducedShape(x.shape, spatial, /*keep=*/true);
  if (node.op() == "GlobalLpPool") {
    double p = double(node.integer("p", 2));
    Tensor powers = power(node.emit, absolute(node.emit, x), p);
    Tensor sums = node.emit.sum(powers, spatial);
    return node.finish(node.emit.reshape(power(node.emit, sums, 1 / p), shape));
  }
  std::optional<Tensor> result =
      reduced(node, x, node.op() == "GlobalMaxPool" ? "Max" : "Mean", spatial);
  return result ? node.finish(node.emit.reshape(*result, shape)) : failure();
}

/// ArgMax and ArgMin: the extremum, then the place where it is. NaN counts as
/// the extremum, as in NumPy.
LogicalResult importArg(Node &node) {
  const Tensor &x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  bool keep = node.integer("keepdims", 1);
  bool isLast = node.integer("select_last_index", 0);
  if (node.failed())
    return failure();
  if (x.shape[axis].isDynamic() || x.shape[axis].is(0))
    return node.error("dimension " + Twine(axis) + " of " + str(x.shape) +
                      "; expected a fixed size of 1 or more");
  Emitter &emit = node.emit;
  SmallVector<bool> gone(x.rank(), false);
  gone[axis] = true;
  Tensor best =
      node.op() == "ArgMax" ? emit.maximum(x, gone) : emit.minimum(x, gone);
  SmallVector<unsigned, 4> kept;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis)
      kept.push_back(unsigned(i));
  int64_t size = x.shape[axis].count;
  Type i64 = emit.b.getI64Type();
  Tensor places = emit.mapAlong(
      {emit.aligned(x, x.rank()), {&best, kept}}, x.shape,
      [&](LocBuilder &b, ValueRange args) -> Value {
        Value found = compare(b, Order::Equal, args[0], args[1]);
        if (!x.isIntegral())
          found = either(b, found, isNaN(b, args[0]));
        Value place = fromIndex(b, linalg::IndexOp::create(b, axis), i64);
        return select(b, found, place,
                      constant(b, i64, isLast ? -1 : double(size)));
      },
      type::Int64);
  Tensor result =
      isLast ? emit.maximum(places, gone) : emit.minimum(places, gone);
  return node.finish(emit.reshape(result, reducedShape(x.shape, gone, keep)));
}

} // namespace numera::importer
