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
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace numera::importer {

namespace {

/// How a tensor and its scales are read together: the tensor with each block as
/// a dimension, and the dimensions of it that scales run along. Where the last
/// block is not full, the tensor stays, and scales are repeated.
struct Grid {
  Shape shape;
  SmallVector<unsigned, 4> axes;
  int64_t axis = 0;
  int64_t repeats = 1;
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
  int64_t count = block > 0 ? llvm::divideCeil(length.count, block) : 0;
  expected[axis] = Dim::fixed(count);
  if (length.isDynamic() || block < 1 || scale.shape != expected)
    return badScale(node, x, scale,
                    "one for each block of " + std::to_string(block) +
                        " along axis " + std::to_string(axis));
  if (length.count % block != 0) {
    grid.axes = llvm::to_vector<4>(llvm::seq<unsigned>(0, x.rank()));
    grid.axis = axis;
    grid.repeats = block;
    return success();
  }
  grid.shape[axis] = expected[axis];
  grid.shape.insert(grid.shape.begin() + axis + 1, Dim::fixed(block));
  for (unsigned i = 0; i < unsigned(x.rank()); ++i)
    grid.axes.push_back(i + (i > axis));
  return success();
}

/// What quantized numbers are stored as: `output_dtype`, the zero point's type,
/// or, where neither is there, unsigned integers of 8 bits.
static FailureOr<int64_t> storedType(Node &node) {
  int64_t asked = node.integer("output_dtype", 0);
  int64_t found = asked         ? asked
                  : node.has(2) ? node.input(2).dataType
                                : int64_t(type::UInt8);
  bool isByte = found != type::Bool && (isInteger(found) || isNarrow(found)) &&
                widthOf(found) <= 32;
  if (isByte)
    return found;
  return node.error("stores type " + dataTypeName(found) +
                    ", which is not supported; expected an integer or a "
                    "narrower float");
}

/// Quantised numbers are saturated where a cast to fewer than 8 bits is not.
static Value withinRange(LocBuilder &b, Value x, int64_t to) {
  unsigned width = widthOf(to);
  if (width >= 8)
    return x;
  double high = double(int64_t(1) << (width - !isUnsigned(to))) - 1;
  double low = isUnsigned(to) ? 0 : -high - 1;
  return min(b, max(b, x, constant(b, x.getType(), low)),
             constant(b, x.getType(), high));
}

/// Numbers, rounded where they become integers, as what they are stored as:
/// saturated, but for floats of 8 bits on request.
static Tensor stored(Emitter &emit, const Tensor &x, int64_t dataType,
                     bool saturates = true) {
  if (isInteger(dataType))
    return emit.map(
        {&x}, x.shape,
        [&](LocBuilder &b, ValueRange args) {
          return convert(b, withinRange(b, args[0], dataType), type::Float,
                         dataType);
        },
        dataType);
  Value value = emit.value(x);
  auto cast = CastOp::create(emit.b, emit.type(x.shape, dataType), value);
  bool mayOverflow =
      dataType >= type::Float8E4M3FN && dataType <= type::Float8E5M2FNUZ;
  cast.setOverflow(saturates || !mayOverflow ? Overflow::Saturate
                                             : Overflow::Infinity);
  return emit.result(cast.getResult(), x.shape, dataType);
}

/// Each scale as often as its block has elements of the tensor.
static Tensor repeated(Emitter &emit, const Tensor &scale, const Grid &grid) {
  if (grid.repeats == 1 || scale.rank() == 0)
    return scale;
  Shape split = scale.shape, joined = scale.shape;
  split.insert(split.begin() + grid.axis + 1, Dim::fixed(1));
  Tensor columns = emit.reshape(scale, split);
  split[grid.axis + 1] = Dim::fixed(grid.repeats);
  joined[grid.axis].count *= grid.repeats;
  Tensor blocks = emit.reshape(emit.expand(columns, split), joined);
  return emit.slice(blocks, grid.shape, SmallVector<int64_t>(scale.rank(), 0),
                    SmallVector<int64_t>(scale.rank(), 1));
}

static Tensor combine(Node &node, const Tensor &x, const Grid &grid,
                      ArrayRef<const Tensor *> others, Body body) {
  Tensor shaped = node.emit.reshape(x, grid.shape);
  SmallVector<Operand> operands = {
      node.emit.aligned(shaped, unsigned(grid.shape.size()))};
  SmallVector<Tensor> scales =
      llvm::map_to_vector(others, [&](const Tensor *other) -> Tensor {
        return repeated(node.emit, *other, grid);
      });
  for (const Tensor &scale : scales)
    operands.push_back({&scale, grid.axes});
  return node.emit.reshape(node.emit.mapAlong(operands, grid.shape, body),
                           x.shape);
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
  node.ignore("precision");
  bool saturates = node.integer("saturate", 1);
  Tensor x = convertTo(node.emit, node.input(0), type::Float);
  Tensor scale = convertTo(node.emit, node.input(1), type::Float);
  Grid grid;
  FailureOr<int64_t> dataType = storedType(node);
  if (failed(dataType) || failed(findGrid(node, x, scale, grid)) ||
      failed(checkZeroPoint(node, scale)))
    return failure();
  bool rounds = isInteger(*dataType);
  SmallVector<const Tensor *> others = {&scale};
  Tensor zero;
  if (node.has(2)) {
    zero = node.emit.reshape(convertTo(node.emit, node.input(2), type::Float),
                             scale.shape);
    others.push_back(&zero);
  }
  Tensor number = combine(node, x, grid, others,
                          [&](LocBuilder &b, ValueRange args) -> Value {
                            Value result = div(b, args[0], args[1]);
                            if (rounds)
                              result = math::RoundEvenOp::create(b, result);
                            if (args.size() > 2)
                              result = add(b, result, args[2]);
                            return result;
                          });
  return node.finish(stored(node.emit, number, *dataType, saturates));
}

LogicalResult importDequantizeLinear(Node &node) {
  int64_t dataType = node.integer("output_dtype", 0);
  if (dataType == 0)
    dataType = node.input(1).dataType;
  if (isInteger(dataType) || !isNumeric(dataType))
    return node.error("gives type " + dataTypeName(dataType) +
                      "; expected floats");
  Tensor x = convertTo(node.emit, node.input(0), type::Float);
  Tensor scale = convertTo(node.emit, node.input(1), type::Float);
  Grid grid;
  if (failed(findGrid(node, x, scale, grid)) ||
      failed(checkZeroPoint(node, scale)))
    return failure();
  SmallVector<const Tensor *> others = {&scale};
  Tensor zero;
  if (node.has(2)) {
    zero = node.emit.reshape(convertTo(node.emit, node.input(2), type::Float),
                             scale.shape);
    others.push_back(&zero);
  }
  Tensor numbers = combine(node, x, grid, others,
                           [&](LocBuilder &b, ValueRange args) -> Value {
                             Value number = args[0];
                             if (args.size() > 2)
                               number = sub(b, number, args[2]);
                             return mul(b, number, args[1]);
                           });
  return node.finish(convertTo(node.emit, numbers, dataType));
}

/// scale = (max - min) / 255 and zero point = -min / scale, of a range that
/// has 0 in it.
LogicalResult importDynamicQuantizeLinear(Node &node) {
  const Tensor &x = node.input(0);
  Emitter &emit = node.emit;
  SmallVector<bool> all(x.rank(), true);
  TypedAttr nothing = emit.number(0, type::Float);
  Tensor high =
      emit.reduce(x, all, nothing, [](LocBuilder &b, ValueRange args) {
        return max(b, args[0], args[1]);
      });
  Tensor low = emit.reduce(x, all, nothing, [](LocBuilder &b, ValueRange args) {
    return min(b, args[0], args[1]);
  });
  auto number = [](LocBuilder &b, float value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  Tensor scale =
      emit.map({&high, &low}, {}, [&](LocBuilder &b, ValueRange args) -> Value {
        return div(b, sub(b, args[0], args[1]), number(b, 255));
      });
  Tensor zero = emit.map({&low, &scale}, {},
                         [&](LocBuilder &b, ValueRange args) -> Value {
                           Value place = div(b, neg(b, args[0]), args[1]);
                           Value least = max(b, place, number(b, 0));
                           Value most = min(b, least, number(b, 255));
                           return math::RoundEvenOp::create(b, most);
                         });
  Tensor y =
      emit.map({&x, &scale, &zero}, x.shape,
               [](LocBuilder &b, ValueRange args) -> Value {
                 Value quotient = div(b, args[0], args[1]);
                 return add(b, math::RoundEvenOp::create(b, quotient), args[2]);
               });
  if (failed(node.finish(stored(emit, y, type::UInt8))) ||
      failed(node.finish(scale)))
    return failure();
  return node.finish(stored(emit, zero, type::UInt8));
}

} // namespace numera::importer
