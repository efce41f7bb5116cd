//===- Recurrent.cpp - RNN, GRU and LSTM ----------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// The products of the input with its weights are those of the whole sequence;
// a loop over time adds the products of the state. Each direction is a loop.
//
//===----------------------------------------------------------------------===//
#include "Loops.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace numera::importer {

namespace {
/// One direction, and what the node says of all.
struct Recurrence {
  Node &node;
  int64_t gates = 1;
  int64_t hidden = 0;
  int64_t directions = 1;
  bool batchFirst = false;
  bool coupled = false;
  bool linearBeforeReset = false;
  float clip = 0;
  SmallVector<std::string> activations;
  SmallVector<float> alphas, betas;

  LogicalResult read();
  LogicalResult run();

private:
  std::optional<std::string> activate(StringRef to, StringRef from,
                                      unsigned which);
  std::optional<std::string> step(unsigned direction);
  std::optional<LoopResults> runDirection(const Tensor &x, unsigned direction,
                                          bool reversed);
  std::optional<Tensor> part(unsigned input, unsigned direction);
};
} // namespace

static std::string digitsOf(double number) {
  return llvm::formatv("{0:e9}", number).str();
}

/// The text of activation `which` of the node.
std::optional<std::string> Recurrence::activate(StringRef to, StringRef from,
                                                unsigned which) {
  std::string name = StringRef(activations[which]).lower();
  auto given = [&](ArrayRef<float> list, float byDefault) {
    return digitsOf(which < list.size() ? list[which] : byDefault);
  };
  auto unary = [&](StringRef op, StringRef attributes) {
    return (to + " = " + op + attributes + "(" + from + ")\n").str();
  };
  for (StringRef op : {"Relu", "Tanh", "Sigmoid", "Softsign", "Softplus"})
    if (name == op.lower())
      return unary(op, "");
  if (name == "affine")
    return (to + "_a = Mul(" + from + ", " + given(alphas, 1) + ")\n" + to +
            " = Add(" + to + "_a, " + given(betas, 0) + ")\n")
        .str();
  if (name == "scaledtanh")
    return (to + "_a = Mul(" + from + ", " + given(betas, 1) + ")\n" + to +
            "_b = Tanh(" + to + "_a)\n" + to + " = Mul(" + to + "_b, " +
            given(alphas, 1) + ")\n")
        .str();
  if (name == "leakyrelu")
    return unary("LeakyRelu", "<alpha = " + given(alphas, 0.01f) + ">");
  if (name == "thresholdedrelu")
    return unary("ThresholdedRelu", "<alpha = " + given(alphas, 1) + ">");
  if (name == "elu")
    return unary("Elu", "<alpha = " + given(alphas, 1) + ">");
  if (name == "hardsigmoid")
    return unary("HardSigmoid", "<alpha = " + given(alphas, 0.2f) +
                                    ", beta = " + given(betas, 0.5f) + ">");
  (void)node.error("the activation " + quote(activations[which]) +
                   " is not known");
  return std::nullopt;
}

LogicalResult Recurrence::read() {
  StringRef op = node.op();
  gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  hidden = node.integer("hidden_size", 0);
  batchFirst = node.integer("layout", 0);
  clip = node.real("clip", 0.0f);
  coupled = op == "LSTM" && node.integer("input_forget", 0);
  linearBeforeReset = op == "GRU" && node.integer("linear_before_reset", 0);
  std::string direction = node.text("direction", "forward");
  activations = node.texts("activations");
  alphas = node.reals("activation_alpha").value_or(SmallVector<float>());
  betas = node.reals("activation_beta").value_or(SmallVector<float>());
  if (node.opset < 14)
    node.ignore("output_sequence");
  if (node.failed() || failed(node.checkRank(0, 3)) ||
      failed(node.checkRank(1, 3)) || failed(node.checkRank(2, 3)))
    return failure();
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional")
    return node.error("attribute 'direction' is " + quote(direction) +
                      "; expected forward, reverse or bidirectional");
  directions = direction == "bidirectional" ? 2 : 1;
  if (hidden == 0)
    hidden = node.input(2).shape[2].count;
  SmallVector<std::string> usual =
      op == "LSTM"  ? SmallVector<std::string>{"Sigmoid", "Tanh", "Tanh"}
      : op == "GRU" ? SmallVector<std::string>{"Sigmoid", "Tanh"}
                    : SmallVector<std::string>{"Tanh"};
  if (activations.empty())
    for (int64_t i = 0; i < directions; ++i)
      llvm::append_range(activations, usual);
  if (activations.size() != usual.size() * size_t(directions))
    return node.error(Twine(activations.size()) + " activations; expected " +
                      Twine(usual.size() * size_t(directions)));
  Dim inputs = node.input(0).shape[2];
  Shape weights = {Dim::fixed(directions), Dim::fixed(gates * hidden), inputs};
  Shape recurrent = {Dim::fixed(directions), Dim::fixed(gates * hidden),
                     Dim::fixed(hidden)};
  if (hidden < 1 || node.input(1).shape != weights ||
      node.input(2).shape != recurrent)
    return node.error("weights of " + str(node.input(1).shape) + " and " +
                      str(node.input(2).shape) + "; expected " + str(weights) +
                      " and " + str(recurrent));
  return success();
}

