//===- Optimizers.cpp - Adagrad, Adam, Momentum ---------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// One step of training, as the standard's pseudo code has it, for each of the
// tensors that a node lists.
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

static constexpr StringRef kAdagrad = R"(
steps = Mul(t, decay)
divisor = Add(one, steps)
rate = Div(r, divisor)
square = Mul(g1, g1)
h1 = Add(h, square)
root = Sqrt(h1)
adaptive = Add(root, epsilon)
along = Mul(rate, g1)
change = Div(along, adaptive)
x1 = Sub(x, change)
)";

static constexpr StringRef kAdam = R"(
part = Mul(alpha, v)
new = Mul(beyond_alpha, g1)
v1 = Add(part, new)
kept = Mul(beta, h)
once = Mul(beyond_beta, g1)
square = Mul(once, g1)
h1 = Add(kept, square)
root = Sqrt(h1)
adaptive = Add(root, epsilon)
power_b = Pow(beta, t)
rest_b = Sub(one, power_b)
root_b = Sqrt(rest_b)
high = Mul(r, root_b)
power_a = Pow(alpha, t)
rest_a = Sub(one, power_a)
adjusted = Div(high, rest_a)
rate = Where(is_later, adjusted, r)
along = Mul(rate, v1)
change = Div(along, adaptive)
moved = Sub(x, change)
x1 = Mul(beyond_post, moved)
)";

static constexpr StringRef kMomentum = R"(
part = Mul(alpha, v)
factor = Where(is_later, beta, one)
new = Mul(factor, g1)
v1 = Add(part, new)
)";

static constexpr StringRef kStandard = R"(
change = Mul(r, v1)
x1 = Sub(x, change)
)";

static constexpr StringRef kNesterov = R"(
ahead = Mul(alpha, v1)
along = Add(g1, ahead)
change = Mul(r, along)
x1 = Sub(x, change)
)";

LogicalResult importOptimizer(Node &node) {
  bool isAdam = node.op() == "Adam", isMomentum = node.op() == "Momentum";
  double alpha = node.real("alpha", isAdam ? 0.9f : 0.0f);
  double beta = node.real("beta", isAdam ? 0.999f : 0.0f);
  double epsilon = node.real("epsilon", 1e-6f);
  double norm = node.real("norm_coefficient", 0.0f);
  double post = node.real("norm_coefficient_post", 0.0f);
  double decay = node.real("decay_factor", 0.0f);
  std::string mode = node.text("mode", "standard");
  if (node.failed())
    return failure();
  if (mode != "standard" && mode != "nesterov")
    return node.error("attribute 'mode' is " + quote(mode) +
                      "; expected 'standard' or 'nesterov'");
  // X, G and V or H, or both.
  unsigned kinds = isAdam ? 4 : 3, count = (node.numInputs() - 2) / kinds;
  if (count == 0 || node.numInputs() != 2 + kinds * count)
    return node.error(Twine(node.numInputs()) + " inputs; expected 2 and " +
                      Twine(kinds) + " for each tensor");
  for (unsigned i : {0u, 1u})
    if (elementCount(node.input(i).shape) != 1)
      return node.error(node.inputName(i) + " has shape " +
                        str(node.input(i).shape) + "; expected a scalar");
  std::string text = "t = CastLike(update, x)\n"
                     "is_later = Greater(t, zero)\n"
                     "norm_x = Mul(norm, x)\n"
                     "g1 = Add(norm_x, g)\n";
  if (isMomentum)
    text += (kMomentum + (mode == "nesterov" ? kNesterov : kStandard)).str();
  else
    text += isAdam ? kAdam : kAdagrad;
  SmallVector<StringRef> outputs = {"x1"};
  if (isAdam || isMomentum)
    outputs.push_back("v1");
  if (!isMomentum)
    outputs.push_back("h1");
  SmallVector<SmallVector<Tensor>> all;
  Emitter &emit = node.emit;
  for (unsigned i = 0; i < count; ++i) {
    auto given = [&](unsigned kind) {
      return &node.input(2 + kind * count + i);
    };
    const Tensor &x = *given(0);
    for (unsigned kind = 0; kind < kinds; ++kind)
      if (given(kind)->shape != x.shape ||
          given(kind)->dataType != x.dataType || x.isIntegral())
        return node.error(node.inputName(2 + kind * count + i) + " is of " +
                          dataTypeName(given(kind)->dataType) + " " +
                          str(given(kind)->shape) + "; expected floats of " +
                          str(x.shape));
    auto number = [&](double value) {
      return x.isDouble() ? Tensor::ofDoubles({value}, {})
                          : Tensor::ofFloats({float(value)}, {});
    };
    Tensor zero = number(0), one = number(1),
           tensors[] = {number(alpha),    number(beta),    number(1 - alpha),
                        number(1 - beta), number(epsilon), number(norm),
                        number(1 - post), number(decay)};
    Tensor rate = convertTo(emit, emit.reshape(node.input(0), {}), x.dataType);
    Tensor update = emit.reshape(node.input(1), {});
    auto results = node.compute(text,
                                {{"x", &x},
                                 {"g", given(1)},
                                 {"v", given(2)},
                                 {"h", given(kinds - 1)},
                                 {"r", &rate},
                                 {"update", &update},
                                 {"zero", &zero},
                                 {"one", &one},
                                 {"alpha", &tensors[0]},
                                 {"beta", &tensors[1]},
                                 {"beyond_alpha", &tensors[2]},
                                 {"beyond_beta", &tensors[3]},
                                 {"epsilon", &tensors[4]},
                                 {"norm", &tensors[5]},
                                 {"beyond_post", &tensors[6]},
                                 {"decay", &tensors[7]}},
                                outputs);
    if (!results)
      return failure();
    all.push_back(*results);
  }
  // All X, then all V, then all H.
  for (unsigned kind = 0; kind < outputs.size(); ++kind)
    for (const SmallVector<Tensor> &results : all)
      if (failed(node.finish(results[kind])))
        return failure();
  return success();
}

} // namespace numera::importer
