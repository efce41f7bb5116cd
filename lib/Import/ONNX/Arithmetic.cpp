//===- Arithmetic.cpp - Operators of several inputs that map scalars ------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "Single.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace numera::importer {

std::optional<Shape> broadcastAll(Node &node) {
  Shape shape = node.input(0).shape;
  for (unsigned i = 1; i < node.numInputs(); ++i) {
    if (!node.has(i))
      continue;
    std::optional<Shape> wider = broadcast(node, shape, node.input(i).shape);
    if (!wider) {
      (void)node.error("shapes " + str(shape) + " and " +
                       str(node.input(i).shape) +
                       " do not broadcast; expected equal sizes or 1 in each "
                       "dimension, counted from the last");
      return std::nullopt;
    }
    shape = *wider;
  }
  if (failed(node.checkSize(shape)))
    return std::nullopt;
  return shape;
}

/// Fails unless all inputs have the type of the first.
static LogicalResult checkSameType(Node &node, unsigned first = 0) {
  for (unsigned i = first; i < node.numInputs(); ++i)
    if (node.has(i) && node.input(i).dataType != node.input(first).dataType)
      return node.error(node.inputName(i) + " has elements of " +
                        dataTypeName(node.input(i).dataType) + ", " +
                        node.inputName(first) + " of " +
                        dataTypeName(node.input(first).dataType) +
                        "; expected the same");
  return success();
}

/// x to the power of an integer exponent, by squaring: integers wrap.
static Value integerPower(LocBuilder &b, Value x, Value exponent) {
  Value one = constant(b, x.getType(), 1), result = one, power = x;
  unsigned bits = exponent.getType().getIntOrFloatBitWidth();
  // More than 6 bits of exponent overflow all bases but -1, 0 and 1, for which
  // the lowest bit decides.
  Value zero = constant(b, exponent.getType(), 0);
  for (unsigned i = 0; i < std::min(bits, 7u); ++i) {
    Value bit = arith::AndIOp::create(
        b, exponent, constant(b, exponent.getType(), double(1 << i)));
    Value isSet = negation(b, compare(b, Order::Equal, bit, zero));
    result = select(b, isSet, mul(b, result, power), result);
    power = mul(b, power, power);
  }
  return result;
}

/// x to the power 2 is x times x, which is the same value, rounded once.
static LogicalResult importPow(Node &node, const Shape &shape) {
  const Tensor &x = node.input(0), &exponent = node.input(1);
  if (x.isIntegral() && exponent.isIntegral())
    return node.finish(node.emit.map({&x, &exponent}, shape,
                                     [](LocBuilder &b, ValueRange args) {
                                       return integerPower(b, args[0], args[1]);
                                     }));
  int64_t wide = x.isIntegral() ? exponent.dataType : x.dataType;
  std::optional<float> number = exponent.scalar();
  if (exponent.isIntegral() && exponent.host && !exponent.isDynamic() &&
      elementCount(exponent.shape) == 1)
    number = float(exponent.host->ints[0].count);
  if (number == 2.0f && !x.isIntegral())
    return node.finish(
        node.emit.map({&x}, shape, [](LocBuilder &b, ValueRange args) -> Value {
          return mul(b, args[0], args[0]);
        }));
  Tensor power = node.emit.map(
      {&x, &exponent}, shape,
      [&](LocBuilder &b, ValueRange args) -> Value {
        Type type = elementType(b.getContext(), wide);
        auto widen = [&](Value value, int64_t from) {
          return value.getType() == type ? value
                                         : convert(b, value, from, wide);
        };
        Value result = math::PowFOp::create(b, widen(args[0], x.dataType),
                                            widen(args[1], exponent.dataType));
        return x.isIntegral() ? convert(b, result, wide, x.dataType) : result;
      },
      x.dataType);
  return node.finish(power);
}

/// Numbers whose remainder has the sign of the divisor, as Python's.
static Value floorMod(LocBuilder &b, Value x, Value y, bool isUnsigned) {
  Value left = rem(b, x, y, isUnsigned);
  if (isUnsigned)
    return left;
  Value zero = constant(b, x.getType(), 0);
  Value isZero = compare(b, Order::Equal, left, zero);
  Value signsDiffer = arith::XOrIOp::create(
      b, compare(b, Order::Less, left, zero), compare(b, Order::Less, y, zero));
  return select(b, both(b, negation(b, isZero), signsDiffer), add(b, left, y),
                left);
}

static Value shift(LocBuilder &b, Value x, Value y, bool isLeft,
                   bool isUnsigned) {
  // A shift by the width or more leaves nothing.
  unsigned width = x.getType().getIntOrFloatBitWidth();
  Value amount = y;
  Value most = constant(b, y.getType(), width - 1);
  Value isTooFar = compare(b, Order::Less, most, y, /*isUnsigned=*/true);
  amount = select(b, isTooFar, most, amount);
  Value zero = constant(b, x.getType(), 0);
  if (isLeft)
    return select(b, isTooFar, zero, arith::ShLIOp::create(b, x, amount));
  if (!isUnsigned)
    return arith::ShRSIOp::create(b, x, amount);
  return select(b, isTooFar, zero, arith::ShRUIOp::create(b, x, amount));
}

