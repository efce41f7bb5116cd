//===- Signal.cpp - Windows and mel weights -------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Computed in f64 when the program runs, since the sizes may be computed too,
// and rounded once.
//
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace numera::importer {

/// The type of the result, by its attribute; 0 after an error.
static int64_t resultType(Node &node) {
  int64_t dataType = node.integer("output_datatype", type::Float);
  if (node.failed())
    return 0;
  if (isNumeric(dataType))
    return dataType;
  (void)node.error("gives type " + dataTypeName(dataType) +
                   "; expected a type of real numbers");
  return 0;
}

/// One scalar of the inputs, known or not.
static LogicalResult readScalar(Node &node, unsigned i, List &scalar) {
  scalar = List(node, i);
  if (node.failed())
    return failure();
  if (scalar.size() != 1)
    return node.error(node.inputName(i) + " has shape " +
                      str(node.input(i).shape) + "; expected a scalar");
  return success();
}

/// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n)
LogicalResult importWindow(Node &node) {
  bool isPeriodic = node.integer("periodic", 1);
  int64_t dataType = resultType(node);
  List length;
  if (dataType == 0 || failed(node.checkInteger(0)) ||
      failed(readScalar(node, 0, length)))
    return failure();
  double a0 = 0.5, a1 = 0.5, a2 = 0;
  if (node.op() == "BlackmanWindow")
    a0 = 0.42, a2 = 0.08;
  if (node.op() == "HammingWindow")
    a0 = 25.0 / 46, a1 = 1 - 25.0 / 46;
  int64_t size = 0;
  if (length.isKnown()) {
    size = int64_t(length.numbers()->front());
  } else {
    std::optional<Shape> declared = node.declared(0);
    if (!declared || declared->size() != 1 || declared->front().isDynamic())
      return failure(!length.numbers());
    size = declared->front().count;
    requireSize(node, length.index(node.emit.b, 0), declared->front());
  }
  if (size < 0)
    return node.error("a window of " + Twine(size) + " elements");
  Shape shape = fixedShape({size});
  if (failed(node.checkSize(shape)))
    return failure();
  constexpr double turn = 0x1.921fb54442d18p+2;
  double steps = double(isPeriodic ? size : size - 1);
  Tensor window = node.emit.generate(
      shape, type::Double, [&](LocBuilder &b, ValueRange at) -> Value {
        Value i = fromIndex(b, at[0], b.getF64Type());
        Value angle = div(b, mul(b, i, real(b, turn)), real(b, steps));
        Value cosine = math::CosOp::create(b, angle);
        Value sum = sub(b, real(b, a0), mul(b, real(b, a1), cosine));
        if (a2 == 0)
          return sum;
        Value twice = math::CosOp::create(b, mul(b, angle, real(b, 2)));
        return add(b, sum, mul(b, real(b, a2), twice));
      });
  return node.finish(convertTo(node.emit, window, dataType));
}

/// Triangles between places that are equally far apart in mel.
LogicalResult importMelWeightMatrix(Node &node) {
  int64_t dataType = resultType(node);
  List bins, length, rate, low, high;
  if (dataType == 0 || failed(readScalar(node, 0, bins)) ||
      failed(readScalar(node, 1, length)) ||
      failed(readScalar(node, 2, rate)) || failed(readScalar(node, 3, low)) ||
      failed(readScalar(node, 4, high)))
    return failure();
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  std::optional<Shape> shape = node.declared(0);
  if (bins.isKnown() && length.isKnown())
    shape = fixedShape({int64_t(length.numbers()->front()) / 2 + 1,
                        int64_t(bins.numbers()->front())});
  else if (!shape || shape->size() != 2)
    return failure(!bins.numbers() || !length.numbers());
  if (failed(node.checkSize(*shape)))
    return failure();
  requireSize(node, bins.index(b, 0), (*shape)[1]);
  requireSize(node,
              add(b, div(b, length.index(b, 0), index(b, 2)), index(b, 1)),
              (*shape)[0]);
  constexpr double ln10 = 0x1.26bb1bbb55516p+1;
  auto mel = [&](const List &hertz) {
    Value ratio = div(b, hertz.real(b, 0), real(b, 700));
    Value log = math::Log1pOp::create(b, ratio);
    return div(b, mul(b, real(b, 2595), log), real(b, ln10));
  };
  Value first = mel(low);
  Value step =
      div(b, sub(b, mel(high), first), real(b, double((*shape)[1].count + 2)));
  Value scale = add(b, length.real(b, 0), real(b, 1)), hertz = rate.real(b, 0);
  Type i64 = b.getI64Type();
  Tensor edges = emit.generate(
      fixedShape({(*shape)[1].count + 2}), type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        Value place =
            add(b, mul(b, fromIndex(b, at[0], b.getF64Type()), step), first);
        Value exponent = mul(b, div(b, place, real(b, 2595)), real(b, ln10));
        Value power = math::ExpM1Op::create(b, exponent);
        Value bin = div(b, mul(b, scale, mul(b, real(b, 700), power)), hertz);
        return convert(b, math::FloorOp::create(b, bin), type::Double,
                       type::Int64);
      });
  Value table = emit.value(edges);
  Tensor weights =
      emit.generate(*shape, type::Double, [&](LocBuilder &b, ValueRange at) {
        auto edge = [&](int64_t behind) {
          return Emitter::at(b, table, add(b, at[1], index(b, behind)));
        };
        Value left = edge(0), centre = edge(1), right = edge(2);
        Value place = fromIndex(b, at[0], i64), zero = real(b, 0);
        auto share = [&](Value part, Value whole) {
          return div(b, convert(b, part, type::Int64, type::Double),
                     convert(b, whole, type::Int64, type::Double));
        };
        Value rises = both(b, compare(b, Order::LessOrEqual, left, place),
                           compare(b, Order::LessOrEqual, place, centre));
        Value isSteep = compare(b, Order::Equal, left, centre);
        Value up = select(b, isSteep, real(b, 1),
                          share(sub(b, place, left), sub(b, centre, left)));
        Value falls = both(b, compare(b, Order::LessOrEqual, centre, place),
                           compare(b, Order::Less, place, right));
        Value down = share(sub(b, right, place), sub(b, right, centre));
        return select(b, falls, down, select(b, rises, up, zero));
      });
  return node.finish(convertTo(emit, weights, dataType));
}

} // namespace numera::importer
