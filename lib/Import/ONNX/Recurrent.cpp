//===- Recurrent.cpp - LSTM, GRU and RNN ----------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// The input is multiplied with its weights for all steps at once; a loop over
// the steps adds what comes of the state. Each direction is a loop. One that
// runs backwards reads a reversed sequence, and its results are reversed again.
//
//===----------------------------------------------------------------------===//
#include "Cells.h"
#include "Loops.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

namespace {
class Recurrence {
public:
  explicit Recurrence(Node &node) : node(node), emit(node.emit) {}

  LogicalResult import();

private:
  /// The inputs by their place.
  enum Input : unsigned { X, W, R, B, Lengths, InitialH, InitialC, P };

  LogicalResult readAttributes();
  LogicalResult checkShapes();
  LogicalResult checkShape(unsigned i, const Shape &expected);
  LogicalResult readLengths();
  /// Input i of a direction, without the dimension for it.
  Tensor part(unsigned i, unsigned direction);
  Tensor initial(unsigned i, unsigned direction);
  std::optional<LoopResults> run(unsigned direction);
  std::optional<Tensor> projected(const Tensor &steps, unsigned direction);
  /// The steps of each sequence from its end to its start.
  Tensor reversed(const Tensor &steps);
  SmallVector<Tensor> whereRunning(Value step, ArrayRef<Tensor> before,
                                   ArrayRef<Tensor> after);
  LogicalResult finish(ArrayRef<LoopResults> results);

  Node &node;
  Emitter &emit;
  Cell cell;
  int64_t directions = 1;
  bool startsBackwards = false;
  bool batchFirst = false;
  SmallVector<Activation> activations;
  /// The input with the steps first.
  Tensor input;
  /// The lengths of the sequences, from 0 to the number of steps, where they
  /// are not all of them.
  std::optional<Tensor> lengths;
};
} // namespace

LogicalResult Recurrence::readAttributes() {
  cell.op = node.op();
  std::string direction = node.text("direction", "forward");
  int64_t layout = node.integer("layout", 0);
  cell.hidden = node.integer("hidden_size", 0);
  cell.isCoupled = cell.op == "LSTM" && node.integer("input_forget", 0);
  cell.isLinearBeforeReset =
      cell.op == "GRU" && node.integer("linear_before_reset", 0);
  if (node.hasAttribute("clip"))
    cell.clip = node.real("clip", 0.0f);
  if (node.opset < 7)
    node.ignore("output_sequence"); // Y is left out where it is not wanted
  if (node.failed())
    return failure();
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional")
    return node.error("attribute 'direction' is " + quote(direction) +
                      "; expected forward, reverse or bidirectional");
  directions = direction == "bidirectional" ? 2 : 1;
  startsBackwards = direction == "reverse";
  if (layout != 0 && layout != 1)
    return node.error("attribute 'layout' is " + Twine(layout) +
                      "; expected 0 or 1");
  batchFirst = layout == 1;
  if (node.hasAttribute("hidden_size") &&
      (cell.hidden < 1 || cell.hidden > kMaxElements))
    return node.error("attribute 'hidden_size' is " + Twine(cell.hidden) +
                      "; expected 1 to 2^40");
  if (cell.clip && !(*cell.clip > 0))
    return node.error("attribute 'clip' is " + std::to_string(*cell.clip) +
                      "; expected a number above 0");
  if (cell.clip && *cell.clip == INFINITY)
    cell.clip.reset();
  auto read = readActivations(node, directions);
  if (!read)
    return failure();
  activations = *read;
  return success();
}

LogicalResult Recurrence::checkShape(unsigned i, const Shape &expected) {
  if (!node.has(i) || node.input(i).shape == expected)
    return success();
  return node.error(node.inputName(i) + " has shape " +
                    str(node.input(i).shape) + "; expected " + str(expected));
}

LogicalResult Recurrence::checkShapes() {
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i) || i == Lengths)
      continue;
    if (failed(node.checkFloat(i)))
      return failure();
    if (node.input(i).dataType != node.input(X).dataType)
      return node.error(node.inputName(i) + " has elements of " +
                        dataTypeName(node.input(i).dataType) + ", " +
                        node.inputName(X) + " of " +
                        dataTypeName(node.input(X).dataType) +
                        "; expected the same");
  }
  if (failed(node.checkRank(X, 3)) || failed(node.checkRank(R, 3)))
    return failure();
  if (cell.hidden == 0)
    cell.hidden = node.input(R).shape[2].count;
  if (cell.hidden < 1)
    return node.error(node.inputName(R) + " has shape " +
                      str(node.input(R).shape) +
                      "; expected a hidden size of 1 or more");
  input = node.input(X);
  Dim batch = input.shape[batchFirst ? 0 : 1];
  if (input.isEmpty())
    return node.error(node.inputName(X) + " has shape " + str(input.shape) +
                      "; expected 1 step, sequence and number or more");
  int64_t gates = gatesOf(cell.op);
  Dim all = Dim::fixed(directions), hidden = Dim::fixed(cell.hidden);
  Dim rows = Dim::fixed(gates * cell.hidden);
  Shape state =
      batchFirst ? Shape{batch, all, hidden} : Shape{all, batch, hidden};
  if (failed(checkShape(W, {all, rows, input.shape[2]})) ||
      failed(checkShape(R, {all, rows, hidden})) ||
      failed(checkShape(B, {all, Dim::fixed(2 * rows.count)})) ||
      failed(checkShape(Lengths, {batch})) ||
      failed(checkShape(InitialH, state)) ||
      failed(checkShape(InitialC, state)) ||
      failed(checkShape(P, {all, Dim::fixed(3 * cell.hidden)})))
    return failure();
  cell.element = input.dataType;
  cell.hasBias = node.has(B);
  cell.hasPeepholes = node.has(P);
  if (batchFirst)
    input = emit.transpose(input, {1, 0, 2});
  return success();
}