static Value binary(StringRef op, LocBuilder &b, Value lhs, Value rhs,
                    bool isUnsigned) {
  if (op == "PRelu")
    return whereNegative(b, lhs, mul(b, lhs, rhs));
  if (op == "Add" || op == "Sum" || op == "Mean")
    return add(b, lhs, rhs);
  if (op == "Sub")
    return sub(b, lhs, rhs);
  if (op == "Mul")
    return mul(b, lhs, rhs);
  if (op == "Div")
    return div(b, lhs, rhs, isUnsigned);
  return op == "Max" ? max(b, lhs, rhs, isUnsigned)
                     : min(b, lhs, rhs, isUnsigned);
}

LogicalResult importBinary(Node &node) {
  const Tensor &x = node.input(0), &y = node.input(1);
  std::optional<Shape> shape = broadcastAll(node);
  if (!shape)
    return failure();
  if (x.isDynamic() || y.isDynamic())
    if (std::optional<Tensor> known = foldIntegers(node, *shape))
      return node.finish(*known);
  if (node.op() == "Pow")
    return importPow(node, *shape);
  if (failed(checkSameType(node)))
    return failure();
  if (node.op() == "PRelu" && *shape != x.shape)
    return node.error("slope of shape " + str(y.shape) +
                      " does not broadcast to " + str(x.shape));
  return node.finish(
      node.emit.map({&x, &y}, *shape, [&](LocBuilder &b, ValueRange args) {
        return binary(node.op(), b, args[0], args[1], isUnsigned(x.dataType));
      }));
}

LogicalResult importVariadic(Node &node) {
  std::optional<Shape> shape = broadcastAll(node);
  if (!shape || failed(checkSameType(node)))
    return failure();
  auto hasSizes = [](const Tensor *input) { return input->isDynamic(); };
  if ((node.op() == "Max" || node.op() == "Min") &&
      llvm::any_of(node.inputs, hasSizes))
    if (std::optional<Tensor> folded = foldIntegers(node, *shape))
      return node.finish(*folded);
  bool noSign = isUnsigned(node.input(0).dataType);
  return node.finish(
      node.emit.map(node.inputs, *shape, [&](LocBuilder &b, ValueRange args) {
        Value result = args[0];
        for (Value next : args.drop_front())
          result = binary(node.op(), b, result, next, noSign);
        if (node.op() == "Mean")
          result = div(b, result,
                       constant(b, result.getType(), double(args.size())));
        return result;
      }));
}

LogicalResult importMod(Node &node) {
  bool isC = node.integer("fmod", 0);
  std::optional<Shape> shape = broadcastAll(node);
  if (!shape || failed(checkSameType(node)))
    return failure();
  const Tensor &x = node.input(0);
  bool noSign = isUnsigned(x.dataType);
  return node.finish(node.emit.map(
      {&x, &node.input(1)}, *shape, [&](LocBuilder &b, ValueRange args) {
        if (isC)
          return rem(b, args[0], args[1], noSign);
        return floorMod(b, args[0], args[1], noSign);
      }));
}

/// And, Or, Xor, and the same on all bits of integers.
LogicalResult importLogic(Node &node) {
  std::optional<Shape> shape = broadcastAll(node);
  if (!shape || failed(checkSameType(node)) || failed(node.checkInteger(0)))
    return failure();
  StringRef op = node.op();
  if (op.consume_front("Bitwise") == (node.input(0).dataType == type::Bool))
    return node.error(node.inputName(0) + " has elements of " +
                      dataTypeName(node.input(0).dataType) +
                      "; expected BOOL, or integers of a bitwise operator");
  return node.finish(
      node.emit.map({&node.input(0), &node.input(1)}, *shape,
                    [&](LocBuilder &b, ValueRange args) -> Value {
                      if (op == "And")
                        return both(b, args[0], args[1]);
                      if (op == "Or")
                        return either(b, args[0], args[1]);
                      return arith::XOrIOp::create(b, args[0], args[1]);
                    }));
}

LogicalResult importBitShift(Node &node) {
  std::string direction = node.text("direction", "");
  std::optional<Shape> shape = broadcastAll(node);
  if (!shape || failed(checkSameType(node)) || failed(node.checkInteger(0)))
    return failure();
  if (direction != "LEFT" && direction != "RIGHT")
    return node.error("attribute 'direction' is " + quote(direction) +
                      "; expected LEFT or RIGHT");
  bool noSign = isUnsigned(node.input(0).dataType);
  return node.finish(node.emit.map({&node.input(0), &node.input(1)}, *shape,
                                   [&](LocBuilder &b, ValueRange args) {
                                     return shift(b, args[0], args[1],
                                                  direction == "LEFT", noSign);
                                   }));
}

