//===- GridSample.cpp - GridSample ----------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// For each dimension of the image, the places that the grid names become
// tensors of first neighbours (integers) and of weights, which all channels
// read. The neighbours are then added up, the last dimension first. Indices are
// padded as integers, so that none is out of range whatever the grid holds.
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

/// Beyond this, an element has too many neighbours.
constexpr int64_t kMaxSampled = 3;

namespace {
/// A dimension of the image: its size, the first neighbour of each place, and
/// the weights of the first and of those behind it.
struct Sampled {
  int64_t size;
  Tensor first;
  SmallVector<Tensor, 4> weights;
  Value firstValue;
  SmallVector<Value, 4> weightValues;
};

/// An index within the image, and whether it was there before.
struct Neighbour {
  Value index, isInside;
};

struct Sampling {
  Node &node;
  Emitter &emit;
  std::string mode, padding;
  bool aligns = false;
  Shape places;
  SmallVector<Sampled, 3> dims;

  LogicalResult read();
  Value place(LocBuilder &b, Value x, int64_t size) const;
  Value reflect(LocBuilder &b, Value x, double low, double high) const;
  Value weight(LocBuilder &b, Value x, unsigned tap) const;
  Sampled sample(unsigned dim) const;
  Neighbour neighbour(LocBuilder &b, Value index, int64_t size) const;
  Tensor result() const;
  unsigned taps() const {
    return mode == "nearest" ? 1 : mode == "linear" ? 2 : 4;
  }
};
} // namespace

LogicalResult Sampling::read() {
  const Tensor &x = node.input(0), &grid = node.input(1);
  mode = node.text("mode", node.opset < 20 ? "bilinear" : "linear");
  padding = node.text("padding_mode", "zeros");
  aligns = node.integer("align_corners", 0) != 0;
  if (node.failed())
    return failure();
  // As operator sets before 20 call them.
  if (mode == "bilinear" || mode == "bicubic")
    mode = mode.substr(2);
  if (!llvm::is_contained({"nearest", "linear", "cubic"}, StringRef(mode)))
    return node.error("attribute 'mode' is " + quote(mode) +
                      "; expected nearest, linear or cubic");
  if (!llvm::is_contained({"zeros", "border", "reflection"},
                          StringRef(padding)))
    return node.error("attribute 'padding_mode' is " + quote(padding) +
                      "; expected zeros, border or reflection");
  int64_t rank = x.rank() - 2;
  if (rank < 1 || rank > kMaxSampled)
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected batch, channels and one to three spatial "
                      "dimensions");
  for (Dim dim : ArrayRef(x.shape).drop_front(2))
    if (dim.isDynamic() || dim.count < 1)
      return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                        "; expected spatial dimensions of fixed sizes, at "
                        "least 1");
  if (failed(node.checkRank(1, x.rank())))
    return failure();
  if (grid.shape[0] != x.shape[0] || !grid.shape.back().is(rank))
    return node.error(node.inputName(1) + " has shape " + str(grid.shape) +
                      " for an image of " + str(x.shape) + "; expected " +
                      str({x.shape[0]}) + " in front and " + Twine(rank) +
                      (rank == 1 ? " coordinate" : " coordinates") +
                      " at the end");
  if (grid.dataType != x.dataType)
    return node.error(node.inputName(1) + " has elements of " +
                      dataTypeName(grid.dataType) + "; expected " +
                      dataTypeName(x.dataType));
  places = Shape(ArrayRef(grid.shape).drop_back());
  return node.checkSize(places);
}

static Value number(LocBuilder &b, Value like, double number) {
  return constant(b, like.getType(), number);
}

