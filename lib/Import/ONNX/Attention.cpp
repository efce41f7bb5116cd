//===- Attention.cpp - Attention and what stands around it ----------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Attention is the composition of the ONNX standard:
//
//   s = (Q sqrt scale) (K sqrt scale)^T;  s = cap tanh(s / cap);
//   s = s + mask, -inf where a key is not to be seen;  p = softmax s;  y = p V
//
// with a row of zeros where no key is to be seen.
//
//===----------------------------------------------------------------------===//
#include "Loops.h"
#include "Operators.h"
#include "Scalar.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

/// B x S x (H D) as B x H x S x D.
static std::optional<Tensor> splitHeads(Node &node, unsigned i, int64_t heads) {
  const Tensor &x = node.input(i);
  bool isOpen = x.rank() == 4 ? x.shape[1].isDynamic() || x.shape[3].isDynamic()
                              : x.rank() == 3 && x.shape[2].isDynamic();
  if (isOpen) {
    (void)node.error(node.inputName(i) + " has shape " + str(x.shape) +
                     "; expected as many heads, of as many elements, for all "
                     "calls");
    return std::nullopt;
  }
  if (x.rank() == 4)
    return x;
  if (x.rank() != 3 || heads < 1 || x.shape[2].count % heads != 0) {
    (void)node.error(node.inputName(i) + " has shape " + str(x.shape) +
                     " for " + Twine(heads) +
                     " heads; expected 4 dimensions, or 3 whose last the heads "
                     "divide");
    return std::nullopt;
  }
  Shape split = {x.shape[0], x.shape[1], Dim::fixed(heads),
                 Dim::fixed(x.shape[2].count / heads)};
  return node.emit.transpose(node.emit.reshape(x, split), {0, 2, 1, 3});
}

/// The past before the present, along dimension 2.
static std::optional<Tensor> append(Node &node, unsigned past,
                                    const Tensor &x) {
  if (!node.has(past))
    return x;
  const Tensor &before = node.input(past);
  Shape shape = x.shape;
  bool fits = before.rank() == 4;
  for (unsigned i = 0; fits && i < 4; ++i) {
    std::optional<Dim> size =
        i == 2 ? node.emit.sum(before.shape[i], x.shape[i])
               : requireSame(node, x.shape[i], before.shape[i]);
    fits = size.has_value();
    shape[i] = size.value_or(shape[i]);
  }
  if (!fits) {
    (void)node.error(node.inputName(past) + " has shape " + str(before.shape) +
                     " before " + str(x.shape));
    return std::nullopt;
  }
  return node.emit.concat({&before, &x}, 2, shape);
}

/// Each head `group` times.
static Tensor repeatHeads(Emitter &emit, const Tensor &x, int64_t group) {
  if (group == 1)
    return x;
  Shape one = {x.shape[0], x.shape[1], Dim::fixed(1), x.shape[2], x.shape[3]};
  Shape many = one;
  many[2] = Dim::fixed(group);
  Shape joined = {x.shape[0], Dim::fixed(x.shape[1].count * group), x.shape[2],
                  x.shape[3]};
  return emit.reshape(emit.expand(emit.reshape(x, one), many), joined);
}

static Tensor scaleBy(Emitter &emit, const Tensor &x, double factor) {
  return emit.map({&x}, x.shape, [&](LocBuilder &b, ValueRange args) {
    return mul(b, args[0], constant(b, args[0].getType(), factor));
  });
}

namespace {
/// Which keys a query sees.
struct Visibility {
  bool isCausal = false;
  int64_t left = -1, right = -1;
  Dim past, queries;
  const Tensor *mask = nullptr;
  const Tensor *lengths = nullptr;

  bool isAll() const {
    return !isCausal && left < 0 && right < 0 && !mask && !lengths;
  }
};
} // namespace

