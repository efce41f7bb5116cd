//===- Elementwise.cpp - Operators of one input that map scalars ----------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Each operator is one linalg.generic. An operator without a single operation
// is a sequence of operations, each rounded (docs/Semantics/Elementary.md).
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "Single.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

static Value number(LocBuilder &b, Value like, double constant) {
  return importer::constant(b, like.getType(), constant);
}

/// x < 0 ? negative : x
Value whereNegative(LocBuilder &b, Value x, Value negative) {
  Value isNegative = compare(b, Order::Less, x, number(b, x, 0));
  return select(b, isNegative, negative, x);
}

/// max(0, min(1, alpha x + beta))
static Value hardSigmoid(LocBuilder &b, Value x, float alpha, float beta) {
  Value scaled = mul(b, x, number(b, x, alpha));
  Value line = add(b, scaled, number(b, x, beta));
  Value below = min(b, line, number(b, x, 1));
  return max(b, below, number(b, x, 0));
}

static Value sigmoid(LocBuilder &b, Value x) {
  Value power = math::ExpOp::create(b, neg(b, x));
  Value sum = add(b, power, number(b, x, 1));
  return div(b, number(b, x, 1), sum);
}

/// alpha (exp(x) - 1)
static Value scaledExpm1(LocBuilder &b, Value x, float alpha) {
  Value power = math::ExpOp::create(b, x);
  Value less = sub(b, power, number(b, x, 1));
  return mul(b, less, number(b, x, alpha));
}

static Value softplus(LocBuilder &b, Value x) {
  // log(1 + exp(x)), by max(x, 0) + log1p(exp(-|x|)), which does not overflow,
  // and loses nothing of numbers far below 0.
  Value size = math::AbsFOp::create(b, x);
  Value power = math::ExpOp::create(b, neg(b, size));
  Value log = math::Log1pOp::create(b, power);
  return add(b, max(b, x, number(b, x, 0)), log);
}

static Value celu(LocBuilder &b, Value x, float alpha) {
  Value power = math::ExpOp::create(b, div(b, x, number(b, x, alpha)));
  Value less = sub(b, power, number(b, x, 1));
  Value low = min(b, number(b, x, 0), mul(b, number(b, x, alpha), less));
  return add(b, max(b, number(b, x, 0), x), low);
}

static Value shrink(LocBuilder &b, Value x, float bias, float lambd) {
  Value low = compare(b, Order::Less, x, number(b, x, -lambd));
  Value high = compare(b, Order::Less, number(b, x, lambd), x);
  Value up = add(b, x, number(b, x, bias)),
        down = sub(b, x, number(b, x, bias));
  return select(b, low, up, select(b, high, down, number(b, x, 0)));
}

/// Integers are numbers of f64, and the result is rounded toward zero.
static LogicalResult shrinkIntegers(Node &node) {
  const Tensor &x = node.input(0);
  float bias = node.real("bias", 0.0f), lambd = node.real("lambd", 0.5f);
  if (node.failed())
    return failure();
  return node.finish(
      node.emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) {
        Value real = convert(b, args[0], x.dataType, type::Double);
        return convert(b, shrink(b, real, bias, lambd), type::Double,
                       x.dataType);
      }));
}

static Value sign(LocBuilder &b, Value x) {
  Value zero = number(b, x, 0);
  Value negative =
      select(b, compare(b, Order::Less, x, zero), number(b, x, -1), x);
  return select(b, compare(b, Order::Less, zero, x), number(b, x, 1), negative);
}

