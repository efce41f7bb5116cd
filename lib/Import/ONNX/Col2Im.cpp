//===- Col2Im.cpp - Sums of overlapping blocks ----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Each element of the image looks up what the blocks over it have there, and
// sums it.
//
//===----------------------------------------------------------------------===//
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
  if (!node.input(1).host && declared && declared->size() == rank + 2)
    return SmallVector<Dim>(declared->begin() + 2, declared->end());
  return node.dims(1);
}

static std::optional<SmallVector<BlockSide, 3>> readBlockSides(Node &node) {
  auto blocks = node.constants(2);
  if (!blocks)
    return std::nullopt;
  size_t rank = blocks->size();
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
  Shape shape = fixedShape(*blocks);
  if (sizes.size() != rank || rank == 0)
    return fail("an image of " + str(sizes) + " from blocks of " + str(shape) +
                "; expected equally many dimensions");
  for (Dim size : llvm::concat<Dim>(sizes, shape))
    if (size.batched || size.count < 1)
      return fail("an image of " + str(sizes) + " from blocks of " +
                  str(shape) + "; expected sizes of at least 1");
  if (failed(node.checkSize(sizes)) || failed(node.checkSize(shape)))
    return std::nullopt;
  SmallVector<BlockSide, 3> sides;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = sizes[i].count, block = (*blocks)[i];
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

LogicalResult importCol2Im(Node &node) {
  const Tensor &x = node.input(0);
  if (x.dataType == type::Bool)
    return node.error(node.inputName(0) +
                      " has elements of BOOL; expected numbers");
  if (failed(node.checkRank(0, 3)))
    return failure();
  auto sides = readBlockSides(node);
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
  if (!x.shape[2].is(places) || x.shape[1].batched ||
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

} // namespace numera::importer
