//===- Einsum.cpp - Einsum ------------------------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Operands are combined from left to right. First, a letter that is repeated in
// an operand takes the diagonal, and a letter that nothing else has is summed.
// Two operands that share letters that are not needed afterwards are multiplied
// as matrices: letters of both that stay are the batch, and each group of
// letters is one dimension. Other pairs are multiplied element by element.
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace numera::importer {

namespace {
/// A letter, or a dimension of the ellipsis: -1 is the last one.
using Labels = SmallVector<int, 4>;

/// A tensor whose dimensions have labels.
struct Labelled {
  Tensor tensor;
  Labels labels;
};

struct Einsum {
  Node &node;
  Emitter &emit;
  std::string equation;
  SmallVector<Labelled> operands;
  Labels output;
  std::map<int, Dim> sizes;
  /// All labels, in the order in which the operands have them first.
  Labels appearance;

  LogicalResult read();
  std::optional<Labels> parse(StringRef term, std::optional<int64_t> rank);
  LogicalResult readOutput(std::optional<StringRef> term);
  LogicalResult readSizes();
  void dropUnits();
  Shape shapeOf(ArrayRef<int> labels) const;
  Labelled diagonal(const Labelled &operand) const;
  Labelled summed(const Labelled &operand, ArrayRef<int> kept) const;
  Labelled ordered(const Labelled &operand, ArrayRef<int> labels) const;
  std::optional<Labelled> multiplied(const Labelled &lhs, const Labelled &rhs,
                                     ArrayRef<int> kept) const;
  LogicalResult finish();
};
} // namespace

static bool has(ArrayRef<int> labels, int label) {
  return llvm::is_contained(labels, label);
}

/// The labels of a term. The ellipsis of an operand of `rank` dimensions has
/// those that no letter names; that of the result has all there are.
std::optional<Labels> Einsum::parse(StringRef term,
                                    std::optional<int64_t> rank) {
  StringRef before = term, after;
  bool hasEllipsis = term.contains("...");
  if (hasEllipsis)
    std::tie(before, after) = term.split("...");
  for (char letter : (before + after).str())
    if (!llvm::isAlpha(letter)) {
      (void)node.error("equation " + quote(equation) + " has " +
                       quote(StringRef(&letter, 1)) + " in the term " +
                       quote(term) +
                       "; expected letters, and an ellipsis once at most");
      return std::nullopt;
    }
  int64_t letters = before.size() + after.size();
  if (rank && (hasEllipsis ? *rank < letters : *rank != letters)) {
    (void)node.error("term " + quote(term) + " of equation " + quote(equation) +
                     " is for a tensor of another rank; its operand has " +
                     Twine(*rank) +
                     (*rank == 1 ? " dimension" : " dimensions"));
    return std::nullopt;
  }
  int ellipsis = 0;
  if (hasEllipsis && rank)
    ellipsis = int(*rank - letters);
  else if (hasEllipsis && !sizes.empty())
    ellipsis = std::max(0, -sizes.begin()->first);
  Labels labels(before.begin(), before.end());
  for (int i = -ellipsis; i < 0; ++i)
    labels.push_back(i);
  labels.append(after.begin(), after.end());
  return labels;
}

static std::string letterName(int label) {
  return label < 0 ? "the ellipsis"
                   : "letter " + quote(StringRef(std::string(1, char(label))));
}

/// The size of each label. A dimension of size 1 fits any other, but not within
/// one operand.
LogicalResult Einsum::readSizes() {
  auto differ = [&](int label, Dim lhs, Dim rhs) {
    return node.error(letterName(label) + " of equation " + quote(equation) +
                      " has the sizes " + str({lhs}) + " and " + str({rhs}) +
                      "; expected one");
  };
  for (const Labelled &operand : operands) {
    std::map<int, Dim> own;
    for (auto [dim, label] :
         llvm::zip_equal(operand.tensor.shape, operand.labels)) {
      Dim before = own.try_emplace(label, dim).first->second;
      if (before != dim)
        return differ(label, before, dim);
      auto [known, isNew] = sizes.try_emplace(label, dim);
      if (!isNew && known->second.is(1))
        known->second = dim;
      else if (!isNew && known->second != dim && !dim.is(1))
        return differ(label, known->second, dim);
    }
  }
  return success();
}

/// A dimension of size 1 that stands for another size loses its label.
void Einsum::dropUnits() {
  for (Labelled &operand : operands) {
    Shape shape;
    Labels labels;
    for (auto [dim, label] :
         llvm::zip_equal(operand.tensor.shape, operand.labels))
      if (dim == sizes[label]) {
        shape.push_back(dim);
        labels.push_back(label);
        if (!has(appearance, label))
          appearance.push_back(label);
      }
    operand.tensor = emit.reshape(operand.tensor, shape);
    operand.labels = labels;
  }
}

LogicalResult Einsum::readOutput(std::optional<StringRef> term) {
  if (!term) {
    // The ellipsis, then letters that occur once, in the order of ASCII.
    for (auto [label, size] : sizes) {
      int count = 0;
      for (const Labelled &operand : operands)
        count += llvm::count(operand.labels, label);
      if (label < 0 || count == 1)
        output.push_back(label);
    }
    return success();
  }
  std::optional<Labels> labels = parse(*term, std::nullopt);
  if (!labels)
    return failure();
  output = *labels;
  for (auto [i, label] : llvm::enumerate(output)) {
    if (!sizes.count(label))
      return node.error(letterName(label) + " of the result of equation " +
                        quote(equation) + " is in no operand");
    if (has(ArrayRef(output).take_front(i), label))
      return node.error(letterName(label) +
                        " is repeated in the result of "
                        "equation " +
                        quote(equation));
  }
  if (!sizes.empty() && sizes.begin()->first < 0 && !term->contains("..."))
    return node.error("the result of equation " + quote(equation) +
                      " has no ellipsis; expected that of the operands");
  return success();
}

LogicalResult Einsum::read() {
  equation = node.text("equation", "");
  if (node.failed())
    return failure();
  if (!node.hasAttribute("equation"))
    return node.error("attribute 'equation' is missing");
  std::string text;
  for (char letter : equation)
    if (letter != ' ')
      text += letter;
  StringRef left = text;
  std::optional<StringRef> right;
  if (size_t arrow = left.find("->"); arrow != StringRef::npos) {
    right = left.substr(arrow + 2);
    left = left.take_front(arrow);
  }
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != node.numInputs())
    return node.error("equation " + quote(equation) + " has " +
                      Twine(terms.size()) +
                      (terms.size() == 1 ? " term" : " terms") +
                      "; expected one for each of the " +
                      Twine(node.numInputs()) + " inputs");
  for (auto [i, term] : llvm::enumerate(terms)) {
    const Tensor &tensor = node.input(i);
    if (tensor.dataType == type::Bool)
      return node.error(node.inputName(i) +
                        " has elements of BOOL; expected numbers");
    if (tensor.dataType != node.input(0).dataType)
      return node.error("multiplies " + dataTypeName(node.input(0).dataType) +
                        " and " + dataTypeName(tensor.dataType) +
                        "; expected one type");
    std::optional<Labels> labels = parse(term, tensor.rank());
    if (!labels)
      return failure();
    operands.push_back({tensor, *labels});
  }
  if (failed(readSizes()) || failed(readOutput(right)))
    return failure();
  dropUnits();
  return success();
}

