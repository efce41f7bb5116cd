//===- Loops.cpp - Loops --------------------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Loops whose conditions are known when the model is imported are imported as
// the nodes that they come to, if these are few. The others are those of scf,
// on tensors whose shapes do not change.
//
//===----------------------------------------------------------------------===//
#include "Loops.h"
#include "Graph.h"
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"
#include <onnx/onnx_pb.h>

using namespace mlir;

namespace numera::importer {

/// Loops of at most as many steps are imported as their steps.
constexpr int64_t kMaxUnrolled = 32;

static SmallVector<OpFoldResult> firstOffsets(LocBuilder &b, int64_t rank,
                                              Value place) {
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
  offsets[0] = place;
  return offsets;
}

/// Slices may not begin in a dimension without elements.
static bool haveElements(ArrayRef<Dim> shape) {
  return llvm::none_of(shape, [](Dim dim) { return dim.count == 0; });
}

/// Part `place` of dimension 0.
static Tensor partOf(Emitter &emit, const Tensor &x, Value place) {
  LocBuilder &b = emit.b;
  Shape kept(ArrayRef(x.shape).drop_front());
  if (!haveElements(kept))
    return emit.result(emit.empty(kept, x.dataType), kept, x.dataType);
  Shape one = x.shape;
  one[0] = Dim::fixed(1);
  SmallVector<OpFoldResult> strides(x.rank(), b.getIndexAttr(1));
  Value source = emit.value(x);
  Value part = tensor::ExtractSliceOp::create(
      b, emit.type(kept, x.dataType), source, firstOffsets(b, x.rank(), place),
      emit.sizes(one), strides);
  return emit.result(part, kept, x.dataType);
}

static LogicalResult checkState(Node &node, const Tensor &before,
                                const Tensor &after) {
  if (before.shape == after.shape && before.dataType == after.dataType)
    return success();
  return node.error("a state of " + dataTypeName(before.dataType) + " " +
                    str(before.shape) + " becomes " +
                    dataTypeName(after.dataType) + " " + str(after.shape) +
                    "; expected the same");
}

std::optional<LoopResults> loop(Node &node, Dim steps, ArrayRef<Tensor> states,
                                ArrayRef<Tensor> sequences, LoopStep step) {
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  for (const Tensor &sequence : sequences)
    (void)emit.value(sequence);
  SmallVector<Value> inits;
  for (const Tensor &state : states)
    inits.push_back(emit.value(state));
  Value zero = index(b, 0), one = index(b, 1);
  Value count = emit.extent(steps);
  auto loop = scf::ForOp::create(b, zero, count, one, inits);
  if (inits.empty() && !loop.getBody()->empty())
    loop.getBody()->getTerminator()->erase();
  SmallVector<Tensor> outputs;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    SmallVector<Tensor> carried, parts;
    for (auto [state, argument] :
         llvm::zip_equal(states, loop.getRegionIterArgs()))
      carried.push_back(emit.result(argument, state.shape, state.dataType));
    for (const Tensor &sequence : sequences)
      parts.push_back(partOf(emit, sequence, i));
    auto after = step(i, carried, parts);
    if (!after)
      return std::nullopt;
    SmallVector<Value> yielded;
    for (auto [k, tensor] : llvm::enumerate(*after)) {
      if (k >= states.size()) {
        (void)emit.value(tensor);
        outputs.push_back(tensor);
        continue;
      }
      if (failed(checkState(node, states[k], tensor)))
        return std::nullopt;
      yielded.push_back(emit.value(tensor));
    }
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, yielded);
  }
  LoopResults results;
  Operation *whole = loop;
  SmallVector<Shape> shapes;
  SmallVector<SmallVector<OpFoldResult>> partSizes;
  if (!outputs.empty()) {
    SmallVector<Value> targets;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(loop);
      for (const Tensor &output : outputs) {
        Shape stacked = output.shape;
        stacked.insert(stacked.begin(), steps);
        shapes.push_back(stacked);
        Shape part = stacked;
        part[0] = Dim::fixed(1);
        partSizes.push_back(emit.sizes(part));
        targets.push_back(emit.empty(stacked, output.dataType));
      }
    }
    IRRewriter rewriter(b);
    auto put = [&](OpBuilder &nested, Location loc,
                   ArrayRef<BlockArgument> into) {
      LocBuilder inner(loc, nested);
      SmallVector<Value> values;
      for (auto [output, shape, sizes, target] :
           llvm::zip_equal(outputs, shapes, partSizes, into)) {
        if (!haveElements(output.shape)) {
          values.push_back(target);
          continue;
        }
        SmallVector<OpFoldResult> strides(shape.size(), b.getIndexAttr(1));
        auto place = cast<scf::ForOp>(target.getOwner()->getParentOp())
                         .getInductionVar();
        values.push_back(tensor::InsertSliceOp::create(
            inner, emit.value(output), target,
            firstOffsets(inner, shape.size(), place), sizes, strides));
      }
      return values;
    };
    auto extended =
        cast<LoopLikeOpInterface>(whole).replaceWithAdditionalYields(
            rewriter, targets, /*replaceInitOperandUsesInLoop=*/false, put);
    if (failed(extended)) {
      (void)node.error("its results cannot be collected");
      return std::nullopt;
    }
    whole = *extended;
    b.setInsertionPointAfter(whole);
  }
  for (auto [k, state] : llvm::enumerate(states))
    results.states.push_back(
        emit.result(whole->getResult(k), state.shape, state.dataType));
  for (auto [k, output] : llvm::enumerate(outputs))
    results.outputs.push_back(emit.result(whole->getResult(states.size() + k),
                                          shapes[k], output.dataType));
  return results;
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