namespace {
/// An operator of one input that is several operations. `parameters` says how
/// many of alpha and beta are attributes of it, by the names and with the
/// defaults given here.
struct Unary {
  StringRef name;
  Value (*body)(LocBuilder &, Value, float alpha, float beta);
  unsigned parameters = 0;
  float alpha = 0.0f;
  float beta = 0.0f;
  StringRef alphaName = "alpha";
  StringRef betaName = "beta";
};

const Unary kUnary[] = {
    {"Celu",
     [](LocBuilder &b, Value x, float alpha, float) {
       return celu(b, x, alpha);
     },
     1, 1.0f},
    {"Elu",
     [](LocBuilder &b, Value x, float alpha, float) {
       return whereNegative(b, x, scaledExpm1(b, x, alpha));
     },
     1, 1.0f},
    {"HardSigmoid", hardSigmoid, 2, 0.2f, 0.5f},
    {"HardSwish",
     [](LocBuilder &b, Value x, float, float) -> Value {
       return mul(b, x, hardSigmoid(b, x, 1.0f / 6.0f, 0.5f));
     }},
    {"LeakyRelu",
     [](LocBuilder &b, Value x, float alpha, float) {
       return whereNegative(b, x, mul(b, x, number(b, x, alpha)));
     },
     1, 0.01f},
    {"Mish",
     [](LocBuilder &b, Value x, float, float) -> Value {
       return mul(b, x, math::TanhOp::create(b, softplus(b, x)));
     }},
    {"Reciprocal",
     [](LocBuilder &b, Value x, float, float) -> Value {
       return div(b, number(b, x, 1), x);
     }},
    {"Relu",
     [](LocBuilder &b, Value x, float, float) -> Value {
       return max(b, x, number(b, x, 0));
     }},
    {"Selu",
     [](LocBuilder &b, Value x, float alpha, float gamma) -> Value {
       Value negative = scaledExpm1(b, x, alpha);
       return mul(b, number(b, x, gamma), whereNegative(b, x, negative));
     },
     2, 1.67326319217681884765625f, 1.05070102214813232421875f, "alpha",
     "gamma"},
    {"Shrink", shrink, 2, 0.0f, 0.5f, "bias", "lambd"},
    {"Sigmoid",
     [](LocBuilder &b, Value x, float, float) { return sigmoid(b, x); }},
    {"Sign", [](LocBuilder &b, Value x, float, float) { return sign(b, x); }},
    {"Softplus",
     [](LocBuilder &b, Value x, float, float) { return softplus(b, x); }},
    {"Softsign",
     [](LocBuilder &b, Value x, float, float) -> Value {
       Value size = math::AbsFOp::create(b, x);
       return div(b, x, add(b, number(b, x, 1), size));
     }},
    {"Swish",
     [](LocBuilder &b, Value x, float alpha, float) -> Value {
       Value scaled = alpha == 1.0f ? x : mul(b, x, number(b, x, alpha));
       return mul(b, x, sigmoid(b, scaled));
     },
     1, 1.0f},
    {"ThresholdedRelu",
     [](LocBuilder &b, Value x, float alpha, float) -> Value {
       Value above = compare(b, Order::Less, number(b, x, alpha), x);
       return select(b, above, x, number(b, x, 0));
     },
     1, 1.0f},
};
} // namespace

Value Single::create(LocBuilder &b, ValueRange operands) const {
  OperationState state(b.getLoc(), mlir, operands, operands.front().getType());
  return b.create(state)->getResult(0);
}

