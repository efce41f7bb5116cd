//===- NonMaxSuppression.cpp - Boxes that overlap no better one -----------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Boxes are visited by their scores, in all batches and classes at once: a loop
// of as many steps as there are boxes. Each step keeps its box or not, and
// marks what overlaps it. How many boxes are kept is what the model declares.
//
//===----------------------------------------------------------------------===//
#include "Loops.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

namespace {
/// The low and high corners of boxes and their areas, for each batch.
struct Boxes {
  Value lowY, lowX, highY, highX, area;
};
} // namespace

static std::optional<Boxes> readBoxes(Node &node, bool isCentered) {
  const Tensor &boxes = node.input(0);
  Tensor two =
      boxes.isDouble() ? Tensor::ofDoubles({2}, {}) : Tensor::ofFloats({2}, {});
  std::string text = "a, b, c, d = Split<axis = -1>(boxes, [1, 1, 1, 1])\n";
  if (isCentered)
    text += "w = Div(c, two)\nh = Div(d, two)\nx1 = Sub(a, w)\nx2 = Add(a, w)\n"
            "y1 = Sub(b, h)\ny2 = Add(b, h)\n";
  else
    text += "y1 = Min(a, c)\ny2 = Max(a, c)\nx1 = Min(b, d)\nx2 = Max(b, d)\n";
  text += "dx = Sub(x2, x1)\ndy = Sub(y2, y1)\nproduct = Mul(dx, dy)\n";
  SmallVector<StringRef> names = {"y1", "x1", "y2", "x2", "product"};
  auto found = node.compute(text, {{"boxes", &boxes}, {"two", &two}}, names);
  if (!found)
    return std::nullopt;
  auto flat = llvm::map_to_vector(*found, [&](const Tensor &tensor) {
    return node.emit.value(
        node.emit.reshape(tensor, {boxes.shape[0], boxes.shape[1]}));
  });
  return Boxes{flat[0], flat[1], flat[2], flat[3], flat[4]};
}

/// Whether the intersection of boxes i and j of a batch is more than `limit` of
/// their union. Boxes without an area have none.
static Value overlap(LocBuilder &b, const Boxes &boxes, Value batch, Value i,
                     Value j, Value limit) {
  auto each = [&](Value tensor, Value box) {
    return Emitter::at(b, tensor, {batch, box});
  };
  auto length = [&](Value low, Value high) {
    return sub(b, min(b, each(high, i), each(high, j)),
               max(b, each(low, i), each(low, j)));
  };
  Value width = length(boxes.lowX, boxes.highX);
  Value height = length(boxes.lowY, boxes.highY);
  Value zero = constant(b, width.getType(), 0);
  auto isPositive = [&](Value x) { return compare(b, Order::Less, zero, x); };
  Value common = mul(b, width, height);
  Value first = each(boxes.area, i), second = each(boxes.area, j);
  Value all = sub(b, add(b, first, second), common);
  Value isMore = compare(b, Order::Less, limit, div(b, common, all));
  for (Value size : {width, height, common, first, second, all})
    isMore = both(b, isMore, isPositive(size));
  return isMore;
}

/// Where the loop keeps a box, by batch, class and place in the order of
/// scores: flags behind each other.
static std::optional<Tensor> keptBoxes(Node &node, const Boxes &boxes,
                                       const Tensor &values,
                                       const Tensor &order) {
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  const Shape &all = order.shape;
  Shape classes(ArrayRef(all).drop_back());
  int64_t element = values.dataType;
  auto scalar = [&](unsigned i) {
    return Emitter::at(b, emit.value(emit.reshape(node.input(i), {})), {});
  };
  Value most = scalar(2);
  Value limit = node.has(3) ? scalar(3) : constant(b, emit.element(element), 0);
  Value least = node.has(4) ? scalar(4) : Value();
  auto zeros = [&](const Shape &shape, int64_t dataType) {
    return emit.result(emit.filled(shape, emit.number(0, dataType)), shape,
                       dataType);
  };
  SmallVector<Tensor> states = {zeros(all, type::Bool),
                                zeros(classes, type::Int64)};
  SmallVector<Tensor> sequences = {emit.transpose(order, {2, 0, 1}),
                                   emit.transpose(values, {2, 0, 1})};
  auto results = loop(
      node, all[2], states, sequences,
      [&](Value, ArrayRef<Tensor> carried,
          ArrayRef<Tensor> parts) -> std::optional<SmallVector<Tensor>> {
        Value gone = carried[0].value;
        Value box = parts[0].value;
        Tensor kept = emit.map(
            {&parts[0], &parts[1], &carried[1]}, classes,
            [&](LocBuilder &b, ValueRange args) {
              Value batch = linalg::IndexOp::create(b, 0);
              Value which = linalg::IndexOp::create(b, 1);
              Value isGone =
                  Emitter::at(b, gone, {batch, which, toIndex(b, args[0])});
              Value isKept = both(b, negation(b, isGone),
                                  compare(b, Order::Less, args[2], most));
              return least ? both(b, isKept,
                                  compare(b, Order::Less, least, args[1]))
                           : isKept;
            },
            type::Bool);
        Tensor count = emit.map(
            {&carried[1], &kept}, classes, [](LocBuilder &b, ValueRange args) {
              Type i64 = args[0].getType();
              return add(b, args[0], arith::ExtUIOp::create(b, i64, args[1]));
            });
        Tensor after =
            emit.map({&carried[0]}, all, [&](LocBuilder &b, ValueRange args) {
              Value batch = linalg::IndexOp::create(b, 0);
              Value which = linalg::IndexOp::create(b, 1);
              Value other = linalg::IndexOp::create(b, 2);
              Value isKept = Emitter::at(b, kept.value, {batch, which});
              Value here = toIndex(b, Emitter::at(b, box, {batch, which}));
              Value overlaps = overlap(b, boxes, batch, here, other, limit);
              return either(b, args[0], both(b, isKept, overlaps));
            });
        return SmallVector<Tensor>{after, count, kept};
      });
  if (!results)
    return std::nullopt;
  return emit.reshape(emit.transpose(results->outputs[0], {1, 2, 0}),
                      {product(all)});
}