Shape Einsum::shapeOf(ArrayRef<int> labels) const {
  Shape shape;
  for (int label : labels)
    shape.push_back(sizes.at(label));
  return shape;
}

Labelled Einsum::diagonal(const Labelled &operand) const {
  Labels labels;
  for (int label : operand.labels)
    if (!has(labels, label))
      labels.push_back(label);
  if (labels.size() == operand.labels.size())
    return operand;
  Value source = emit.value(operand.tensor);
  Tensor taken = emit.generate(
      shapeOf(labels), operand.tensor.dataType,
      [&](LocBuilder &b, ValueRange at) {
        SmallVector<Value> from;
        for (int label : operand.labels)
          from.push_back(at[llvm::find(labels, label) - labels.begin()]);
        return Emitter::at(b, source, from);
      });
  return {taken, labels};
}

/// Without the labels that are not in `kept`.
Labelled Einsum::summed(const Labelled &operand, ArrayRef<int> kept) const {
  SmallVector<bool> reduced;
  Labels labels;
  for (int label : operand.labels) {
    reduced.push_back(!has(kept, label));
    if (has(kept, label))
      labels.push_back(label);
  }
  if (labels.size() == operand.labels.size())
    return operand;
  return {emit.sum(operand.tensor, reduced), labels};
}

