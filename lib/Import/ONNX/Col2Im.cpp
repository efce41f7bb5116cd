//===- Col2Im.cpp - Sums of overlapping blocks ----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Each element of the image looks up what the blocks over it have there, and
// sums it.
//
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "Scalar.h"
#include "Window.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

namespace {
/// A dimension of the image, of the blocks, and how many blocks there are.
struct BlockSide {
  int64_t image, block, stride, dilation, pad, count;
};
} // namespace

/// The sizes of the image: those of input 1, else those that are declared.
static std::optional<SmallVector<Dim>> assembledSizes(Node &node, size_t rank) {
  std::optional<Shape> declared = node.declared(0);
  if (!node.input(1).host && declared && declared->size() == rank + 2) {
    if (failed(requireSizes(node, 1, ArrayRef(*declared).drop_front(2))))
      return std::nullopt;
    return SmallVector<Dim>(declared->begin() + 2, declared->end());
  }
  return node.dims(1);
}

static std::optional<SmallVector<BlockSide, 3>>
readBlockSides(Node &node, ArrayRef<int64_t> blocks) {
  size_t rank = blocks.size();
  auto image = assembledSizes(node, rank);
  SmallVector<int64_t> strides, dilations, pads;
  if (!image || failed(readList(node, "strides", rank, 1, 1, strides)) ||
      failed(readList(node, "dilations", rank, 1, 1, dilations)) ||
      failed(readPads(node, rank, "NOTSET", pads)))
    return std::nullopt;
  auto fail = [&](const Twine &message) {
    (void)node.error(message);
    return std::nullopt;
  };
  Shape sizes(image->begin(), image->end());
  Shape shape = fixedShape(blocks);
  if (sizes.size() != rank || rank == 0)
    return fail("an image of " + str(sizes) + " from blocks of " + str(shape) +
                "; expected equally many dimensions");
  for (Dim size : llvm::concat<Dim>(sizes, shape))
    if (size.isDynamic() || size.count < 1)
      return fail("an image of " + str(sizes) + " from blocks of " +
                  str(shape) + "; expected sizes of at least 1");
  if (failed(node.checkSize(sizes)) || failed(node.checkSize(shape)))
    return std::nullopt;
  SmallVector<BlockSide, 3> sides;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = sizes[i].count, block = blocks[i];
    if (block > (int64_t(1) << 31))
      return fail("blocks of " + str(shape) + "; expected at most 2^31");
    int64_t room =
        size + pads[i] + pads[rank + i] - (block - 1) * dilations[i] - 1;
    if (room < 0)
      return fail("blocks of " + str(shape) + " in an image of " + str(sizes) +
                  "; expected blocks that fit");
    sides.push_back({size, block, strides[i], dilations[i], pads[i],
                     room / strides[i] + 1});
  }
  return sides;
}

/// The image from blocks of known sizes.
static LogicalResult assemble(Node &node, ArrayRef<int64_t> given) {
  const Tensor &x = node.input(0);
  auto sides = readBlockSides(node, given);
  if (!sides)
    return failure();
  Shape blocks, counts, image;
  for (const BlockSide &side : *sides) {
    blocks.push_back(Dim::fixed(side.block));
    counts.push_back(Dim::fixed(side.count));
    image.push_back(Dim::fixed(side.image));
  }
  if (failed(node.checkSize(blocks)) || failed(node.checkSize(counts)))
    return failure();
  int64_t taps = product(blocks).count, places = product(counts).count;
  if (!x.shape[2].is(places) || x.shape[1].isDynamic() ||
      x.shape[1].count % taps != 0)
    return node.error(node.inputName(0) + " has shape " + str(x.shape) +
                      "; expected batch, a multiple of " + Twine(taps) +
                      " and " + Twine(places));
  Shape shape = {x.shape[0], Dim::fixed(x.shape[1].count / taps)};
  llvm::append_range(shape, image);
  Shape all = shape;
  llvm::append_range(all, blocks);
  if (failed(node.checkSize(all)))
    return failure();
  Emitter &emit = node.emit;
  Value source = emit.value(x);
  size_t rank = sides->size();
  Tensor terms =
      emit.generate(all, x.dataType, [&](LocBuilder &b, ValueRange at) {
        Value tap = index(b, 0), place = index(b, 0);
        Value isThere = constant(b, b.getI1Type(), 1);
        for (auto [i, side] : llvm::enumerate(*sides)) {
          Value t = at[2 + rank + i];
          tap = add(b, mul(b, tap, index(b, side.block)), t);
          // The element is at tap t of the block that begins at `start`.
          Value start = sub(b, add(b, at[2 + i], index(b, side.pad)),
                            mul(b, t, index(b, side.dilation)));
          Value stride = index(b, side.stride), count = index(b, side.count);
          Value zero = index(b, 0), which = div(b, start, stride);
          isThere =
              both(b, isThere, compare(b, Order::LessOrEqual, zero, start));
          isThere = both(b, isThere,
                         compare(b, Order::Equal, rem(b, start, stride), zero));
          isThere = both(b, isThere, compare(b, Order::Less, which, count));
          place = add(b, mul(b, place, count), clampIndex(b, which, count));
        }
        Value row = add(b, mul(b, at[1], index(b, taps)), tap);
        Value element = Emitter::at(b, source, {at[0], row, place});
        return select(b, isThere, element, constant(b, element.getType(), 0));
      });
  SmallVector<bool> summed(2 + rank, false);
  summed.append(rank, true);
  return node.finish(emit.sum(terms, summed));
}

