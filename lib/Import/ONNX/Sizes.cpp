//===- Sizes.cpp - Sizes that are known when the function runs ------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A decoder's cache grows: what it returns is as long as the past and the new
// positions together. Such a sum is a size of its own, the same one wherever
// the same sizes are added. Sizes that the model says nothing of, as that of an
// attention mask, are equal to others where an operator needs it; the program
// checks that.
//
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace numera::importer {

/// Adds `times` of a term; false where numbers overflow.
static bool addTerm(Shape &terms, Dim term, int64_t times) {
  int64_t count;
  if (llvm::MulOverflow(term.count, times, count))
    return false;
  Dim *same = llvm::find_if(
      terms, [&](Dim other) { return other.sizes == term.sizes; });
  if (same == terms.end()) {
    terms.push_back({count, term.sizes});
    return true;
  }
  return !llvm::AddOverflow(same->count, count, same->count);
}

std::optional<Dim> Emitter::sum(Dim lhs, Dim rhs, int64_t times) {
  Shape terms;
  auto addAll = [&](Dim dim, int64_t times) {
    auto factors = dim.factors();
    if (factors.size() != 1 || dynamicSizes[factors[0] - 1].terms.empty())
      return addTerm(terms, dim, times);
    if (llvm::MulOverflow(dim.count, times, times))
      return false;
    return llvm::all_of(dynamicSizes[factors[0] - 1].terms,
                        [&](Dim term) { return addTerm(terms, term, times); });
  };
  if (!addAll(lhs, 1) || !addAll(rhs, times))
    return std::nullopt;
  llvm::erase_if(terms, [](Dim term) { return term.count == 0; });
  // What may be negative is no size.
  if (terms.size() > 1 &&
      llvm::any_of(terms, [](Dim term) { return term.count < 0; }))
    return std::nullopt;
  if (terms.size() <= 1)
    return terms.empty() ? Dim::fixed(0) : terms.front();
  llvm::sort(terms, [](Dim a, Dim b) { return a.sizes < b.sizes; });
  for (auto [i, size] : llvm::enumerate(dynamicSizes))
    if (size.terms == terms)
      return Dim::dynamic(unsigned(i + 1));
  Dim dim = addSize();
  dynamicSizes.back().terms = std::move(terms);
  return dim;
}

bool Emitter::isSum(Dim dim) const {
  auto factors = dim.factors();
  return factors.size() == 1 && !dynamicSizes[factors[0] - 1].terms.empty();
}

/// Which of two equal sizes shapes go on with: one that is known, else the sum,
/// whose terms may be subtracted again.
static Dim preferred(const Emitter &emit, Dim lhs, Dim rhs) {
  if (!lhs.isDynamic() || !rhs.isDynamic())
    return lhs.isDynamic() ? rhs : lhs;
  if (emit.isSum(lhs) != emit.isSum(rhs))
    return emit.isSum(lhs) ? lhs : rhs;
  return lhs.sizes < rhs.sizes ? lhs : rhs;
}

std::optional<Dim> requireSame(Node &node, Dim lhs, Dim rhs) {
  if (lhs == rhs)
    return lhs;
  if (!lhs.isDynamic() && !rhs.isDynamic())
    return std::nullopt;
  Emitter &emit = node.emit;
  Value same =
      compare(emit.b, Order::Equal, emit.extent(lhs), emit.extent(rhs));
  require(node, same, "has inputs whose sizes are not the same");
  return preferred(emit, lhs, rhs);
}

std::optional<Shape> broadcast(Node &node, ArrayRef<Dim> lhs,
                               ArrayRef<Dim> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  Shape shape(lhs);
  auto tail = MutableArrayRef<Dim>(shape).take_back(rhs.size());
  for (auto [out, dim] : llvm::zip_equal(tail, rhs)) {
    if (out.is(1) || dim.is(1)) {
      out = out.is(1) ? dim : out;
      continue;
    }
    std::optional<Dim> same = requireSame(node, out, dim);
    if (!same)
      return std::nullopt;
    out = *same;
  }
  return shape;
}

} // namespace numera::importer