/// What lies beyond an end, turned back at each of both as often as it takes.
Value Sampling::reflect(LocBuilder &b, Value x, double low, double high) const {
  Value first = number(b, x, low), last = number(b, x, high);
  Value range = number(b, x, high - low);
  Value isLow = compare(b, Order::Less, x, first);
  Value isHigh = compare(b, Order::Less, last, x);
  Value beyond = select(b, isLow, sub(b, first, x), sub(b, x, last));
  Value turns = math::TruncOp::create(b, div(b, beyond, range));
  Value rest = sub(b, beyond, mul(b, turns, range));
  Value count = convert(b, turns, node.input(1).dataType, type::Int64);
  Value one = constant(b, count.getType(), 1);
  Value isOdd =
      compare(b, Order::Equal, arith::AndIOp::create(b, count, one), one);
  // From the first end after an even number of turns from below, or an odd one
  // from above.
  Value fromFirst = arith::XOrIOp::create(b, isLow, isOdd);
  Value turned = select(b, fromFirst, add(b, first, rest), sub(b, last, rest));
  return select(b, either(b, isLow, isHigh), turned, x);
}

/// The place that a coordinate names, which is an element's or between two.
Value Sampling::place(LocBuilder &b, Value x, int64_t size) const {
  Value one = number(b, x, 1), two = number(b, x, 2);
  double length = double(size), low = aligns ? 0 : -0.5;
  double high = length - 1 - low;
  x = add(b, x, one);
  x = aligns ? mul(b, div(b, x, two), number(b, x, length - 1))
             : div(b, sub(b, mul(b, x, number(b, x, length)), one), two);
  if (mode == "nearest")
    return math::RoundEvenOp::create(b, x);
  if (padding == "reflection" && high > low)
    return reflect(b, x, low, high);
  // Of four neighbours each is moved, as PyTorch and onnxruntime have it.
  if (padding != "border" || mode == "cubic")
    return x;
  Value isOutside = either(b, compare(b, Order::Less, x, number(b, x, low)),
                           compare(b, Order::Less, number(b, x, high), x));
  Value nearest = min(b, max(b, x, number(b, x, 0)), number(b, x, length - 1));
  return select(b, isOutside, nearest, x);
}

/// The weight of a neighbour of place x.
Value Sampling::weight(LocBuilder &b, Value x, unsigned tap) const {
  Value one = number(b, x, 1);
  Value t = sub(b, x, math::FloorOp::create(b, x));
  if (mode == "linear")
    return tap == 0 ? sub(b, one, t) : t;
  Value distance = tap == 0   ? add(b, t, one)
                   : tap == 1 ? t
                   : tap == 2 ? sub(b, one, t)
                              : sub(b, number(b, x, 2), t);
  auto times = [&](Value y) { return mul(b, y, distance); };
  auto plus = [&](Value y, double n) { return add(b, y, number(b, x, n)); };
  auto minus = [&](Value y, double n) { return sub(b, y, number(b, x, n)); };
  // Keys' kernel with a = -0.75.
  if (tap == 1 || tap == 2)
    return plus(times(times(minus(times(number(b, x, 1.25)), 2.25))), 1);
  Value inner = plus(times(number(b, x, -0.75)), 3.75);
  return plus(times(minus(times(inner), 6)), 3);
}

Sampled Sampling::sample(unsigned dim) const {
  const Tensor &grid = node.input(1);
  // The grid names the last dimension first.
  SmallVector<int64_t> starts(grid.rank(), 0), steps(grid.rank(), 1);
  starts.back() = int64_t(grid.rank()) - 3 - dim;
  Shape column = grid.shape;
  column.back() = Dim::fixed(1);
  Tensor coordinates =
      emit.reshape(emit.slice(grid, column, starts, steps), places);
  Sampled sampled;
  sampled.size = node.input(0).shape[2 + dim].count;
  Tensor place =
      emit.map({&coordinates}, places, [&](LocBuilder &b, ValueRange args) {
        return this->place(b, args[0], sampled.size);
      });
  sampled.first = emit.map(
      {&place}, places,
      [&](LocBuilder &b, ValueRange args) -> Value {
        return convert(b, math::FloorOp::create(b, args[0]), place.dataType,
                       type::Int64);
      },
      type::Int64);
  sampled.firstValue = emit.value(sampled.first);
  for (unsigned tap = 0; taps() > 1 && tap < taps(); ++tap) {
    sampled.weights.push_back(
        emit.map({&place}, places, [&](LocBuilder &b, ValueRange args) {
          return weight(b, args[0], tap);
        }));
    sampled.weightValues.push_back(emit.value(sampled.weights.back()));
  }
  return sampled;
}

