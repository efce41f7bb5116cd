//===- Elementwise.cpp - Operators that map scalars -----------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Each operator is one linalg.generic. An operator without a single operation
// is a sequence of operations, each rounded (docs/Semantics/Elementary.md).
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

static Value number(LocBuilder &b, float constant) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(constant));
}

/// x < 0 ? negative : x
static Value whereNegative(LocBuilder &b, Value x, Value negative) {
  Value isNegative =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, number(b, 0.0f));
  return arith::SelectOp::create(b, isNegative, negative, x);
}

/// max(0, min(1, alpha x + beta))
static Value hardSigmoid(LocBuilder &b, Value x, float alpha, float beta) {
  Value scaled = arith::MulFOp::create(b, x, number(b, alpha));
  Value line = arith::AddFOp::create(b, scaled, number(b, beta));
  Value below = arith::MinimumFOp::create(b, line, number(b, 1.0f));
  return arith::MaximumFOp::create(b, below, number(b, 0.0f));
}

static Value sigmoid(LocBuilder &b, Value x) {
  Value power = math::ExpOp::create(b, arith::NegFOp::create(b, x).getResult());
  Value sum = arith::AddFOp::create(b, power, number(b, 1.0f));
  return arith::DivFOp::create(b, number(b, 1.0f), sum);
}

/// x < 0 ? alpha (exp(x) - 1) : x
static Value elu(LocBuilder &b, Value x, float alpha) {
  Value power = math::ExpOp::create(b, x);
  Value less = arith::SubFOp::create(b, power, number(b, 1.0f));
  return whereNegative(b, x, arith::MulFOp::create(b, less, number(b, alpha)));
}

namespace {
/// An operator that is one operation, by its name in MLIR, or in the dialect if
/// MLIR has none.
struct Single {
  StringRef onnx, mlir;
  Value create(LocBuilder &b, ValueRange operands) const {
    OperationState state(b.getLoc(), mlir, operands,
                         operands.front().getType());
    return b.create(state)->getResult(0);
  }
};
} // namespace

static const Single *findSingle(StringRef name) {
  static constexpr Single rows[] = {
#define NUMERA_OPERATION(enumerator, name, operands, form, cost, onnx, mlir)   \
  {onnx, StringRef(mlir).empty() ? "numera." #name : mlir},
#include "numera/Numerics/Core/Operations.def"
  };
  const Single *row = llvm::find_if(
      rows, [&](const Single &single) { return single.onnx == name; });
  return row == std::end(rows) ? nullptr : row;
}

namespace {
/// An operator of one input that is several operations. `parameters` says how
/// many of alpha and beta are attributes of it; they have the defaults given
/// here.
struct Unary {
  StringRef name;
  Value (*body)(LocBuilder &, Value, float alpha, float beta);
  unsigned parameters = 0;
  float alpha = 0.0f;
  float beta = 0.0f;
};

const Unary kUnary[] = {
    {"Elu",
     [](LocBuilder &b, Value x, float alpha, float) {
       return elu(b, x, alpha);
     },
     1, 1.0f},
    {"HardSigmoid", hardSigmoid, 2, 0.2f, 0.5f},
    {"HardSwish",
     [](LocBuilder &b, Value x, float, float) -> Value {
       Value gate = hardSigmoid(b, x, 1.0f / 6.0f, 0.5f);
       return arith::MulFOp::create(b, x, gate);
     }},
    {"LeakyRelu",
     [](LocBuilder &b, Value x, float alpha, float) {
       return whereNegative(b, x,
                            arith::MulFOp::create(b, x, number(b, alpha)));
     },
     1, 0.01f},
    {"Reciprocal",
     [](LocBuilder &b, Value x, float, float) -> Value {
       return arith::DivFOp::create(b, number(b, 1.0f), x);
     }},
    {"Relu",
     [](LocBuilder &b, Value x, float, float) -> Value {
       return arith::MaximumFOp::create(b, x, number(b, 0.0f));
     }},
    {"Sigmoid",
     [](LocBuilder &b, Value x, float, float) { return sigmoid(b, x); }},
};
} // namespace

LogicalResult importUnary(Node &node) {
  if (const Single *single = findSingle(node.op())) {
    const Tensor &x = node.input(0);
    return node.finish(
        node.emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) {
          return single->create(b, args);
        }));
  }
  const Unary *unary = llvm::find_if(
      kUnary, [&](const Unary &row) { return row.name == node.op(); });
  if (unary == std::end(kUnary))
    return node.error("this operator has no body");
  float alpha = unary->alpha, beta = unary->beta;
  if (unary->parameters >= 1)
    alpha = node.real("alpha", alpha);
  if (unary->parameters >= 2)
    beta = node.real("beta", beta);
  if (node.failed())
    return failure();
  const Tensor &x = node.input(0);
  return node.finish(
      node.emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) {
        return unary->body(b, args[0], alpha, beta);
      }));
}