/// Whether two sizes compare so, if that is the same for all sizes of the
/// batch; nothing else.
static std::optional<bool> compareSizes(Dim x, Dim y, Order order) {
  auto holds = [&](int64_t lhs, int64_t rhs) {
    return order == Order::Equal  ? lhs == rhs
           : order == Order::Less ? lhs < rhs
                                  : lhs <= rhs;
  };
  if (!x.isDynamic() && !y.isDynamic())
    return holds(x.count, y.count);
  if (x == y)
    return order != Order::Less;
  if ((x.isDynamic() && y.isDynamic()) || (x.isDynamic() ? x : y).count < 0)
    return std::nullopt;
  // One of them is from 0 on.
  int64_t other = x.isDynamic() ? y.count : x.count;
  if (other < 0)
    return order != Order::Equal && y.isDynamic();
  if (other == 0 && order == (x.isDynamic() ? Order::Less : Order::LessOrEqual))
    return y.isDynamic();
  return std::nullopt;
}

/// A comparison with sizes that comes out the same whatever they are, as
/// whether a size is -1.
static std::optional<Tensor> compareKnown(Node &node, const Tensor &x,
                                          const Tensor &y, const Shape &shape,
                                          Order order) {
  if (!x.host || !y.host || (!x.isDynamic() && !y.isDynamic()))
    return std::nullopt;
  Tensor lhs = node.emit.expand(x, shape), rhs = node.emit.expand(y, shape);
  if (!lhs.host || !rhs.host)
    return std::nullopt;
  std::vector<Dim> results;
  for (auto [a, b] : llvm::zip_equal(lhs.host->ints, rhs.host->ints)) {
    std::optional<bool> result = compareSizes(a, b, order);
    if (!result)
      return std::nullopt;
    results.push_back(Dim::fixed(*result));
  }
  return Tensor::ofInts(std::move(results), shape, type::Bool);
}

LogicalResult importCompare(Node &node) {
  const Tensor &x = node.input(0), &y = node.input(1);
  std::optional<Shape> shape = broadcastAll(node);
  if (!shape || failed(checkSameType(node)))
    return failure();
  StringRef op = node.op();
  bool swaps = op.starts_with("Greater");
  Order order = op == "Equal"           ? Order::Equal
                : op.ends_with("Equal") ? Order::LessOrEqual
                                        : Order::Less;
  if (std::optional<Tensor> known =
          compareKnown(node, swaps ? y : x, swaps ? x : y, *shape, order))
    return node.finish(*known);
  bool noSign = isUnsigned(x.dataType);
  return node.finish(node.emit.map(
      {&x, &y}, *shape,
      [&](LocBuilder &b, ValueRange args) {
        return compare(b, order, args[swaps ? 1 : 0], args[swaps ? 0 : 1],
                       noSign);
      },
      type::Bool));
}

LogicalResult importWhere(Node &node) {
  const Tensor &condition = node.input(0);
  if (condition.dataType != type::Bool)
    return node.error(node.inputName(0) + " has elements of " +
                      dataTypeName(condition.dataType) + "; expected BOOL");
  std::optional<Shape> shape = broadcastAll(node);
  if (!shape || failed(checkSameType(node, 1)))
    return failure();
  const Tensor &x = node.input(1), &y = node.input(2);
  if (x.isDynamic() || y.isDynamic())
    if (std::optional<Tensor> known = selectKnown(node, *shape))
      return node.finish(*known);
  return node.finish(node.emit.map(
      {&condition, &x, &y}, *shape,
      [](LocBuilder &b, ValueRange args) {
        return select(b, args[0], args[1], args[2]);
      },
      x.dataType));
}

/// The bounds of Clip: inputs since opset 11, attributes before.
static LogicalResult readBound(Node &node, StringRef name, unsigned i,
                               std::optional<Tensor> &bound) {
  if (node.opset < 11) {
    if (node.hasAttribute(name))
      bound = Tensor::ofFloats({node.real(name, 0.0f)}, {});
    return failure(node.failed());
  }
  if (!node.has(i))
    return success();
  if (elementCount(node.input(i).shape) != 1)
    return node.error(node.inputName(i) + " has shape " +
                      str(node.input(i).shape) + "; expected a scalar");
  bound = node.emit.reshape(node.input(i), {});
  return success();
}

LogicalResult importClip(Node &node) {
  std::optional<Tensor> low, high;
  if (failed(readBound(node, "min", 1, low)) ||
      failed(readBound(node, "max", 2, high)) || failed(checkSameType(node)))
    return failure();
  const Tensor &x = node.input(0);
  bool noSign = isUnsigned(x.dataType);
  SmallVector<const Tensor *> tensors = {&x};
  if (low)
    tensors.push_back(&*low);
  if (high)
    tensors.push_back(&*high);
  if (tensors.size() == 1)
    return node.finish(x);
  return node.finish(
      node.emit.map(tensors, x.shape, [&](LocBuilder &b, ValueRange args) {
        Value clipped = args[0];
        if (low)
          clipped = max(b, clipped, args[1], noSign);
        if (high)
          clipped = min(b, clipped, args.back(), noSign);
        return clipped;
      }));
}

} // namespace numera::importer