static LogicalResult checkInputs(Node &node) {
  for (unsigned i : {0, 1, 3, 4}) {
    if (!node.has(i))
      continue;
    if (failed(node.checkFloat(i)))
      return failure();
    if (node.input(i).dataType != node.input(0).dataType)
      return node.error(node.inputName(i) + " has elements of " +
                        dataTypeName(node.input(i).dataType) + "; expected " +
                        dataTypeName(node.input(0).dataType));
  }
  for (unsigned i : {2, 3, 4})
    if (node.has(i) && elementCount(node.input(i).shape) != 1)
      return node.error(node.inputName(i) + " has shape " +
                        str(node.input(i).shape) + "; expected a scalar");
  if (node.has(2) && node.input(2).dataType != type::Int64)
    return node.error(node.inputName(2) + " has elements of " +
                      dataTypeName(node.input(2).dataType) +
                      "; expected INT64");
  if (failed(node.checkRank(0, 3)) || failed(node.checkRank(1, 3)))
    return failure();
  const Shape &boxes = node.input(0).shape, &scores = node.input(1).shape;
  if (!boxes[2].is(4) || scores[0] != boxes[0] || scores[2] != boxes[1])
    return node.error("boxes of " + str(boxes) + " with scores of " +
                      str(scores) +
                      "; expected batches x boxes x 4 and batches x classes x "
                      "boxes");
  for (const Shape &shape : {boxes, scores})
    if (llvm::any_of(shape, [](Dim dim) { return dim.isDynamic(); }))
      return node.error("of an open batch, in " + str(shape) +
                        "; expected fixed sizes");
  return success();
}

LogicalResult importNonMaxSuppression(Node &node) {
  int64_t format = node.integer("center_point_box", 0);
  if (node.failed() || failed(checkInputs(node)))
    return failure();
  if (format != 0 && format != 1)
    return node.error("attribute 'center_point_box' is " + Twine(format) +
                      "; expected 0 or 1");
  std::optional<int64_t> count = declaredSize(node, 0, 0);
  if (node.failed())
    return failure();
  Emitter &emit = node.emit;
  Shape shape = {Dim::fixed(count.value_or(0)), Dim::fixed(3)};
  const Tensor &scores = node.input(1);
  if (!node.has(2) || scores.isEmpty()) {
    if (count.value_or(0) != 0)
      return node.error("selects no box, and the model declares " +
                        Twine(*count));
    return node.finish(
        emit.result(emit.empty(shape, type::Int64), shape, type::Int64));
  }
  std::optional<Boxes> boxes = readBoxes(node, format == 1);
  if (!boxes)
    return failure();
  int64_t size = scores.shape[2].count, classes = scores.shape[1].count;
  auto sorted = node.compute("values, order = TopK(scores, [" +
                                 std::to_string(size) + "])\n",
                             {{"scores", &scores}}, {"values", "order"});
  if (!sorted)
    return failure();
  auto flags = keptBoxes(node, *boxes, (*sorted)[0], (*sorted)[1]);
  if (!flags)
    return failure();
  Tensor places = placesOf(node, *flags, count);
  shape[0] = places.shape[0];
  Value found = emit.value(places);
  Value order = emit.value(emit.reshape((*sorted)[1], {product(scores.shape)}));
  return node.finish(emit.generate(
      shape, type::Int64, [&](LocBuilder &b, ValueRange at) -> Value {
        Type i64 = b.getI64Type();
        Value place = toIndex(b, Emitter::at(b, found, at[0]));
        Value row = arith::DivUIOp::create(b, place, index(b, size));
        Value batch = arith::DivUIOp::create(b, row, index(b, classes));
        Value which = arith::RemUIOp::create(b, row, index(b, classes));
        Value box = Emitter::at(b, order, place);
        Value isFirst = compare(b, Order::Equal, at[1], index(b, 0));
        Value isSecond = compare(b, Order::Equal, at[1], index(b, 1));
        return select(b, isFirst, fromIndex(b, batch, i64),
                      select(b, isSecond, fromIndex(b, which, i64), box));
      }));
}

} // namespace numera::importer