/// Input `input` of one direction, without the dimension for it.
std::optional<Tensor> Recurrence::part(unsigned input, unsigned direction) {
  if (!node.has(input))
    return std::nullopt;
  Tensor x = node.input(input);
  bool isState = input == 5 || (input == 6 && gates == 4);
  if (isState && batchFirst && x.rank() == 3)
    x = node.emit.transpose(x, {1, 0, 2});
  if (x.rank() == 0 || !x.shape[0].is(directions)) {
    (void)node.error(node.inputName(input) + " has shape " + str(x.shape) +
                     "; expected one for each of " + Twine(directions) +
                     " directions");
    return std::nullopt;
  }
  Shape shape = x.shape;
  shape[0] = Dim::fixed(1);
  SmallVector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  starts[0] = direction;
  Tensor one = node.emit.slice(x, shape, starts, steps);
  shape.erase(shape.begin());
  return node.emit.reshape(one, shape);
}

/// One step: `given` is the input's part of the gates, `h` and `c` the states,
/// `w` the recurrent weights, transposed.
std::optional<std::string> Recurrence::step(unsigned direction) {
  std::string text, n = std::to_string(hidden);
  auto cut = [&](StringRef to, StringRef from, int64_t gate) {
    text += (to + " = Slice(" + from + ", [" + std::to_string(gate * hidden) +
             "], [" + std::to_string((gate + 1) * hidden) + "], [1])\n")
                .str();
  };
  unsigned first = direction * unsigned(activations.size() / directions);
  bool isKnown = true;
  auto act = [&](StringRef to, StringRef from, unsigned which) {
    std::string input = from.str();
    if (clip > 0) {
      input = (to + "_clipped").str();
      text += input + " = Clip(" + from.str() + ", " + digitsOf(-clip) + ", " +
              digitsOf(clip) + ")\n";
    }
    auto line = activate(to, input, first + which);
    isKnown &= line.has_value();
    text += line.value_or("");
  };
  if (gates == 1) {
    text += "product = MatMul(h, w)\nsum = Add(given, product)\n";
    act("next", "sum", 0);
  } else if (gates == 3) {
    cut("gz", "given", 0);
    cut("gr", "given", 1);
    cut("gh", "given", 2);
    text += "pz = MatMul(h, wz)\npr = MatMul(h, wr)\nsz = Add(gz, pz)\n"
            "sr = Add(gr, pr)\n";
    if (node.has(3))
      text += "tz = Add(sz, bz)\ntr = Add(sr, br)\n";
    else
      text += "tz = Identity(sz)\ntr = Identity(sr)\n";
    act("z", "tz", 0);
    act("r", "tr", 0);
    if (linearBeforeReset) {
      text += "ph0 = MatMul(h, wh)\n";
      text += node.has(3) ? "ph = Add(ph0, bh)\n" : "ph = Identity(ph0)\n";
      text += "rh = Mul(r, ph)\nsh = Add(gh, rh)\n";
    } else {
      text += "rh = Mul(r, h)\nph0 = MatMul(rh, wh)\nsh0 = Add(gh, ph0)\n";
      text += node.has(3) ? "sh = Add(sh0, bh)\n" : "sh = Identity(sh0)\n";
    }
    act("candidate", "sh", 1);
    text += "rest = Sub(1.0, z)\nnew = Mul(rest, candidate)\n"
            "old = Mul(z, h)\nnext = Add(new, old)\n";
  } else {
    text += "product = MatMul(h, w)\nsum = Add(given, product)\n";
    cut("si", "sum", 0);
    cut("so", "sum", 1);
    cut("sf", "sum", 2);
    cut("sc", "sum", 3);
    bool peeps = node.has(7);
    if (peeps)
      text += "ci = Mul(pi, c)\nti = Add(si, ci)\ncf = Mul(pf, c)\n"
              "tf = Add(sf, cf)\n";
    else
      text += "ti = Identity(si)\ntf = Identity(sf)\n";
    act("i", "ti", 0);
    if (coupled)
      text += "f = Sub(1.0, i)\n";
    else
      act("f", "tf", 0);
    act("candidate", "sc", 1);
    text +=
        "kept = Mul(f, c)\nnew = Mul(i, candidate)\nnextC = Add(kept, new)\n";
    if (peeps)
      text += "co = Mul(po, nextC)\nto = Add(so, co)\n";
    else
      text += "to = Identity(so)\n";
    act("o", "to", 0);
    // What is put out is not clipped again.
    auto line = activate("bent", "nextC", first + 2);
    isKnown &= line.has_value();
    text += line.value_or("") + "next = Mul(o, bent)\n";
  }
  return isKnown ? std::optional(text) : std::nullopt;
}