/// The scores with the mask added, and -inf where it is not to be seen.
static Tensor hide(Node &node, const Tensor &scores, const Visibility &sees) {
  Emitter &emit = node.emit;
  Value lengths = sees.lengths ? emit.value(*sees.lengths) : Value();
  auto valueOf = [&](Dim size) {
    return size.isDynamic() ? emit.size(size) : Value();
  };
  Value past = valueOf(sees.past), queries = valueOf(sees.queries);
  SmallVector<const Tensor *> tensors = {&scores};
  if (sees.mask)
    tensors.push_back(sees.mask);
  bool isFlags = sees.mask && sees.mask->dataType == type::Bool;
  return emit.map(
      tensors, scores.shape,
      [&](LocBuilder &b, ValueRange args) -> Value {
        Value score = args[0];
        Value visible = constant(b, b.getI1Type(), 1);
        if (isFlags)
          visible = args[1];
        else if (sees.mask)
          score = add(b, score, args[1]);
        Value key = linalg::IndexOp::create(b, 3);
        Value offset = past ? past : index(b, sees.past.count);
        if (lengths) {
          Value batch = linalg::IndexOp::create(b, 0);
          Value length = toIndex(b, Emitter::at(b, lengths, batch));
          visible = both(b, visible, compare(b, Order::Less, key, length));
          if (sees.past.is(0))
            offset = sub(b, length,
                         queries ? queries : index(b, sees.queries.count));
        }
        Value place = add(b, linalg::IndexOp::create(b, 2), offset);
        if (sees.isCausal)
          visible =
              both(b, visible, compare(b, Order::LessOrEqual, key, place));
        if (sees.left >= 0)
          visible = both(b, visible,
                         compare(b, Order::LessOrEqual,
                                 sub(b, place, index(b, sees.left)), key));
        if (sees.right >= 0)
          visible = both(b, visible,
                         compare(b, Order::LessOrEqual, key,
                                 add(b, place, index(b, sees.right))));
        return select(b, visible, score,
                      constant(b, score.getType(), -INFINITY));
      },
      scores.dataType);
}

/// The softmax of rows; zeros where all are -inf.
static Tensor softmaxOrZero(Emitter &emit, const Tensor &scores) {
  SmallVector<bool> last = {false, false, false, true};
  Tensor most = emit.maximum(scores, last);
  SmallVector<unsigned, 4> kept = {0, 1, 2};
  Tensor powers =
      emit.mapAlong({emit.aligned(scores, 4), {&most, kept}}, scores.shape,
                    [](LocBuilder &b, ValueRange args) -> Value {
                      Value lowest = constant(b, args[1].getType(), -INFINITY);
                      Value isEmpty = compare(b, Order::Equal, args[1], lowest);
                      Value zero = constant(b, args[1].getType(), 0);
                      Value base = select(b, isEmpty, zero, args[1]);
                      return math::ExpOp::create(b, sub(b, args[0], base));
                    });
  Tensor sums = emit.sum(powers, last);
  return emit.mapAlong(
      {emit.aligned(powers, 4), {&sums, kept}}, scores.shape,
      [](LocBuilder &b, ValueRange args) -> Value {
        Value zero = constant(b, args[1].getType(), 0);
        Value isEmpty = compare(b, Order::Equal, args[1], zero);
        return select(b, isEmpty, zero, div(b, args[0], args[1]));
      });
}

/// Whether the mask broadcasts to the scores.
static bool isMaskOf(Node &node, const Tensor &mask, const Tensor &scores) {
  auto shape = broadcast(node, scores.shape, mask.shape);
  return shape && shape->size() == scores.shape.size() &&
         llvm::all_of(llvm::zip_equal(*shape, scores.shape), [](auto sizes) {
           auto [all, own] = sizes;
           return all.is(1) == own.is(1);
         });
}