/// With the dimensions in the order of `labels`, which are its own.
Labelled Einsum::ordered(const Labelled &operand, ArrayRef<int> labels) const {
  if (ArrayRef(operand.labels) == labels)
    return operand;
  SmallVector<int64_t> order;
  for (int label : labels)
    order.push_back(llvm::find(operand.labels, label) - operand.labels.begin());
  return {emit.transpose(operand.tensor, order), Labels(labels)};
}

static Labels joined(ArrayRef<Labels> lists) {
  Labels all;
  for (const Labels &list : lists)
    all.append(list);
  return all;
}

/// The product of two operands, summed over the labels that are in both and not
/// in `kept`.
std::optional<Labelled> Einsum::multiplied(const Labelled &lhs,
                                           const Labelled &rhs,
                                           ArrayRef<int> kept) const {
  Labels batch, rows, columns, inner;
  for (int label : lhs.labels)
    if (!has(rhs.labels, label))
      rows.push_back(label);
    else if (has(kept, label))
      batch.push_back(label);
  for (int label : appearance)
    if (has(lhs.labels, label) && has(rhs.labels, label) && !has(kept, label))
      inner.push_back(label);
  for (int label : rhs.labels)
    if (!has(lhs.labels, label))
      columns.push_back(label);
  Labels result = joined({batch, rows, columns});
  Shape shape = shapeOf(result);
  if (failed(node.checkSize(shape)))
    return std::nullopt;
  if (inner.empty()) {
    auto axes = [&](const Labelled &operand) {
      Operand placed{&operand.tensor, {}};
      for (int label : operand.labels)
        placed.axes.push_back(llvm::find(result, label) - result.begin());
      return placed;
    };
    Tensor product = emit.mapAlong({axes(lhs), axes(rhs)}, shape,
                                   [](LocBuilder &b, ValueRange args) {
                                     return mul(b, args[0], args[1]);
                                   });
    return Labelled{product, result};
  }
  // Each group of labels as one dimension.
  auto flat = [&](const Labelled &operand, const Labels &first,
                  const Labels &second) {
    Shape matrix;
    if (!batch.empty())
      matrix.push_back(product(shapeOf(batch)));
    matrix.push_back(product(shapeOf(first)));
    matrix.push_back(product(shapeOf(second)));
    return emit.reshape(ordered(operand, joined({batch, first, second})).tensor,
                        matrix);
  };
  std::optional<Tensor> sums =
      matmul(node, flat(lhs, rows, inner), flat(rhs, inner, columns));
  if (!sums)
    return std::nullopt;
  return Labelled{emit.reshape(*sums, shape), result};
}

LogicalResult Einsum::finish() {
  // What the operands from i on and the result need.
  auto needed = [&](size_t i) {
    Labels labels = output;
    for (const Labelled &operand : ArrayRef(operands).drop_front(i))
      labels.append(operand.labels);
    return labels;
  };
  Labelled current = diagonal(operands.front());
  current = summed(current, needed(1));
  for (size_t i = 1; i < operands.size(); ++i) {
    Labels kept = needed(i + 1);
    Labels shared = kept;
    shared.append(current.labels);
    Labelled next = summed(diagonal(operands[i]), shared);
    std::optional<Labelled> product = multiplied(current, next, kept);
    if (!product)
      return failure();
    current = *product;
  }
  return node.finish(ordered(current, output).tensor);
}

LogicalResult importEinsum(Node &node) {
  Einsum einsum{node, node.emit, {}, {}, {}, {}, {}};
  if (failed(einsum.read()))
    return failure();
  return einsum.finish();
}

} // namespace numera::importer