Neighbour Sampling::neighbour(LocBuilder &b, Value i, int64_t size) const {
  Value zero = index(b, 0), last = index(b, size - 1);
  if (padding != "reflection") {
    Value isInside = both(b, compare(b, Order::LessOrEqual, zero, i),
                          compare(b, Order::LessOrEqual, i, last));
    return {clampIndex(b, i, index(b, size)), isInside};
  }
  if (size == 1)
    return {zero, Value()};
  // The image and its mirror image, which share their ends if these are
  // aligned.
  int64_t period = 2 * (aligns ? size - 1 : size);
  Value length = index(b, period);
  Value rest = rem(b, i, length);
  rest = select(b, compare(b, Order::Less, rest, zero), add(b, rest, length),
                rest);
  Value mirrored = sub(b, index(b, aligns ? period : period - 1), rest);
  return {select(b, compare(b, Order::LessOrEqual, rest, last), rest, mirrored),
          Value()};
}

Tensor Sampling::result() const {
  const Tensor &image = node.input(0);
  Value source = emit.value(image);
  Shape shape = {image.shape[0], image.shape[1]};
  shape.append(places.begin() + 1, places.end());
  return emit.generate(
      shape, image.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        SmallVector<Value> where = {at[0]};
        llvm::append_range(where, at.drop_front(2));
        SmallVector<SmallVector<Neighbour, 4>> neighbours;
        SmallVector<SmallVector<Value, 4>> weights;
        for (const Sampled &dim : dims) {
          Value first = toIndex(b, Emitter::at(b, dim.firstValue, where));
          if (mode == "cubic")
            first = sub(b, first, index(b, 1));
          neighbours.emplace_back();
          for (unsigned tap = 0; tap < taps(); ++tap)
            neighbours.back().push_back(neighbour(
                b, tap == 0 ? first : add(b, first, index(b, tap)), dim.size));
          weights.emplace_back();
          for (Value weight : dim.weightValues)
            weights.back().push_back(Emitter::at(b, weight, where));
        }
        SmallVector<Value> from(at.take_front(2));
        // The element at the neighbours chosen so far and, in further
        // dimensions, the sum over all.
        auto sum = [&](auto &self, unsigned dim, Value isInside) -> Value {
          if (dim == dims.size()) {
            Value element = Emitter::at(b, source, from);
            return padding == "zeros"
                       ? select(b, isInside, element, number(b, element, 0))
                       : element;
          }
          Value total;
          for (unsigned tap = 0; tap < taps(); ++tap) {
            Neighbour next = neighbours[dim][tap];
            from.push_back(next.index);
            Value part = self(self, dim + 1,
                              isInside && next.isInside
                                  ? both(b, isInside, next.isInside)
                                  : next.isInside);
            from.pop_back();
            if (mode == "nearest")
              return part;
            part = mul(b, weights[dim][tap], part);
            total = total ? add(b, total, part) : part;
          }
          return total;
        };
        return sum(sum, 0, Value());
      });
}

LogicalResult importGridSample(Node &node) {
  Sampling sampling{node, node.emit, {}, {}, false, {}, {}};
  if (failed(sampling.read()))
    return failure();
  Shape shape = {node.input(0).shape[0], node.input(0).shape[1]};
  shape.append(sampling.places.begin() + 1, sampling.places.end());
  if (failed(node.checkSize(shape)))
    return failure();
  for (unsigned dim = 0; dim + 2 < node.input(0).shape.size(); ++dim)
    sampling.dims.push_back(sampling.sample(dim));
  return node.finish(sampling.result());
}

} // namespace numera::importer
