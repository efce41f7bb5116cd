//===- Cells.cpp - The equations of LSTM, GRU and RNN ---------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// The equations are those of the ONNX standard, each from left to right, with
// every operation rounded (docs/Semantics/Onnx.md). Gates that share a function
// are computed side by side where no peephole sets them apart.
//
//===----------------------------------------------------------------------===//
#include "Cells.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {
/// An activation by its name in ONNX, and its defaults.
struct Known {
  StringRef name;
  unsigned parameters = 0;
  std::optional<float> alpha = 0.0f;
  std::optional<float> beta = 0.0f;
};

constexpr Known kActivations[] = {
    {"Affine", 2, 1.0f, 0.0f},
    {"Elu", 1, 1.0f},
    {"HardSigmoid", 2, 0.2f, 0.5f},
    {"LeakyRelu", 1, 0.01f},
    {"Relu"},
    // Which no operator is, and so has no defaults.
    {"ScaledTanh", 2, std::nullopt, std::nullopt},
    {"Sigmoid"},
    {"Softplus"},
    {"Softsign"},
    {"Tanh"},
    {"ThresholdedRelu", 1, 1.0f},
};
} // namespace

static const Known *findActivation(StringRef name) {
  const Known *found = llvm::find_if(kActivations, [&](const Known &row) {
    return row.name.equals_insensitive(name);
  });
  return found == std::end(kActivations) ? nullptr : found;
}

static SmallVector<std::string> usualActivations(StringRef op) {
  if (op == "LSTM")
    return {"Sigmoid", "Tanh", "Tanh"};
  if (op == "GRU")
    return {"Sigmoid", "Tanh"};
  return {"Tanh"};
}

namespace {
/// A list of parameters, which the activations that have one take in turn.
struct Parameters {
  Node &node;
  StringRef name;
  SmallVector<float> list;
  size_t taken = 0;

  Parameters(Node &node, StringRef name)
      : node(node), name(name),
        list(node.reals(name).value_or(SmallVector<float>())) {}

  float take(const Known &row, std::optional<float> byDefault) {
    if (taken < list.size()) {
      float number = list[taken++];
      if (!std::isfinite(number))
        (void)node.error("attribute " + quote(name) + " has " +
                         std::to_string(number) + "; expected finite numbers");
      return number;
    }
    if (!byDefault)
      (void)node.error("activation " + quote(row.name) + " has no " +
                       quote(name) +
                       "; expected a number, as ONNX has no "
                       "default");
    return byDefault.value_or(0.0f);
  }

  /// Numbers that are left over would be another's in another reading.
  void check() {
    if (taken > 0 && taken < list.size())
      (void)node.error("attribute " + quote(name) + " has " +
                       Twine(list.size()) +
                       " numbers; expected one for each activation that takes "
                       "one, of which there are " +
                       Twine(taken));
  }
};
} // namespace