LogicalResult Recurrence::readLengths() {
  if (!node.has(Lengths))
    return success();
  const Tensor &given = node.input(Lengths);
  Dim steps = input.shape[0];
  if (given.dataType != type::Int32)
    return node.error(node.inputName(Lengths) + " has elements of " +
                      dataTypeName(given.dataType) + "; expected INT32");
  if (given.host && !given.isDynamic() && !steps.isDynamic()) {
    for (Dim length : given.host->ints)
      if (length.count < 0 || length.count > steps.count)
        return node.error(node.inputName(Lengths) + " has " +
                          Twine(length.count) + "; expected 0 to " +
                          Twine(steps.count) + " steps");
    if (llvm::all_of(given.host->ints,
                     [&](Dim length) { return length == steps; }))
      return success();
  }
  // Those of a run are not checked but kept within the sequence.
  Value most = emit.extent(steps);
  lengths = emit.map(
      {&given}, given.shape,
      [&](LocBuilder &b, ValueRange args) -> Value {
        Value limit = steps.isDynamic()
                          ? fromIndex(b, most, args[0].getType())
                          : constant(b, args[0].getType(), steps.count);
        return min(b, max(b, args[0], constant(b, args[0].getType(), 0)),
                   limit);
      },
      given.dataType);
  lengths->value = emit.value(*lengths);
  return success();
}

Tensor Recurrence::part(unsigned i, unsigned direction) {
  bool isState = i == InitialH || i == InitialC;
  const Tensor &x = node.input(i);
  unsigned axis = isState && batchFirst ? 1 : 0;
  Shape shape = x.shape;
  SmallVector<int64_t> starts(x.rank(), 0), strides(x.rank(), 1);
  shape[axis] = Dim::fixed(1);
  starts[axis] = direction;
  Tensor one = emit.slice(x, shape, starts, strides);
  shape.erase(shape.begin() + axis);
  return emit.reshape(one, shape);
}

Tensor Recurrence::initial(unsigned i, unsigned direction) {
  if (node.has(i))
    return part(i, direction);
  Shape shape = {input.shape[1], Dim::fixed(cell.hidden)};
  return emit.result(emit.filled(shape, emit.number(0, cell.element)), shape,
                     cell.element);
}

/// X · Wᵀ for all steps, as one product of matrices.
std::optional<Tensor> Recurrence::projected(const Tensor &steps,
                                            unsigned direction) {
  Tensor turned = emit.transpose(part(W, direction), {1, 0});
  // One of both may be open.
  Dim rows = product({steps.shape[0], steps.shape[1]});
  auto found =
      matmul(node, emit.reshape(steps, {rows, steps.shape[2]}), turned);
  if (!found)
    return std::nullopt;
  return emit.reshape(*found,
                      {steps.shape[0], steps.shape[1], turned.shape[1]});
}

Tensor Recurrence::reversed(const Tensor &steps) {
  Dim size = steps.shape[0];
  if (!lengths && !size.isDynamic()) {
    SmallVector<int64_t> starts(steps.rank(), 0), strides(steps.rank(), 1);
    starts[0] = size.count - 1;
    strides[0] = -1;
    return emit.slice(steps, steps.shape, starts, strides);
  }
  Value source = emit.value(steps);
  Value most = emit.extent(size);
  return emit.generate(
      steps.shape, steps.dataType, [&](LocBuilder &b, ValueRange at) -> Value {
        Value count =
            lengths ? toIndex(b, Emitter::at(b, lengths->value, at[1])) : most;
        Value mirrored = sub(b, sub(b, count, index(b, 1)), at[0]);
        SmallVector<Value> from(at);
        // What lies behind a sequence's end stays there.
        from[0] =
            select(b, compare(b, Order::Less, at[0], count), mirrored, at[0]);
        return Emitter::at(b, source, from);
      });
}