LogicalResult importNeg(Node &node) {
  if (node.input(0).integral && node.input(0).host)
    return negateIntegers(node);
  return failed(node.checkFloat(0)) ? failure() : importUnary(node);
}

/// The result's shape, or nothing after an error.
static std::optional<Shape> broadcastAll(Node &node) {
  Shape shape = node.input(0).shape;
  for (unsigned i = 1; i < node.numInputs(); ++i) {
    std::optional<Shape> wider = broadcast(shape, node.input(i).shape);
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

static Value binary(StringRef op, LocBuilder &b, Value lhs, Value rhs) {
  if (op == "PRelu")
    return whereNegative(b, lhs, arith::MulFOp::create(b, lhs, rhs));
  return findSingle(op == "Sum" ? "Add" : op)->create(b, {lhs, rhs});
}

/// Integer exponents that are known become f32; others are not supported.
static Tensor floatExponent(const Tensor &exponent) {
  if (!exponent.integral || !exponent.host)
    return exponent;
  std::vector<float> floats;
  for (Dim dim : exponent.host->ints)
    floats.push_back(dim.count);
  return Tensor::ofFloats(std::move(floats), exponent.shape);
}

/// x to the power 2 is x times x, which is the same value, rounded once.
static LogicalResult importPow(Node &node, const Shape &shape) {
  const Tensor &x = node.input(0);
  Tensor exponent = floatExponent(node.input(1));
  if (exponent.integral)
    return node.error(node.inputName(1) +
                      " has integer elements that are not constants");
  if (exponent.scalar() == 2.0f)
    return node.finish(
        node.emit.map({&x}, shape, [](LocBuilder &b, ValueRange args) -> Value {
          return arith::MulFOp::create(b, args[0], args[0]);
        }));
  return node.finish(node.emit.map(
      {&x, &exponent}, shape, [](LocBuilder &b, ValueRange args) -> Value {
        return math::PowFOp::create(b, args[0], args[1]);
      }));
}

LogicalResult importBinary(Node &node) {
  if (node.input(0).integral && node.input(1).integral)
    return foldIntegers(node);
  if (failed(node.checkFloat(0)) ||
      (node.op() != "Pow" && failed(node.checkFloat(1))))
    return failure();
  std::optional<Shape> shape = broadcastAll(node);
  if (!shape)
    return failure();
  if (node.op() == "Pow")
    return importPow(node, *shape);
  if (node.op() == "PRelu" && *shape != node.input(0).shape)
    return node.error("slope of shape " + str(node.input(1).shape) +
                      " does not broadcast to " + str(node.input(0).shape));
  return node.finish(node.emit.map({&node.input(0), &node.input(1)}, *shape,
                                   [&](LocBuilder &b, ValueRange args) {
                                     return binary(node.op(), b, args[0],
                                                   args[1]);
                                   }));
}

LogicalResult importVariadic(Node &node) {
  std::optional<Shape> shape = broadcastAll(node);
  if (!shape)
    return failure();
  return node.finish(
      node.emit.map(node.inputs, *shape, [&](LocBuilder &b, ValueRange args) {
        Value result = args[0];
        for (Value next : args.drop_front())
          result = binary(node.op(), b, result, next);
        return result;
      }));
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
      failed(readBound(node, "max", 2, high)))
    return failure();
  const Tensor &x = node.input(0);
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
          clipped = arith::MaximumFOp::create(b, clipped, args[1]);
        if (high)
          clipped = arith::MinimumFOp::create(b, clipped, args.back());
        return clipped;
      }));
}

} // namespace numera::importer