/// How many blocks of these sizes are in the declared image; -1 where they do
/// not fit.
static int64_t blockCount(Node &node, ArrayRef<int64_t> sizes,
                          const Shape &declared) {
  size_t rank = sizes.size();
  SmallVector<int64_t> strides, dilations, pads;
  if (failed(readList(node, "strides", rank, 1, 1, strides)) ||
      failed(readList(node, "dilations", rank, 1, 1, dilations)) ||
      failed(readPads(node, rank, "NOTSET", pads)))
    return -1;
  int64_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    int64_t room = declared[2 + i].count + pads[i] + pads[rank + i] -
                   (sizes[i] - 1) * dilations[i] - 1;
    if (room < 0 || declared[2 + i].isDynamic())
      return -1;
    count *= room / strides[i] + 1;
    if (count > kMaxElements)
      return -1;
  }
  return count;
}

/// The sizes of blocks, which are computed, as far as the shapes leave a
/// choice.
static std::optional<SmallVector<SmallVector<int64_t>>>
possibleBlocks(Node &node) {
  const Shape &x = node.input(0).shape;
  std::optional<Shape> declared = node.declared(0);
  const Shape &list = node.input(2).shape;
  constexpr size_t most = 16;
  if (!declared || declared->size() < 3 || list.size() != 1 ||
      !list[0].is(int64_t(declared->size()) - 2) || x[1].isDynamic() ||
      (*declared)[1].count < 1 || x[1].count % (*declared)[1].count != 0) {
    (void)node.constants(2);
    return std::nullopt;
  }
  int64_t taps = x[1].count / (*declared)[1].count;
  size_t rank = declared->size() - 2;
  // All factorisations, then those that have as many blocks.
  SmallVector<SmallVector<int64_t>> all = {{}};
  for (size_t i = 0; i < rank; ++i) {
    SmallVector<SmallVector<int64_t>> longer;
    for (const auto &sizes : all) {
      int64_t left = taps;
      for (int64_t size : sizes)
        left /= size;
      for (int64_t size = 1; size <= std::min<int64_t>(left, 1 << 16); ++size)
        if (left % size == 0 && (i + 1 < rank || size == left)) {
          longer.push_back(sizes);
          longer.back().push_back(size);
        }
      if (longer.size() > 4096)
        return (void)node.constants(2), std::nullopt;
    }
    all = longer;
  }
  SmallVector<SmallVector<int64_t>> fitting;
  for (const auto &sizes : all)
    if (blockCount(node, sizes, *declared) == x[2].count)
      fitting.push_back(sizes);
  if (fitting.empty() || fitting.size() > most) {
    (void)node.error(Twine(fitting.size()) + " sizes of blocks fit " + str(x) +
                     " and the declared " + str(*declared) +
                     "; expected 1 to " + Twine(most));
    return std::nullopt;
  }
  return fitting;
}

LogicalResult importCol2Im(Node &node) {
  const Tensor &x = node.input(0);
  if (x.dataType == type::Bool)
    return node.error(node.inputName(0) +
                      " has elements of BOOL; expected numbers");
  if (failed(node.checkRank(0, 3)))
    return failure();
  if (node.input(2).host) {
    auto blocks = node.constants(2);
    return blocks ? assemble(node, *blocks) : failure();
  }
  auto choices = possibleBlocks(node);
  if (!choices)
    return failure();
  List given(node, 2);
  LocBuilder &b = node.emit.b;
  Value isAny = constant(b, b.getI1Type(), 0);
  std::optional<Tensor> result;
  for (const auto &sizes : *choices) {
    Value isThis = constant(b, b.getI1Type(), 1);
    for (auto [i, size] : llvm::enumerate(sizes))
      isThis = both(
          b, isThis,
          compare(b, Order::Equal, given.index(b, int64_t(i)), index(b, size)));
    isAny = either(b, isAny, isThis);
    if (failed(assemble(node, sizes)))
      return failure();
    Tensor one = node.results.pop_back_val();
    result = !result
                 ? one
                 : node.emit.map({&one, &*result}, one.shape,
                                 [&](LocBuilder &b, ValueRange args) {
                                   return select(b, isThis, args[0], args[1]);
                                 });
  }
  require(node, isAny, "has blocks that do not give the declared shape");
  return node.finish(*result);
}

} // namespace numera::importer