/// The states after a step, and what it puts out: behind a sequence's end the
/// states before it, and 0.
SmallVector<Tensor> Recurrence::whereRunning(Value step,
                                             ArrayRef<Tensor> before,
                                             ArrayRef<Tensor> after) {
  auto chosen = [&](const Tensor &yes, const Tensor *no) {
    SmallVector<const Tensor *> both = {&yes};
    if (no)
      both.push_back(no);
    return emit.map(both, yes.shape, [&](LocBuilder &b, ValueRange args) {
      Value sequence = linalg::IndexOp::create(b, 0);
      Value length = toIndex(b, Emitter::at(b, lengths->value, sequence));
      return select(b, compare(b, Order::Less, step, length), args[0],
                    no ? args[1] : constant(b, args[0].getType(), 0));
    });
  };
  SmallVector<Tensor> results;
  for (auto [old, fresh] : llvm::zip_equal(before, after))
    results.push_back(chosen(fresh, &old));
  results.push_back(chosen(after[0], nullptr));
  return results;
}

std::optional<LoopResults> Recurrence::run(unsigned direction) {
  bool isBackwards = startsBackwards || direction == 1;
  unsigned functions = activations.size() / directions;
  cell.activations.assign(activations.begin() + direction * functions,
                          activations.begin() + (direction + 1) * functions);
  auto x = projected(isBackwards ? reversed(input) : input, direction);
  if (!x)
    return std::nullopt;
  SmallVector<Tensor> states = {initial(InitialH, direction)};
  if (cell.op == "LSTM")
    states.push_back(initial(InitialC, direction));

  Step step = stepOf(cell);
  Tensor weights = emit.transpose(part(R, direction), {1, 0});
  SmallVector<Tensor> biases;
  if (cell.hasBias) {
    Tensor both = part(B, direction);
    int64_t half = both.shape[0].count / 2;
    for (int64_t start : {int64_t(0), half})
      biases.push_back(emit.slice(both, {Dim::fixed(half)}, {start}, {1}));
  }
  std::optional<Tensor> peepholes;
  if (cell.hasPeepholes)
    peepholes = part(P, direction);
  bool putsOut = node.hasOutput(0);
  auto results =
      loop(node, x->shape[0], states, {*x},
           [&](Value i, ArrayRef<Tensor> carried,
               ArrayRef<Tensor> parts) -> std::optional<SmallVector<Tensor>> {
             SmallVector<std::pair<StringRef, const Tensor *>> given = {
                 {"x", &parts[0]}, {"h", &carried[0]}, {"r", &weights}};
             if (carried.size() > 1)
               given.emplace_back("c", &carried[1]);
             if (!biases.empty()) {
               given.emplace_back("wb", &biases[0]);
               given.emplace_back("rb", &biases[1]);
             }
             if (peepholes)
               given.emplace_back("p", &*peepholes);
             for (const auto &[name, number] : step.constants)
               given.emplace_back(name, &number);
             auto after = node.compute(
                 step.text, given, llvm::to_vector_of<StringRef>(step.states));
             if (!after)
               return std::nullopt;
             if (lengths)
               *after = whereRunning(i, carried, *after);
             else
               after->push_back(after->front());
             if (!putsOut)
               after->pop_back();
             return after;
           });
  if (results && putsOut && isBackwards)
    results->outputs[0] = reversed(results->outputs[0]);
  return results;
}

/// Tensors of the directions beside each other, along a new dimension.
static Tensor joined(Emitter &emit, SmallVector<Tensor> parts, unsigned axis) {
  SmallVector<const Tensor *> list;
  for (Tensor &tensor : parts) {
    Shape shape = tensor.shape;
    shape.insert(shape.begin() + axis, Dim::fixed(1));
    tensor = emit.reshape(tensor, shape);
    list.push_back(&tensor);
  }
  if (parts.size() == 1)
    return parts.front();
  Shape shape = parts.front().shape;
  shape[axis] = Dim::fixed(int64_t(parts.size()));
  return emit.concat(list, axis, shape);
}

LogicalResult Recurrence::finish(ArrayRef<LoopResults> results) {
  auto state = [&](unsigned which) {
    SmallVector<Tensor> parts;
    for (const LoopResults &one : results)
      parts.push_back(one.states[which]);
    return joined(emit, parts, batchFirst ? 1 : 0);
  };
  // What nobody reads has a place in the list, too.
  Tensor y = results.front().states[0];
  if (node.hasOutput(0)) {
    SmallVector<Tensor> parts;
    for (const LoopResults &one : results)
      parts.push_back(one.outputs[0]);
    y = joined(emit, parts, 1);
    if (batchFirst)
      y = emit.transpose(y, {2, 0, 1, 3});
  }
  if (failed(node.finish(y)) || failed(node.finish(state(0))))
    return failure();
  return cell.op == "LSTM" ? node.finish(state(1)) : success();
}

LogicalResult Recurrence::import() {
  if (failed(readAttributes()) || failed(checkShapes()) ||
      failed(readLengths()))
    return failure();
  SmallVector<LoopResults, 2> results;
  for (unsigned direction = 0; direction < directions; ++direction) {
    auto one = run(direction);
    if (!one)
      return failure();
    results.push_back(*one);
  }
  return finish(results);
}

LogicalResult importRecurrent(Node &node) { return Recurrence(node).import(); }

} // namespace numera::importer