std::optional<SmallVector<Activation>> readActivations(Node &node,
                                                       int64_t directions) {
  SmallVector<std::string> usual = usualActivations(node.op());
  SmallVector<std::string> names = node.texts("activations");
  Parameters alphas(node, "activation_alpha"), betas(node, "activation_beta");
  if (names.empty())
    for (int64_t i = 0; i < directions; ++i)
      llvm::append_range(names, usual);
  size_t expected = usual.size() * size_t(directions);
  if (names.size() != expected)
    (void)node.error("attribute 'activations' has " + Twine(names.size()) +
                     " names; expected " + Twine(expected));
  SmallVector<Activation> activations;
  for (const std::string &name : names) {
    const Known *known = findActivation(name);
    if (!known) {
      (void)node.error(
          "activation " + quote(name) + " is not known; expected one of " +
          llvm::join(llvm::map_range(kActivations,
                                     [](const Known &row) { return row.name; }),
                     ", "));
      return std::nullopt;
    }
    Activation &activation = activations.emplace_back();
    activation.name = known->name;
    if (known->parameters >= 1)
      activation.alpha = alphas.take(*known, known->alpha);
    if (known->parameters >= 2)
      activation.beta = betas.take(*known, known->beta);
  }
  alphas.check();
  betas.check();
  if (node.failed())
    return std::nullopt;
  return activations;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int64_t gatesOf(StringRef op) { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }

namespace {
/// A name in the text.
using Name = std::string;

class Writer {
public:
  explicit Writer(const Cell &cell) : cell(cell) {}

  Step write();

private:
  /// A new name for what `expression` gives.
  Name let(const Twine &expression);
  Name constant(float number);
  Name add(const Name &x, const Name &y) { return binary("Add", x, y); }
  Name mul(const Name &x, const Name &y) { return binary("Mul", x, y); }
  Name binary(StringRef op, const Name &x, const Name &y) {
    return let(op + "(" + x + ", " + y + ")");
  }
  /// The part of the gates from `gate` to before `end`, along the last axis.
  Name cut(const Name &from, int64_t gate, int64_t end, int64_t axis);
  Name columns(const Name &from, int64_t gate, int64_t end) {
    return cut(from, gate, end, 1);
  }
  /// What the biases of these gates make of a sum.
  Name biased(Name sum, int64_t gate, int64_t end);
  /// The function `which` of the equations.
  Name apply(const Name &x, unsigned which);
  /// The same of a gate, whose sum is clipped first.
  Name gate(const Name &sum, unsigned which);
  void rnn();
  void gru();
  void lstm();
  void lstmWithPeepholes();

  const Cell &cell;
  Step step;
  unsigned count = 0;
};
} // namespace

Name Writer::let(const Twine &expression) {
  Name name = "t" + std::to_string(count++);
  step.text += (name + " = " + expression + "\n").str();
  return name;
}

/// Of the cell's type: numbers in the text are f32.
Name Writer::constant(float number) {
  Name name = "k" + std::to_string(step.constants.size());
  step.constants.emplace_back(name, cell.element == type::Double
                                        ? Tensor::ofDoubles({number}, {})
                                        : Tensor::ofFloats({number}, {}));
  return name;
}

Name Writer::cut(const Name &from, int64_t gate, int64_t end, int64_t axis) {
  return let(llvm::formatv("Slice({0}, [{1}], [{2}], [{3}])", from,
                           gate * cell.hidden, end * cell.hidden, axis)
                 .str());
}

Name Writer::biased(Name sum, int64_t gate, int64_t end) {
  if (!cell.hasBias)
    return sum;
  for (const char *bias : {"wb", "rb"})
    sum = add(sum, cut(bias, gate, end, 0));
  return sum;
}

Name Writer::apply(const Name &x, unsigned which) {
  const Activation &activation = cell.activations[which];
  StringRef op = activation.name;
  if (op == "Affine")
    return add(mul(x, constant(activation.alpha)), constant(activation.beta));
  if (op == "ScaledTanh")
    return mul(let("Tanh(" + mul(x, constant(activation.beta)) + ")"),
               constant(activation.alpha));
  // Unlike the operator's, its threshold stays.
  if (op == "ThresholdedRelu") {
    Name stays = binary("GreaterOrEqual", x, constant(activation.alpha));
    return let("Where(" + stays + ", " + x + ", " + constant(0) + ")");
  }
  if (op == "HardSigmoid")
    return let(llvm::formatv("{0}<alpha = {1:e9}, beta = {2:e9}>({3})", op,
                             activation.alpha, activation.beta, x)
                   .str());
  if (op == "LeakyRelu" || op == "Elu")
    return let(
        llvm::formatv("{0}<alpha = {1:e9}>({2})", op, activation.alpha, x)
            .str());
  return let(op + "(" + x + ")");
}

Name Writer::gate(const Name &sum, unsigned which) {
  if (!cell.clip)
    return apply(sum, which);
  Name low = constant(-*cell.clip), high = constant(*cell.clip);
  return apply(let("Clip(" + sum + ", " + low + ", " + high + ")"), which);
}

/// Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)
void Writer::rnn() {
  Name sum = add("x", let("MatMul(h, r)"));
  step.states = {gate(biased(sum, 0, 1), 0)};
}

/// zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz)
/// rt = f(Xt*(Wr^T) + Ht-1*(Rr^T) + Wbr + Rbr)
/// ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh)
/// or g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh)
/// Ht = (1 - zt) (.) ht + zt (.) Ht-1
void Writer::gru() {
  bool isLinear = cell.isLinearBeforeReset;
  Name product =
      let("MatMul(h, " + (isLinear ? Name("r") : columns("r", 0, 2)) + ")");
  Name sum =
      add(columns("x", 0, 2), isLinear ? columns(product, 0, 2) : product);
  Name both = gate(biased(sum, 0, 2), 0);
  Name z = columns(both, 0, 1), r = columns(both, 1, 2);
  Name x = columns("x", 2, 3);
  Name reset;
  if (isLinear) {
    Name linear = columns(product, 2, 3);
    if (cell.hasBias)
      linear = add(linear, cut("rb", 2, 3, 0));
    reset = add(x, mul(r, linear));
  } else {
    Name kept = mul(r, "h");
    reset = add(x, binary("MatMul", kept, columns("r", 2, 3)));
    if (cell.hasBias)
      reset = add(reset, cut("rb", 2, 3, 0));
  }
  if (cell.hasBias)
    reset = add(reset, cut("wb", 2, 3, 0));
  Name candidate = gate(reset, 1);
  Name fresh = mul(binary("Sub", constant(1), z), candidate);
  step.states = {add(fresh, mul(z, "h"))};
}

/// it = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)
/// ft = f(Xt*(Wf^T) + Ht-1*(Rf^T) + Wbf + Rbf)
/// ct = g(Xt*(Wc^T) + Ht-1*(Rc^T) + Wbc + Rbc)
/// Ct = ft (.) Ct-1 + it (.) ct
/// ot = f(Xt*(Wo^T) + Ht-1*(Ro^T) + Wbo + Rbo)
/// Ht = ot (.) h(Ct)
///
/// The order of the gates is i, o, f, c.
void Writer::lstm() {
  Name sum = biased(add("x", let("MatMul(h, r)")), 0, 4);
  Name all = gate(columns(sum, 0, cell.isCoupled ? 2 : 3), 0);
  Name i = columns(all, 0, 1), o = columns(all, 1, 2);
  Name f = cell.isCoupled ? binary("Sub", constant(1), i) : columns(all, 2, 3);
  Name g = gate(columns(sum, 3, 4), 1);
  Name c = add(mul(f, "c"), mul(i, g));
  step.states = {mul(o, apply(c, 2)), c};
}

/// The same with Pi (.) Ct-1, Pf (.) Ct-1 and Po (.) Ct before the biases.
void Writer::lstmWithPeepholes() {
  Name sum = add("x", let("MatMul(h, r)"));
  auto peeping = [&](int64_t which, const Name &state) {
    Name seen = mul(cut("p", which, which + 1, 0), state);
    Name one = add(columns(sum, which, which + 1), seen);
    return gate(biased(one, which, which + 1), 0);
  };
  Name i = peeping(0, "c");
  Name f = cell.isCoupled ? binary("Sub", constant(1), i) : peeping(2, "c");
  Name g = gate(biased(columns(sum, 3, 4), 3, 4), 1);
  Name c = add(mul(f, "c"), mul(i, g));
  Name o = peeping(1, c);
  step.states = {mul(o, apply(c, 2)), c};
}

Step Writer::write() {
  if (cell.op == "RNN")
    rnn();
  else if (cell.op == "GRU")
    gru();
  else if (cell.hasPeepholes)
    lstmWithPeepholes();
  else
    lstm();
  return std::move(step);
}

Step stepOf(const Cell &cell) { return Writer(cell).write(); }

} // namespace numera::importer