static Tensor scalarOf(int64_t number, int64_t dataType) {
  return Tensor::ofInts({Dim::fixed(number)}, {}, dataType);
}

static std::optional<int64_t> known(const Tensor &tensor) {
  if (!tensor.host || tensor.value || !tensor.isIntegral() ||
      tensor.host->ints.size() != 1 || tensor.isDynamic())
    return std::nullopt;
  return tensor.host->ints[0].count;
}

/// The loop as its steps; nothing where a condition is computed when the model
/// runs, or after an error.
static std::optional<SmallVector<Tensor>> unroll(Node &node,
                                                 const onnx::GraphProto &body,
                                                 int64_t steps,
                                                 SmallVector<Tensor> states) {
  size_t count = states.size();
  SmallVector<SmallVector<Tensor>> outputs(
      std::max<int>(0, body.output_size() - 1 - int(count)));
  for (int64_t i = 0; i < steps; ++i) {
    SmallVector<Tensor> inputs = {scalarOf(i, type::Int64),
                                  scalarOf(1, type::Bool)};
    llvm::append_range(inputs, states);
    auto after = node.graph.importBody(body, inputs);
    if (!after) {
      node.fail();
      return std::nullopt;
    }
    std::optional<int64_t> goesOn = known(after->front());
    if (!goesOn)
      return std::nullopt;
    states.assign(after->begin() + 1, after->begin() + 1 + count);
    for (auto [k, list] : llvm::enumerate(outputs))
      list.push_back((*after)[1 + count + k]);
    if (!*goesOn)
      break;
  }
  for (SmallVector<Tensor> &list : outputs) {
    if (list.empty()) {
      (void)node.error("a loop without a step has outputs");
      return std::nullopt;
    }
    Shape part = list.front().shape, one = part;
    one.insert(one.begin(), Dim::fixed(1));
    SmallVector<const Tensor *> parts;
    for (Tensor &each : list) {
      if (each.shape != part) {
        (void)node.error("its steps put out different shapes");
        return std::nullopt;
      }
      each = node.emit.reshape(each, one);
    }
    for (Tensor &each : list)
      parts.push_back(&each);
    one[0] = Dim::fixed(list.size());
    states.push_back(node.emit.concat(parts, 0, one));
  }
  return states;
}

