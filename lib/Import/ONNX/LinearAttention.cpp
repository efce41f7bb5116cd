//===- LinearAttention.cpp - Attention as a recurrence --------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// LinearAttention of the ONNX standard, step by step over the sequence.
//
//===----------------------------------------------------------------------===//
#include "Loops.h"
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

/// Fails where the last of three dimensions of input i has neither size.
static LogicalResult checkPacked(Node &node, unsigned i, int64_t size,
                                 int64_t other) {
  const Shape &shape = node.input(i).shape, &q = node.input(0).shape;
  if (shape.size() == 3 && shape[0] == q[0] && shape[1] == q[1] &&
      (shape[2].is(size) || shape[2].is(other)))
    return success();
  std::string expected = std::to_string(size);
  if (other != size)
    expected += " or " + std::to_string(other);
  return node.error(node.inputName(i) + " has shape " + str(shape) +
                    "; expected " + str({q[0], q[1]}) + " x " + expected);
}

/// S = exp(g) S + k (x) beta (v - S^T k);  o = scale q^T S
LogicalResult importLinearAttention(Node &node) {
  node.ignore("chunk_size");
  std::string rule = node.text("update_rule", "gated_delta");
  int64_t queryHeads = node.integer("q_num_heads", 0);
  int64_t keyHeads = node.integer("kv_num_heads", 0);
  double scale = node.real("scale", 0.0f);
  if (node.failed() || failed(node.checkRank(0, 3)) ||
      failed(node.checkRank(1, 3)) || failed(node.checkRank(2, 3)))
    return failure();
  const Shape &q = node.input(0).shape, &v = node.input(2).shape;
  bool isGated = rule == "gated" || rule == "gated_delta";
  bool isDelta = rule == "delta" || rule == "gated_delta";
  if ((!isGated && !isDelta && rule != "linear") || queryHeads < 1 ||
      keyHeads < 1 || queryHeads % keyHeads != 0 ||
      q[2].count % queryHeads != 0 || v[2].count % keyHeads != 0 ||
      q[1].isDynamic() || (isGated && !node.has(4)) ||
      (isDelta && !node.has(5)))
    return node.error("update rule " + quote(rule) + " with " +
                      Twine(queryHeads) + " and " + Twine(keyHeads) +
                      " heads on " + str(q) + " and " + str(v));
  int64_t group = queryHeads / keyHeads;
  int64_t dk = q[2].count / queryHeads, dv = v[2].count / keyHeads;
  if (failed(checkPacked(node, 1, keyHeads * dk, keyHeads * dk)) ||
      failed(checkPacked(node, 2, keyHeads * dv, keyHeads * dv)) ||
      (isGated && failed(checkPacked(node, 4, keyHeads, keyHeads * dk))) ||
      (isDelta && failed(checkPacked(node, 5, keyHeads, 1))))
    return failure();
  if (scale == 0)
    scale = 1 / std::sqrt(double(dk));
  Emitter &emit = node.emit;
  // Time first, then batch, heads and elements.
  auto split = [&](unsigned i, int64_t heads) {
    const Tensor &x = node.input(i);
    return emit.transpose(
        emit.reshape(x, {x.shape[0], x.shape[1], Dim::fixed(heads),
                         Dim::fixed(x.shape[2].count / heads)}),
        {1, 0, 2, 3});
  };
  SmallVector<Tensor> sequences = {split(0, queryHeads), split(1, keyHeads),
                                   split(2, keyHeads)};
  if (isGated)
    sequences.push_back(split(4, keyHeads));
  if (isDelta)
    // One rate for all heads, or one each.
    sequences.push_back(split(5, node.input(5).shape[2].count));
  Shape stateShape = {q[0], Dim::fixed(keyHeads), Dim::fixed(dk),
                      Dim::fixed(dv)};
  int64_t element = node.input(0).dataType;
  Tensor state =
      node.has(3)
          ? node.input(3)
          : emit.result(emit.filled(stateShape, emit.number(0, element)),
                        stateShape, element);
  std::string text;
  if (isGated)
    text += "decay = Exp(g)\nfactor = Unsqueeze(decay, [-1])\n"
            "kept = Mul(state, factor)\n";
  else
    text += "kept = Identity(state)\n";
  text += "column = Unsqueeze(k, [-1])\nrow = Unsqueeze(v, [-2])\n";
  if (isDelta)
    text += "across = Unsqueeze(k, [-2])\nread = MatMul(across, kept)\n"
            "error = Sub(row, read)\nrate = Unsqueeze(beta, [-1])\n"
            "write = Mul(rate, error)\n";
  else
    text += "write = Identity(row)\n";
  text += "outer = MatMul(column, write)\nnext = Add(kept, outer)\n";
  if (group > 1)
    text += "wide = Unsqueeze(next, [2])\n"
            "repeated = Expand(wide, [1, 1, " +
            std::to_string(group) + ", 1, 1])\nseen = Reshape(repeated, [0, " +
            std::to_string(queryHeads) + ", " + std::to_string(dk) + ", " +
            std::to_string(dv) + "])\n";
  else
    text += "seen = Identity(next)\n";
  text += "query = Unsqueeze(q, [-2])\nfound = MatMul(query, seen)\n"
          "flat = Squeeze(found, [-2])\nout = Mul(flat, scale)\n";
  Tensor factor = element == type::Double
                      ? Tensor::ofDoubles({scale}, {})
                      : Tensor::ofFloats({float(scale)}, {});
  if (group > 1)
    text.replace(text.find("[0, " + std::to_string(queryHeads)), 2,
                 "[" + std::to_string(q[0].isDynamic() ? -1 : q[0].count));
  auto results =
      loop(node, q[1], {state}, sequences,
           [&](Value, ArrayRef<Tensor> states, ArrayRef<Tensor> parts) {
             return node.compute(text,
                                 {{"state", &states[0]},
                                  {"q", &parts[0]},
                                  {"k", &parts[1]},
                                  {"v", &parts[2]},
                                  {"g", isGated ? &parts[3] : nullptr},
                                  {"beta", isDelta ? &parts.back() : nullptr},
                                  {"scale", &factor}},
                                 {"next", "out"});
           });
  if (!results)
    return failure();
  Tensor y = emit.reshape(emit.transpose(results->outputs[0], {1, 0, 2, 3}),
                          {q[0], q[1], Dim::fixed(queryHeads * dv)});
  if (failed(node.finish(y)))
    return failure();
  return node.finish(results->states[0]);
}

} // namespace numera::importer