const Single *findSingle(StringRef name) {
  static constexpr Single rows[] = {
#define NUMERA_OPERATION(enumerator, name, operands, form, cost, onnx, mlir)   \
  {onnx, StringRef(mlir).empty() ? "numera." #name : mlir},
#include "numera/Numerics/Core/Operations.def"
  };
  const Single *row = llvm::find_if(
      rows, [&](const Single &single) { return single.onnx == name; });
  return row == std::end(rows) ? nullptr : row;
}

/// The rows that have a meaning on integers: of x = -1, 0 or 1 and so on.
static std::optional<Value> onIntegers(StringRef op, LocBuilder &b, Value x,
                                       bool isUnsigned) {
  Value zero = number(b, x, 0);
  if (op == "Abs")
    return isUnsigned ? x : max(b, x, neg(b, x));
  if (op == "Neg")
    return neg(b, x);
  if (op == "Relu")
    return isUnsigned ? x : max(b, x, zero);
  if (op == "Sign")
    return isUnsigned ? min(b, x, number(b, x, 1), true)
                      : min(b, max(b, x, number(b, x, -1)), number(b, x, 1));
  return std::nullopt;
}

LogicalResult importUnary(Node &node) {
  const Tensor &x = node.input(0);
  if (x.isIntegral()) {
    if (node.op() == "Neg" && x.isDynamic())
      return negateIntegers(node);
    if (node.op() == "Shrink")
      return shrinkIntegers(node);
    bool known = true;
    Tensor result =
        node.emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) {
          auto value =
              onIntegers(node.op(), b, args[0], isUnsigned(x.dataType));
          known = value.has_value();
          return value.value_or(args[0]);
        });
    return known ? node.finish(result) : node.checkFloat(0);
  }
  if (const Single *single = findSingle(node.op()))
    return node.finish(
        node.emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) {
          return single->create(b, args);
        }));
  const Unary *unary = llvm::find_if(
      kUnary, [&](const Unary &row) { return row.name == node.op(); });
  if (unary == std::end(kUnary))
    return node.error("this operator has no body");
  float alpha = unary->alpha, beta = unary->beta;
  if (unary->parameters >= 1)
    alpha = node.real(unary->alphaName, alpha);
  if (unary->parameters >= 2)
    beta = node.real(unary->betaName, beta);
  if (node.failed())
    return failure();
  return node.finish(
      node.emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) {
        return unary->body(b, args[0], alpha, beta);
      }));
}

/// 0.5 x (1 + erf(x / sqrt 2)), or the same with tanh.
LogicalResult importGelu(Node &node) {
  std::string approximate = node.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.error("attribute 'approximate' is " + quote(approximate) +
                      "; expected 'none' or 'tanh'");
  const Tensor &x = node.input(0);
  bool isTanh = approximate == "tanh";
  return node.finish(node.emit.map(
      {&x}, x.shape, [&](LocBuilder &b, ValueRange args) -> Value {
        Value x = args[0];
        Value inner;
        if (isTanh) {
          Value cube = mul(b, mul(b, x, x), x);
          Value sum = add(b, x, mul(b, number(b, x, 0.044715), cube));
          Value scaled =
              mul(b, number(b, x, std::sqrt(2 / 3.14159265358979323846)), sum);
          inner = math::TanhOp::create(b, scaled);
        } else {
          inner =
              math::ErfOp::create(b, div(b, x, number(b, x, std::sqrt(2.0))));
        }
        Value half = mul(b, number(b, x, 0.5), x);
        return mul(b, half, add(b, number(b, x, 1), inner));
      }));
}

LogicalResult importNot(Node &node) {
  const Tensor &x = node.input(0);
  if (x.dataType != type::Bool)
    return node.error(node.inputName(0) + " has elements of " +
                      dataTypeName(x.dataType) + "; expected BOOL");
  return node.finish(
      node.emit.map({&x}, x.shape, [](LocBuilder &b, ValueRange args) {
        return negation(b, args[0]);
      }));
}

LogicalResult importBitwiseNot(Node &node) {
  if (failed(node.checkInteger(0)))
    return failure();
  const Tensor &x = node.input(0);
  return node.finish(
      node.emit.map({&x}, x.shape, [](LocBuilder &b, ValueRange args) -> Value {
        return arith::XOrIOp::create(b, args[0], number(b, args[0], -1));
      }));
}

/// IsNaN and IsInf.
LogicalResult importIsSpecial(Node &node) {
  const Tensor &x = node.input(0);
  bool isInf = node.op() == "IsInf";
  bool negative = isInf && node.integer("detect_negative", 1);
  bool positive = isInf && node.integer("detect_positive", 1);
  return node.finish(node.emit.map(
      {&x}, x.shape,
      [&](LocBuilder &b, ValueRange args) -> Value {
        Value x = args[0];
        if (!isInf)
          return isNaN(b, x);
        Value found = constant(b, b.getI1Type(), 0);
        if (positive)
          found = either(b, found,
                         compare(b, Order::Equal, x, number(b, x, INFINITY)));
        if (negative)
          found = either(b, found,
                         compare(b, Order::Equal, x, number(b, x, -INFINITY)));
        return found;
      },
      type::Bool));
}

} // namespace numera::importer
