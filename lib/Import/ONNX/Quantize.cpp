//===- Quantize.cpp - QuantizeLinear and DequantizeLinear -----------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Numbers become x / scale + zero point, rounded to the nearest integer, or to
// a narrower float, and saturated; and (y - zero point) · scale again. There is
// one scale for a tensor, for each index of an axis, or for each block along
// it.
//
//===----------------------------------------------------------------------===//
#include "Formats.h"
#include "Operators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/ADT/STLExtras.h"
#include <onnx/onnx_pb.h>

using namespace mlir;

namespace numera::importer {

namespace {

/// How a tensor and its scales are read together: the tensor with each block as
/// a dimension, and the dimensions of it that scales run along.
struct Grid {
  Shape shape;
  SmallVector<unsigned, 4> axes;
};

} // namespace

static LogicalResult badScale(Node &node, const Tensor &x, const Tensor &scale,
                              StringRef expected) {
  return node.error("the scale has shape " + str(scale.shape) +
                    " for a tensor of shape " + str(x.shape) + "; expected " +
                    expected);
}

static LogicalResult findGrid(Node &node, const Tensor &x, const Tensor &scale,
                              Grid &grid) {
  int64_t block = node.integer("block_size", 0);
  int64_t axis = node.integer("axis", 1);
  grid.shape = x.shape;
  bool isSingle = scale.rank() == 0 ||
                  (scale.rank() == 1 && scale.shape[0].is(1) && block == 0);
  if (isSingle) {
    if (scale.rank() == 1)
      grid.axes.push_back(0);
    return x.rank() == 0 && scale.rank() == 1
               ? badScale(node, x, scale, "a scalar")
               : success();
  }
  axis = node.axis(axis, x.rank());
  if (node.failed())
    return failure();
  if (block == 0) {
    grid.axes.push_back(unsigned(axis));
    return scale.rank() == 1 && scale.shape[0] == x.shape[axis]
               ? success()
               : badScale(node, x, scale,
                          "a scalar, or one for each index of the axis");
  }
  Dim length = x.shape[axis];
  Shape expected = x.shape;
  expected[axis] = Dim::fixed(block > 0 ? length.count / block : 0);
  if (length.batched || block < 1 || length.count % block != 0 ||
      scale.shape != expected)
    return badScale(node, x, scale,
                    "one for each block of " + std::to_string(block) +
                        " along axis " + std::to_string(axis) +
                        ", which they fill");
  grid.shape[axis] = expected[axis];
  grid.shape.insert(grid.shape.begin() + axis + 1, Dim::fixed(block));
  for (unsigned i = 0; i < unsigned(x.rank()); ++i)
    grid.axes.push_back(i + (i > axis));
  return success();
}

/// A tensor of integers or of a narrow format as one of f32.
static Tensor inF32(Node &node, const Tensor &tensor) {
  if (tensor.integral && tensor.host) {
    std::vector<float> floats;
    for (Dim dim : tensor.host->ints)
      floats.push_back(float(dim.count));
    return Tensor::ofFloats(std::move(floats), tensor.shape);
  }
  if (!tensor.format)
    return tensor;
  Emitter &emit = node.emit;
  Value wide =
      CastOp::create(emit.b, emit.type(tensor.shape), emit.value(tensor));
  return emit.result(wide, tensor.shape);
}

/// What quantized numbers are stored as: `output_dtype`, the zero point's type,
/// or, where neither is there, unsigned integers of 8 bits.
static FailureOr<Type> elementOf(Node &node) {
  int64_t asked = node.integer("output_dtype", 0);
  int64_t type = asked ? asked : int64_t(onnx::TensorProto::UINT8);
  MLIRContext *context = node.emit.b.getContext();
  if (node.has(2)) {
    const Tensor &zero = node.input(2);
    if (zero.format)
      return zero.format;
    type = zero.dataType ? zero.dataType : type;
  }
  if (Type element = formatElement(context, type))
    return element;
  return node.error("stores type " + dataTypeName(type) +
                    ", which is not supported; expected an integer of 4, 8 or "
                    "16 bits or a float of 4 or 8");
}

static Tensor combine(Node &node, const Tensor &x, const Grid &grid,
                      ArrayRef<const Tensor *> others, Body body) {
  Tensor shaped = node.emit.reshape(x, grid.shape);
  SmallVector<Operand> operands = {
      node.emit.aligned(shaped, unsigned(grid.shape.size()))};
  for (const Tensor *other : others)
    operands.push_back({other, grid.axes});
  return node.emit.reshape(node.emit.mapAlong(operands, grid.shape, body),
                           x.shape);
}

static bool isInteger(Type element) {
  const Format &format = cast<NumType>(element).getFormat();
  return format.getFamily().range(format).leastExponent == 0;
}

static LogicalResult checkZeroPoint(Node &node, const Tensor &scale) {
  if (node.has(2) && node.input(2).shape != scale.shape &&
      elementCount(node.input(2).shape) != 1)
    return node.error("the zero point has shape " + str(node.input(2).shape) +
                      ", the scale " + str(scale.shape) +
                      "; expected the same");
  return success();
}

LogicalResult importQuantizeLinear(Node &node) {
  node.ignore("saturate");
  node.ignore("precision");
  const Tensor &x = node.input(0);
  Tensor scale = inF32(node, node.input(1));
  Grid grid;
  FailureOr<Type> element = elementOf(node);
  if (failed(element) || failed(findGrid(node, x, scale, grid)) ||
      failed(checkZeroPoint(node, scale)))
    return failure();
  bool rounds = isInteger(*element);
  SmallVector<const Tensor *> others = {&scale};
  Tensor zero;
  if (node.has(2)) {
    zero = node.emit.reshape(inF32(node, node.input(2)), scale.shape);
    others.push_back(&zero);
  }
  Tensor number = combine(
      node, x, grid, others, [&](LocBuilder &b, ValueRange args) -> Value {
        Value result = arith::DivFOp::create(b, args[0], args[1]);
        if (rounds)
          result = math::RoundEvenOp::create(b, result);
        if (args.size() > 2)
          result = arith::AddFOp::create(b, result, args[2]);
        return result;
      });
  Emitter &emit = node.emit;
  auto cast = CastOp::create(emit.b, emit.type(x.shape).clone(*element),
                             emit.value(number));
  cast.setOverflow(Overflow::Saturate);
  Tensor result = emit.result(cast.getResult(), x.shape);
  result.format = *element;
  return node.finish(result);
}

LogicalResult importDequantizeLinear(Node &node) {
  node.ignore("output_dtype");
  const Tensor &x = node.input(0);
  Tensor scale = inF32(node, node.input(1));
  Grid grid;
  if (failed(findGrid(node, x, scale, grid)) ||
      failed(checkZeroPoint(node, scale)))
    return failure();
  SmallVector<const Tensor *> others = {&scale};
  Tensor zero;
  if (node.has(2)) {
    zero = node.emit.reshape(inF32(node, node.input(2)), scale.shape);
    others.push_back(&zero);
  }
  Tensor wide = inF32(node, x);
  return node.finish(combine(
      node, wide, grid, others, [&](LocBuilder &b, ValueRange args) -> Value {
        Value number = args[0];
        if (args.size() > 2)
          number = arith::SubFOp::create(b, number, args[2]);
        return arith::MulFOp::create(b, number, args[1]);
      }));
}

/// scale = (max - min) / 255 and zero point = -min / scale, of a range that
/// has 0 in it.
LogicalResult importDynamicQuantizeLinear(Node &node) {
  const Tensor &x = node.input(0);
  Emitter &emit = node.emit;
  SmallVector<bool> all(x.rank(), true);
  Tensor high =
      emit.reduce(x, all, 0.0f, [](LocBuilder &b, ValueRange args) -> Value {
        return arith::MaximumFOp::create(b, args[0], args[1]);
      });
  Tensor low =
      emit.reduce(x, all, 0.0f, [](LocBuilder &b, ValueRange args) -> Value {
        return arith::MinimumFOp::create(b, args[0], args[1]);
      });
  auto number = [](LocBuilder &b, float value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  Tensor scale =
      emit.map({&high, &low}, {}, [&](LocBuilder &b, ValueRange args) -> Value {
        Value range = arith::SubFOp::create(b, args[0], args[1]);
        return arith::DivFOp::create(b, range, number(b, 255));
      });
  Tensor zero = emit.map(
      {&low, &scale}, {}, [&](LocBuilder &b, ValueRange args) -> Value {
        Value place = arith::DivFOp::create(
            b, arith::NegFOp::create(b, args[0]), args[1]);
        Value least = arith::MaximumFOp::create(b, place, number(b, 0));
        Value most = arith::MinimumFOp::create(b, least, number(b, 255));
        return math::RoundEvenOp::create(b, most);
      });
  Tensor y = emit.map({&x, &scale, &zero}, x.shape,
                      [](LocBuilder &b, ValueRange args) -> Value {
                        Value quotient =
                            arith::DivFOp::create(b, args[0], args[1]);
                        return arith::AddFOp::create(
                            b, math::RoundEvenOp::create(b, quotient), args[2]);
                      });
  Type element = formatElement(emit.b.getContext(), onnx::TensorProto::UINT8);
  auto stored = [&](const Tensor &tensor) {
    auto cast = CastOp::create(emit.b, emit.type(tensor.shape).clone(element),
                               emit.value(tensor));
    Tensor result = emit.result(cast.getResult(), tensor.shape);
    result.format = element;
    return result;
  };
  if (failed(node.finish(stored(y))) || failed(node.finish(scale)))
    return failure();
  return node.finish(stored(zero));
}

} // namespace numera::importer
