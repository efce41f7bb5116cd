//===- Ngrams.cpp - TfIdfVectorizer ---------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

namespace {
/// The n-grams of one length: their numbers in the pool, from `first` on.
struct Grams {
  int64_t length, first, count;
};

struct Pool {
  SmallVector<int64_t> items, places, offsets;
  int64_t least = 1, most = 1, skips = 0;

  std::optional<SmallVector<Grams>> split(Node &node) const;
};
} // namespace

/// The pool by the lengths of its n-grams, or nothing after an error.
std::optional<SmallVector<Grams>> Pool::split(Node &node) const {
  SmallVector<Grams> all;
  int64_t first = 0;
  for (auto [i, from] : llvm::enumerate(offsets)) {
    int64_t length = int64_t(i) + 1, end = int64_t(items.size());
    if (i + 1 < offsets.size())
      end = offsets[i + 1];
    if (from < 0 || from > end || end > int64_t(items.size()) ||
        (end - from) % length != 0 || (i == 0 && from != 0)) {
      (void)node.error("attribute 'ngram_counts' does not divide a pool of " +
                       Twine(items.size()) + " items");
      return std::nullopt;
    }
    all.push_back({length, first, (end - from) / length});
    first += all.back().count;
  }
  if (first != int64_t(places.size())) {
    (void)node.error(Twine(places.size()) + " places in 'ngram_indexes' for " +
                     Twine(first) + " n-grams");
    return std::nullopt;
  }
  return all;
}

/// How often each row has each n-gram of one length: rows x n-grams, of INT64.
static Tensor countGrams(Node &node, const Tensor &rows, const Pool &pool,
                         const Grams &grams) {
  Emitter &emit = node.emit;
  Type i64 = emit.b.getI64Type();
  int64_t n = grams.length, size = rows.shape[1].count;
  ArrayRef<int64_t> items =
      ArrayRef(pool.items)
          .slice(size_t(pool.offsets[n - 1]), size_t(n * grams.count));
  Tensor table = Tensor::ofInts(items);
  table = emit.reshape(table, fixedShape({grams.count, n}));
  Value wanted = emit.value(table), source = emit.value(rows);
  // Single items are next to each other however many are skipped.
  int64_t skips = n == 1 ? 1 : pool.skips + 1;
  return emit.generateReduced(
      {rows.shape[0], Dim::fixed(grams.count)}, {skips, size},
      emit.b.getI64IntegerAttr(0), type::Int64,
      [&](LocBuilder &b, ValueRange at) -> Value {
        Value isHere = constant(b, b.getI1Type(), 1);
        Value step = add(b, at[2], index(b, 1));
        for (int64_t k = 0; k < n; ++k) {
          Value place = add(b, at[3], mul(b, index(b, k), step));
          Value within = clampIndex(b, place, index(b, size));
          Value item = convert(b, Emitter::at(b, source, {at[0], within}),
                               rows.dataType, type::Int64);
          Value isSame = compare(b, Order::Equal, item,
                                 Emitter::at(b, wanted, {at[1], index(b, k)}));
          isHere =
              both(b, isHere,
                   both(b, isSame, compare(b, Order::Equal, place, within)));
        }
        return add(b, at.back(), arith::ExtUIOp::create(b, i64, isHere));
      });
}

LogicalResult importTfIdfVectorizer(Node &node) {
  std::string mode = node.text("mode", "");
  Pool pool;
  pool.least = node.integer("min_gram_length", 1);
  pool.most = node.integer("max_gram_length", 1);
  pool.skips = node.integer("max_skip_count", 0);
  auto items = node.integers("pool_int64s"),
       places = node.integers("ngram_indexes"),
       offsets = node.integers("ngram_counts");
  auto weights = node.reals("weights");
  if (node.failed() || failed(node.checkInteger(0)))
    return failure();
  if (!items || !places || !offsets || places->empty())
    return node.error("expected 'pool_int64s', 'ngram_indexes' and "
                      "'ngram_counts'");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return node.error("attribute 'mode' is " + quote(mode) +
                      "; expected 'TF', 'IDF' or 'TFIDF'");
  const Tensor &x = node.input(0);
  if (x.rank() < 1 || x.rank() > 2 || x.shape.back().isDynamic() ||
      pool.least < 1 || pool.most < pool.least || pool.skips < 0 ||
      pool.skips > kMaxFolded)
    return node.error("n-grams of " + Twine(pool.least) + " to " +
                      Twine(pool.most) + " items with " + Twine(pool.skips) +
                      " skips in " + str(x.shape));
  pool.items = *items;
  pool.places = *places;
  pool.offsets = *offsets;
  int64_t size = 0;
  for (int64_t place : *places) {
    if (place < 0 || place >= kMaxFolded)
      return node.error("place " + Twine(place) + " in 'ngram_indexes'");
    size = std::max(size, place + 1);
  }
  if (weights && weights->size() != places->size())
    return node.error(Twine(weights->size()) + " weights for " +
                      Twine(places->size()) + " n-grams");
  auto lengths = pool.split(node);
  if (!lengths)
    return failure();
  Emitter &emit = node.emit;
  Tensor rows =
      x.rank() == 2 ? x : emit.reshape(x, {Dim::fixed(1), x.shape[0]});
  Shape shape = {rows.shape[0], Dim::fixed(size)};
  if (failed(node.checkSize(shape)))
    return failure();
  Tensor sum = emit.result(emit.filled(shape, 0.0f), shape);
  for (const Grams &grams : *lengths) {
    if (grams.count == 0 || grams.length < pool.least ||
        grams.length > pool.most || rows.shape[1].is(0))
      continue;
    Tensor counts = countGrams(node, rows, pool, grams);
    std::vector<Dim> targets;
    std::vector<float> factors;
    for (int64_t i = grams.first; i < grams.first + grams.count; ++i) {
      targets.push_back(Dim::fixed(pool.places[i]));
      factors.push_back(weights && mode != "TF" ? (*weights)[i] : 1);
    }
    Value found = emit.value(counts);
    Value target =
        emit.value(Tensor::ofInts(targets, {Dim::fixed(grams.count)}));
    Value factor =
        emit.value(Tensor::ofFloats(factors, {Dim::fixed(grams.count)}));
    Tensor part = emit.generateReduced(
        shape, {grams.count}, emit.b.getF32FloatAttr(0), type::Float,
        [&](LocBuilder &b, ValueRange at) -> Value {
          Value count = Emitter::at(b, found, {at[0], at[2]});
          if (mode == "IDF")
            count = min(b, count, constant(b, count.getType(), 1));
          Value number = convert(b, count, type::Int64, type::Float);
          number = mul(b, number, Emitter::at(b, factor, at[2]));
          Value place = toIndex(b, Emitter::at(b, target, at[2]));
          return select(b, compare(b, Order::Equal, place, at[1]),
                        add(b, at.back(), number), at.back());
        });
    sum = emit.map({&sum, &part}, shape, [](LocBuilder &b, ValueRange args) {
      return add(b, args[0], args[1]);
    });
  }
  return node.finish(x.rank() == 2 ? sum
                                   : emit.reshape(sum, {Dim::fixed(size)}));
}

} // namespace numera::importer