/// A loop whose condition is computed in it.
static std::optional<SmallVector<Tensor>>
loopWhile(Node &node, const onnx::GraphProto &body, ArrayRef<Tensor> states) {
  Emitter &emit = node.emit;
  LocBuilder &b = emit.b;
  Type i64 = b.getI64Type(), i1 = b.getI1Type();
  auto scalar = [&](unsigned i, Value byDefault) -> Value {
    if (!node.has(i))
      return byDefault;
    return Emitter::at(b, emit.value(emit.reshape(node.input(i), {})), {});
  };
  Value limit = scalar(0, arith::ConstantOp::create(b, greatest(i64, false)));
  Value condition = scalar(1, constant(b, i1, 1));
  SmallVector<Value> inits = {constant(b, i64, 0), condition};
  SmallVector<Type> types = {i64, i1};
  for (const Tensor &state : states) {
    inits.push_back(emit.value(state));
    types.push_back(inits.back().getType());
  }
  auto loop = scf::WhileOp::create(b, types, inits);
  SmallVector<Location> locations(types.size(), b.getLoc());
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value goesOn = both(b, before->getArgument(1),
                      compare(b, Order::Less, before->getArgument(0), limit));
  scf::ConditionOp::create(b, goesOn, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  SmallVector<Tensor> inputs;
  for (unsigned i = 0; i < 2; ++i) {
    Type element = types[i];
    Value boxed = tensor::FromElementsOp::create(
        b, RankedTensorType::get({}, element), after->getArgument(i));
    inputs.push_back(emit.result(
        boxed, {}, i == 0 ? int64_t(type::Int64) : int64_t(type::Bool)));
  }
  for (auto [i, state] : llvm::enumerate(states))
    inputs.push_back(emit.result(after->getArgument(2 + unsigned(i)),
                                 state.shape, state.dataType));
  auto results = node.graph.importBody(body, inputs);
  if (!results) {
    node.fail();
    return std::nullopt;
  }
  if (results->size() != 1 + states.size()) {
    (void)node.error("puts out " + Twine(results->size() - 1 - states.size()) +
                     " sequences whose length is known only when the model "
                     "runs");
    return std::nullopt;
  }
  b.setInsertionPointToEnd(after);
  SmallVector<Value> yielded = {
      add(b, after->getArgument(0), constant(b, i64, 1)),
      Emitter::at(b, emit.value(emit.reshape(results->front(), {})), {})};
  SmallVector<Tensor> finals;
  for (auto [i, state] : llvm::enumerate(states)) {
    const Tensor &next = (*results)[1 + i];
    if (failed(checkState(node, state, next)))
      return std::nullopt;
    yielded.push_back(emit.value(next));
    finals.push_back(emit.result(loop.getResult(2 + unsigned(i)), state.shape,
                                 state.dataType));
  }
  scf::YieldOp::create(b, yielded);
  return finals;
}

/// Whether the body gives back the condition that it was given, or true.
static bool neverStops(const onnx::GraphProto &body) {
  std::string name = body.output(0).name();
  for (bool changed = true; changed;) {
    changed = false;
    for (const onnx::NodeProto &node : body.node())
      if (node.op_type() == "Identity" && node.output(0) == name) {
        name = node.input(0);
        changed = true;
      }
  }
  if (name == body.input(1).name())
    return true;
  for (const onnx::NodeProto &node : body.node())
    if (node.op_type() == "Constant" && node.output(0) == name)
      for (const auto &attribute : node.attribute())
        return attribute.name() == "value" &&
               (attribute.t().raw_data() == std::string(1, '\1') ||
                (attribute.t().int32_data_size() == 1 &&
                 attribute.t().int32_data(0) == 1));
  return false;
}

/// How many steps a loop makes whose body does not stop it, as an index.
static Value stepsOf(Node &node) {
  LocBuilder &b = node.emit.b;
  Value steps = List(node, 0).index(b, 0), zero = index(b, 0);
  if (!node.has(1))
    return max(b, steps, zero);
  Value runs = compare(b, Order::Equal, List(node, 1).index(b, 0), index(b, 1));
  return select(b, runs, max(b, steps, zero), zero);
}

LogicalResult importLoop(Node &node) {
  const onnx::GraphProto *body = node.body("body");
  if (node.failed())
    return failure();
  size_t count = node.numInputs() < 2 ? 0 : node.numInputs() - 2;
  if (!body || body->input_size() != int(count + 2) ||
      body->output_size() < int(count + 1))
    return node.error("the body has other inputs and outputs than the loop");
  SmallVector<Tensor> states;
  for (size_t i = 0; i < count; ++i) {
    if (!node.has(i + 2))
      return node.error("input " + Twine(i + 2) + " is left out");
    states.push_back(node.input(i + 2));
  }
  std::optional<int64_t> steps, condition = 1;
  if (node.has(0))
    steps = known(node.input(0));
  if (node.has(1))
    condition = known(node.input(1));
  // The length of what it puts out says how many steps it makes.
  bool isOpen = (node.has(0) && !steps) || (node.has(1) && !condition);
  if (isOpen && node.has(0) && body->output_size() > int(count + 1) &&
      neverStops(*body)) {
    std::optional<Shape> shape = node.declared(unsigned(count));
    if (shape && !shape->empty() && !shape->front().isDynamic()) {
      steps = shape->front().count;
      requireSize(node, stepsOf(node), shape->front());
      condition = 1;
    }
  }
  std::optional<SmallVector<Tensor>> results;
  if (condition == 0 && body->output_size() == int(count + 1))
    results = states;
  if (!results && condition == 1 && (!node.has(0) || steps)) {
    int64_t most = steps.value_or(kMaxUnrolled + 1);
    bool isFixed = steps && neverStops(*body);
    if (isFixed && most > kMaxUnrolled) {
      auto looped =
          loop(node, Dim::fixed(most), states, {},
               [&](Value i, ArrayRef<Tensor> carried,
                   ArrayRef<Tensor>) -> std::optional<SmallVector<Tensor>> {
                 LocBuilder &b = node.emit.b;
                 Value step = fromIndex(b, i, b.getI64Type());
                 Value boxed = tensor::FromElementsOp::create(
                     b, RankedTensorType::get({}, b.getI64Type()), step);
                 SmallVector<Tensor> inputs = {
                     node.emit.result(boxed, {}, type::Int64),
                     scalarOf(1, type::Bool)};
                 llvm::append_range(inputs, carried);
                 auto after = node.graph.importBody(*body, inputs);
                 if (!after) {
                   node.fail();
                   return std::nullopt;
                 }
                 after->erase(after->begin());
                 return after;
               });
      if (!looped)
        return failure();
      results = looped->states;
      llvm::append_range(*results, looped->outputs);
    } else if (most <= kMaxUnrolled || !steps) {
      results = unroll(node, *body, most, states);
    }
  }
  if (node.failed())
    return failure();
  if (!results)
    results = loopWhile(node, *body, states);
  if (!results)
    return failure();
  for (const Tensor &tensor : *results)
    if (failed(node.finish(tensor)))
      return failure();
  return success();
}

} // namespace numera::importer
