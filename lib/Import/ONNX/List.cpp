//===- List.cpp - Numbers of an input, known or computed ------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Scalar.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

List::List(Node &node, unsigned i) : node(&node), input(i) {
  if (!node.has(i) || node.input(i).isEmpty())
    return;
  const Tensor &x = node.input(i);
  if (x.rank() > 1 ||
      llvm::any_of(x.shape, [](Dim dim) { return dim.isDynamic(); })) {
    (void)node.error(node.inputName(i) + " has shape " + str(x.shape) +
                     "; expected a list");
    return;
  }
  count = x.rank() == 0 ? 1 : x.shape[0].count;
  isScalar = x.rank() == 0;
  dataType = x.dataType;
  if (!x.host || x.isDynamic()) {
    known.reset();
    Tensor wide = widen(node.emit, x);
    dataType = wide.dataType;
    values = node.emit.value(wide);
    return;
  }
  for (int64_t k = 0; k < count; ++k)
    known->push_back(x.isIntegral() ? double(x.host->ints[k].count)
                                    : x.number(k));
}

List List::of(const std::optional<SmallVector<float>> &numbers) {
  List list;
  if (numbers)
    list.known->assign(numbers->begin(), numbers->end());
  list.count = int64_t(list.known->size());
  return list;
}

std::optional<SmallVector<double>> List::numbers() const {
  if (!known)
    (void)node->error(node->inputName(input) +
                      " is computed when the model runs, and the model does "
                      "not declare the shape of the result");
  return known;
}

Value List::element(LocBuilder &b, int64_t i) const {
  if (isScalar)
    return Emitter::at(b, values, {});
  return Emitter::at(b, values, importer::index(b, i));
}

Value List::index(LocBuilder &b, int64_t i) const {
  if (known)
    return importer::index(b, int64_t((*known)[i]));
  return toIndex(b, convert(b, element(b, i), dataType, type::Int64));
}

Value List::real(LocBuilder &b, int64_t i) const {
  if (known)
    return constant(b, b.getF64Type(), (*known)[i]);
  return convert(b, element(b, i), dataType, type::Double);
}

void require(Node &node, Value condition, const Twine &message) {
  LocBuilder &b = node.emit.b;
  cf::AssertOp::create(
      b, condition,
      b.getStringAttr(
          (node.op() + " of '" + node.name() + "' " + message).str()));
}

void requireSize(Node &node, Value size, Dim wanted) {
  LocBuilder &b = node.emit.b;
  if (wanted.isDynamic())
    return require(node, compare(b, Order::Equal, size, node.emit.size(wanted)),
                   "finds another size than that of the inputs");
  require(node, compare(b, Order::Equal, size, index(b, wanted.count)),
          "finds another size than the " + Twine(wanted.count) +
              " that the model declares");
}

LogicalResult requireSizes(Node &node, unsigned i, ArrayRef<Dim> wanted) {
  if (node.input(i).host)
    return success();
  List list(node, i);
  if (node.failed())
    return failure();
  if (list.size() != int64_t(wanted.size()))
    return node.error(Twine(list.size()) + " sizes in " + node.inputName(i) +
                      "; the model declares " + str(wanted));
  for (auto [k, size] : llvm::enumerate(wanted))
    requireSize(node, list.index(node.emit.b, int64_t(k)), size);
  return success();
}

Tensor areAxes(Node &node, unsigned i, ArrayRef<bool> marked) {
  Emitter &emit = node.emit;
  const Tensor &axes = node.input(i);
  int64_t rank = marked.size();
  Value list = emit.value(axes);
  // A bit for each axis.
  int64_t wanted = 0;
  for (auto [k, isMarked] : llvm::enumerate(marked))
    wanted |= int64_t(isMarked) << k;
  Type i64 = emit.b.getI64Type();
  Tensor bits = emit.generateReduced(
      {}, {axes.shape.empty() ? 1 : axes.shape[0].count},
      emit.b.getI64IntegerAttr(0), type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        Value axis =
            Emitter::at(b, list, at.take_front(axes.rank() == 0 ? 0 : 1));
        axis = convert(b, axis, axes.dataType, type::Int64);
        Value size = constant(b, i64, double(rank));
        Value place =
            select(b, compare(b, Order::Less, axis, constant(b, i64, 0)),
                   add(b, axis, size), axis);
        Value within = clampIndex(b, place, size);
        Value bit = arith::ShLIOp::create(b, constant(b, i64, 1), within);
        // One that is out of range is none of them.
        bit = select(b, compare(b, Order::Equal, place, within), bit,
                     constant(b, i64, -1));
        return arith::OrIOp::create(b, at.back(), bit);
      });
  return emit.map(
      {&bits}, {},
      [&](LocBuilder &b, ValueRange args) {
        return compare(b, Order::Equal, args[0],
                       constant(b, i64, double(wanted)));
      },
      type::Bool);
}

LogicalResult requireAxes(Node &node, unsigned i, int64_t rank,
                          function_ref<bool(ArrayRef<bool>)> fits) {
  const Tensor &axes = node.input(i);
  if (axes.rank() > 1 || rank > 8)
    return failure(!node.constants(i));
  int64_t count = axes.rank() == 0 ? 1 : axes.shape[0].count;
  std::optional<Tensor> isAny;
  for (unsigned mask = 0; mask < 1u << rank; ++mask) {
    SmallVector<bool> marked;
    for (int64_t k = 0; k < rank; ++k)
      marked.push_back(mask >> k & 1);
    if (llvm::popcount(mask) != count || !fits(marked))
      continue;
    Tensor isOne = areAxes(node, i, marked);
    isAny = !isAny ? isOne
                   : node.emit.map({&*isAny, &isOne}, {},
                                   [](LocBuilder &b, ValueRange args) {
                                     return either(b, args[0], args[1]);
                                   });
  }
  if (!isAny)
    return node.error("no " + Twine(count) +
                      " axes give the shape that the model declares");
  require(node, Emitter::at(node.emit.b, node.emit.value(*isAny), {}),
          "takes axes that do not give the shape that the model declares");
  return success();
}

} // namespace numera::importer