LogicalResult importAttention(Node &node) {
  int64_t queryHeads = node.integer("q_num_heads", 0);
  int64_t keyHeads = node.integer("kv_num_heads", 0);
  int64_t mode = node.integer("qk_matmul_output_mode", 0);
  double cap = node.real("softcap", 0.0f);
  node.ignore("softmax_precision");
  Visibility sees;
  sees.isCausal = node.integer("is_causal", 0);
  sees.left = node.integer("left_window_size", -1);
  sees.right = node.integer("right_window_size", -1);
  for (unsigned i : {0, 1, 2, 4, 5})
    if (node.has(i) && failed(node.checkFloat(i)))
      return failure();
  auto q = splitHeads(node, 0, queryHeads);
  auto newK = q ? splitHeads(node, 1, keyHeads) : std::nullopt;
  auto newV = newK ? splitHeads(node, 2, keyHeads) : std::nullopt;
  auto k = newV ? append(node, 4, *newK) : std::nullopt;
  auto v = k ? append(node, 5, *newV) : std::nullopt;
  if (!v || node.failed())
    return failure();
  bool isSplit = node.input(0).rank() == 3;
  int64_t heads = q->shape[1].count,
          group = heads / std::max<int64_t>(1, k->shape[1].count);
  if (k->shape[1].count < 1 || group * k->shape[1].count != heads ||
      !requireSame(node, k->shape[2], v->shape[2]) ||
      k->shape[3] != q->shape[3])
    return node.error("queries of " + str(q->shape) + ", keys of " +
                      str(k->shape) + " and values of " + str(v->shape));
  double scale =
      node.real("scale", float(1 / std::sqrt(double(q->shape[3].count))));
  Emitter &emit = node.emit;
  sees.past = node.has(4) ? node.input(4).shape[2] : Dim::fixed(0);
  sees.queries = q->shape[2];
  sees.lengths = node.has(6) ? &node.input(6) : nullptr;
  Tensor mask;
  if (node.has(3)) {
    mask = node.input(3);
    // Numbers of any type are added to the scores.
    if (mask.dataType != type::Bool)
      mask = convertTo(node.emit, mask, q->dataType);
    // Keys behind a mask's are not to be seen. One for all was for all in
    // opset 23.
    int64_t rank = mask.rank();
    if (rank > 0 && (node.opset >= 24 || !mask.shape.back().is(1)) &&
        !mask.shape.back().isDynamic() && !k->shape[2].isDynamic() &&
        mask.shape.back().count < k->shape[2].count) {
      SmallVector<int64_t> low(rank, 0), high(rank, 0);
      high.back() = k->shape[2].count - mask.shape.back().count;
      mask = emit.pad(mask, low, high,
                      emit.number(mask.dataType == type::Bool ? 0 : -INFINITY,
                                  mask.dataType));
    }
    sees.mask = &mask;
  }
  double root = std::sqrt(scale);
  Tensor left = scaleBy(emit, *q, root);
  Tensor right = scaleBy(emit, repeatHeads(emit, *k, group), root);
  auto scores = matmul(node, left, emit.transpose(right, {0, 1, 3, 2}));
  if (!scores)
    return failure();
  if (node.has(3) && !isMaskOf(node, mask, *scores))
    return node.error(node.inputName(3) + " has shape " +
                      str(node.input(3).shape) + " for scores of " +
                      str(scores->shape));
  Tensor shown = *scores;
  if (cap != 0) {
    scores = emit.map(
        {&*scores}, scores->shape, [&](LocBuilder &b, ValueRange args) {
          Value limit = constant(b, args[0].getType(), cap);
          Value bent = math::TanhOp::create(b, div(b, args[0], limit));
          return mul(b, bent, limit);
        });
  }
  if (mode == 1)
    shown = *scores;
  if (!sees.isAll())
    scores = hide(node, *scores, sees);
  if (mode == 2)
    shown = *scores;
  Tensor weights;
  if (sees.isAll()) {
    auto soft = node.compute("y = Softmax(x)", {{"x", &*scores}}, {"y"});
    if (!soft)
      return failure();
    weights = soft->front();
  } else {
    weights = softmaxOrZero(emit, *scores);
  }
  if (mode == 3)
    shown = weights;
  auto y = matmul(node, weights, repeatHeads(emit, *v, group));
  if (!y)
    return failure();
  if (isSplit)
    y = emit.reshape(emit.transpose(*y, {0, 2, 1, 3}),
                     {y->shape[0], y->shape[2],
                      Dim::fixed(y->shape[1].count * y->shape[3].count)});
  for (const Tensor &tensor : {*y, *k, *v, shown})
    if (failed(node.finish(tensor)))
      return failure();
  return success();
}