std::optional<LoopResults>
Recurrence::runDirection(const Tensor &x, unsigned direction, bool reversed) {
  Emitter &emit = node.emit;
  int64_t steps = x.shape[0].count;
  Dim batch = x.shape[1];
  auto weights = part(1, direction), recurrent = part(2, direction);
  auto bias = part(3, direction), h = part(5, direction);
  auto c = gates == 4 ? part(6, direction) : std::nullopt;
  auto peeps = gates == 4 ? part(7, direction) : std::nullopt;
  auto text = step(direction);
  if (!text || node.failed())
    return std::nullopt;
  // The input's part of all gates at all times.
  auto given = matmul(node, x, emit.transpose(*weights, {1, 0}));
  if (!given)
    return std::nullopt;
  Tensor recurrentBias;
  if (bias) {
    auto half = [&](int64_t start) {
      return emit.slice(*bias, {Dim::fixed(gates * hidden)}, {start}, {1});
    };
    if (!bias->shape[0].is(2 * gates * hidden)) {
      (void)node.error("a bias of " + str(node.input(3).shape));
      return std::nullopt;
    }
    Tensor inputBias = half(0);
    recurrentBias = half(gates * hidden);
    auto plus = [](LocBuilder &b, ValueRange args) {
      return add(b, args[0], args[1]);
    };
    // Those of a GRU's state are inside its gates.
    if (gates != 3)
      inputBias = emit.map({&inputBias, &recurrentBias}, inputBias.shape, plus);
    given = emit.map({&*given, &inputBias}, given->shape, plus);
  }
  Shape stateShape = {batch, Dim::fixed(hidden)};
  int64_t element = x.dataType;
  auto zero = [&] {
    return emit.result(emit.filled(stateShape, emit.number(0, element)),
                       stateShape, element);
  };
  SmallVector<Tensor> states = {h ? *h : zero()};
  if (gates == 4)
    states.push_back(c ? *c : zero());
  for (const Tensor &state : states)
    if (state.shape != stateShape) {
      (void)node.error("a first state of " + str(state.shape) + "; expected " +
                       str(stateShape));
      return std::nullopt;
    }
  Tensor turned = emit.transpose(*recurrent, {1, 0});
  SmallVector<std::pair<StringRef, Tensor>> constants = {{"w", turned}};
  auto columns = [&](const Tensor &from, int64_t gate) {
    if (from.rank() == 1)
      return emit.slice(from, {Dim::fixed(hidden)}, {gate * hidden}, {1});
    return emit.slice(from, {from.shape[0], Dim::fixed(hidden)},
                      {0, gate * hidden}, {1, 1});
  };
  if (gates == 3) {
    for (auto [i, name] :
         llvm::enumerate(ArrayRef<StringRef>({"wz", "wr", "wh"})))
      constants.emplace_back(name, columns(turned, int64_t(i)));
    if (bias)
      for (auto [i, name] :
           llvm::enumerate(ArrayRef<StringRef>({"bz", "br", "bh"})))
        constants.emplace_back(name, columns(recurrentBias, int64_t(i)));
  }
  if (peeps)
    for (auto [i, name] :
         llvm::enumerate(ArrayRef<StringRef>({"pi", "po", "pf"})))
      constants.emplace_back(name, columns(*peeps, int64_t(i)));
  for (auto &[name, tensor] : constants)
    tensor.value = emit.value(tensor);
  const Tensor *lengths = node.has(4) ? &node.input(4) : nullptr;
  Value lengthValues = lengths ? emit.value(*lengths) : Value();
  Tensor sequence = *given;
  if (reversed && !lengths) {
    SmallVector<int64_t> starts = {steps - 1, 0, 0}, strides = {-1, 1, 1};
    sequence = emit.slice(sequence, sequence.shape, starts, strides);
  } else if (reversed) {
    // Each batch's own sequence from its end.
    auto turnedAround = node.compute(
        "y = ReverseSequence<time_axis = 0, batch_axis = 1>(x, lengths)",
        {{"x", &sequence}, {"lengths", lengths}}, {"y"});
    if (!turnedAround)
      return std::nullopt;
    sequence = turnedAround->front();
  }
  auto results = loop(
      node, steps, states, {sequence},
      [&](Value i, ArrayRef<Tensor> carried,
          ArrayRef<Tensor> parts) -> std::optional<SmallVector<Tensor>> {
        SmallVector<std::pair<StringRef, const Tensor *>> inputs = {
            {"given", &parts[0]}, {"h", &carried[0]}};
        if (gates == 4)
          inputs.emplace_back("c", &carried[1]);
        for (auto &[name, tensor] : constants)
          inputs.emplace_back(name, &tensor);
        SmallVector<StringRef> names = {"next"};
        if (gates == 4)
          names.push_back("nextC");
        auto after = node.compute(*text, inputs, names);
        if (!after)
          return std::nullopt;
        Tensor out = after->front();
        if (lengths) {
          // Behind a sequence's end the state stays, and 0 is put out.
          auto within = [&](LocBuilder &b) {
            Value row = linalg::IndexOp::create(b, 0);
            return compare(b, Order::Less, i,
                           toIndex(b, Emitter::at(b, lengthValues, row)));
          };
          for (auto [state, next] : llvm::zip_equal(carried, *after))
            next = emit.map({&next, &state}, stateShape,
                            [&](LocBuilder &b, ValueRange args) {
                              return select(b, within(b), args[0], args[1]);
                            });
          out =
              emit.map({&out}, stateShape, [&](LocBuilder &b, ValueRange args) {
                return select(b, within(b), args[0],
                              constant(b, args[0].getType(), 0));
              });
        }
        after->push_back(out);
        return after;
      });
  if (!results || !reversed)
    return results;
  Tensor &stacked = results->outputs[0];
  if (lengths) {
    auto back = node.compute(
        "y = ReverseSequence<time_axis = 0, batch_axis = 1>(x, lengths)",
        {{"x", &stacked}, {"lengths", lengths}}, {"y"});
    if (!back)
      return std::nullopt;
    stacked = back->front();
  } else {
    SmallVector<int64_t> starts = {steps - 1, 0, 0}, strides = {-1, 1, 1};
    stacked = emit.slice(stacked, stacked.shape, starts, strides);
  }
  return results;
}