LogicalResult importRotaryEmbedding(Node &node) {
  bool interleaved = node.integer("interleaved", 0);
  int64_t turned = node.integer("rotary_embedding_dim", 0);
  int64_t heads = node.integer("num_heads", 0);
  auto split = splitHeads(node, 0, heads);
  if (!split || node.failed())
    return failure();
  const Tensor &x = node.input(0);
  int64_t size = split->shape[3].count;
  turned = turned ? turned : size;
  if (turned > size || turned % 2 != 0)
    return node.error("rotates " + Twine(turned) + " of " + Twine(size) +
                      " elements; expected an even number of them");
  Tensor cosines = node.input(1), sines = node.input(2);
  // From B x H x S x D; the caches get a dimension for the heads.
  std::string text =
      node.has(3) ? "c0 = Gather(cosines, places)\ns0 = Gather(sines, places)\n"
                  : "c0 = Identity(cosines)\ns0 = Identity(sines)\n";
  text += "c = Unsqueeze(c0, [1])\ns = Unsqueeze(s0, [1])\n";
  std::string n = std::to_string(turned), half = std::to_string(turned / 2);
  text += "turned = Slice(x, [0], [" + n + "], [3])\n";
  if (interleaved)
    text += "a = Slice(turned, [0], [" + n +
            "], [3], [2])\n"
            "b = Slice(turned, [1], [" +
            n + "], [3], [2])\n";
  else
    text += "a = Slice(turned, [0], [" + half +
            "], [3])\n"
            "b = Slice(turned, [" +
            half + "], [" + n + "], [3])\n";
  text += "ca = Mul(c, a)\nsb = Mul(s, b)\nsa = Mul(s, a)\ncb = Mul(c, b)\n"
          "real = Sub(ca, sb)\nimaginary = Add(sa, cb)\n";
  if (interleaved)
    text += "r = Unsqueeze(real, [4])\ni = Unsqueeze(imaginary, [4])\n"
            "pairs = Concat<axis = 4>(r, i)\nshape = Shape(turned)\n"
            "whole = Reshape(pairs, shape)\n";
  else
    text += "whole = Concat<axis = 3>(real, imaginary)\n";
  if (turned < size)
    text += "rest = Slice(x, [" + n + "], [" + std::to_string(size) +
            "], [3])\nall = Concat<axis = 3>(whole, rest)\n";
  else
    text += "all = Identity(whole)\n";
  if (x.rank() == 3)
    text += "moved = Transpose<perm = [0, 2, 1, 3]>(all)\n"
            "form = Shape(original)\ny = Reshape(moved, form)\n";
  else
    text += "y = Identity(all)\n";
  return node.expand(text,
                     {{"x", &*split},
                      {"original", &x},
                      {"cosines", &cosines},
                      {"sines", &sines},
                      {"places", node.has(3) ? &node.input(3) : nullptr}},
                     {"y"});
}

LogicalResult importSwiGLU(Node &node) {
  std::string alpha = std::to_string(node.real("alpha", 1.0f));
  return node.expand("gate = Swish<alpha = " + alpha +
                         ">(a)\ny = Mul(gate, b)\n",
                     {{"a", &node.input(0)}, {"b", &node.input(1)}}, {"y"});
}

/// A depthwise convolution over the past and the present.
LogicalResult importCausalConvWithState(Node &node) {
  std::string activation = node.text("activation", "none");
  const Tensor &x = node.input(0), &weights = node.input(1);
  if (x.rank() != 3 || weights.rank() != 3)
    return node.error("an input of " + str(x.shape) + " and weights of " +
                      str(weights.shape) + "; expected 3 dimensions");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return node.error("attribute 'activation' is " + quote(activation) +
                      "; expected none, silu or swish");
  std::string past = std::to_string(weights.shape[2].count - 1);
  std::string text;
  if (node.has(3))
    text = "padded = Concat<axis = 2>(past, x)\n";
  else
    text = "padded = Pad(x, [0, 0, " + past + ", 0, 0, 0])\n";
  text += "sums = Conv<group = " + std::to_string(x.shape[1].count) +
          ">(padded, weights, " + (node.has(2) ? "bias" : "-") + ")\n";
  text += activation == "none" ? "y = Identity(sums)\n" : "y = Swish(sums)\n";
  std::string from = std::to_string(x.shape[2].count +
                                    (node.has(3) ? node.input(3).shape[2].count
                                                 : weights.shape[2].count - 1) -
                                    (weights.shape[2].count - 1));
  text += "state = Slice(padded, [" + from + "], [1099511627777], [2])\n";
  return node.expand(text,
                     {{"x", &x},
                      {"weights", &weights},
                      {"bias", node.has(2) ? &node.input(2) : nullptr},
                      {"past", node.has(3) ? &node.input(3) : nullptr}},
                     {"y", "state"});
}

} // namespace numera::importer