LogicalResult Recurrence::run() {
  Emitter &emit = node.emit;
  Tensor x = node.input(0);
  if (batchFirst)
    x = emit.transpose(x, {1, 0, 2});
  if (x.shape[0].batched || x.shape[0].is(0))
    return node.error("a sequence of " + str(x.shape) +
                      "; expected a fixed length of 1 or more");
  int64_t steps = x.shape[0].count;
  SmallVector<Tensor> sequences, finals, cells;
  bool startsReversed = node.text("direction", "forward") == "reverse";
  for (unsigned d = 0; d < directions; ++d) {
    auto results = runDirection(x, d, startsReversed || d == 1);
    if (!results)
      return failure();
    Shape one = {Dim::fixed(1), x.shape[1], Dim::fixed(hidden)};
    sequences.push_back(
        emit.reshape(results->outputs[0], {Dim::fixed(steps), Dim::fixed(1),
                                           x.shape[1], Dim::fixed(hidden)}));
    finals.push_back(emit.reshape(results->states[0], one));
    if (gates == 4)
      cells.push_back(emit.reshape(results->states[1], one));
  }
  auto join = [&](ArrayRef<Tensor> parts, unsigned axis) {
    SmallVector<const Tensor *> list;
    Shape shape = parts.front().shape;
    shape[axis] = Dim::fixed(parts.size());
    for (const Tensor &tensor : parts)
      list.push_back(&tensor);
    return list.size() == 1 ? parts.front() : emit.concat(list, axis, shape);
  };
  Tensor y = join(sequences, 1), h = join(finals, 0);
  // With the batch first: y is B x S x D x H, the states B x D x H.
  if (batchFirst) {
    y = emit.transpose(y, {2, 0, 1, 3});
    h = emit.transpose(h, {1, 0, 2});
  }
  if (failed(node.finish(y)) || failed(node.finish(h)))
    return failure();
  if (gates != 4)
    return success();
  Tensor c = join(cells, 0);
  return node.finish(batchFirst ? emit.transpose(c, {1, 0, 2}) : c);
}

LogicalResult importRecurrent(Node &node) {
  Recurrence recurrence{node};
  return failed(recurrence.read()) ? failure() : recurrence.run();
}

} // namespace numera::importer
