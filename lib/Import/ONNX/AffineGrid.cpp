//===- AffineGrid.cpp - Points of an image under affine maps --------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// The points of an image are a constant matrix, and the grid is its product
// with the matrices of the maps.
//
//===----------------------------------------------------------------------===//
#include "List.h"
#include "Operators.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

/// The sizes of the image: those that input 1 lists, else those that the model
/// declares for the grid.
static std::optional<SmallVector<int64_t>> gridSizes(Node &node,
                                                     int64_t dimensions) {
  const Shape &theta = node.input(0).shape;
  Shape sizes;
  std::optional<Shape> declared = node.declared(0);
  if (!node.input(1).host && declared &&
      int64_t(declared->size()) == dimensions + 2) {
    sizes.assign(declared->begin() + 1, declared->end() - 1);
    // The number of channels does not matter.
    List list(node, 1);
    if (node.failed())
      return std::nullopt;
    if (list.size() != dimensions + 2) {
      (void)node.error(Twine(list.size()) + " sizes in " + node.inputName(1) +
                       "; expected batch, channels and " + Twine(dimensions) +
                       " sizes");
      return std::nullopt;
    }
    requireSize(node, list.index(node.emit.b, 0), theta[0]);
    for (auto [i, size] : llvm::enumerate(sizes))
      requireSize(node, list.index(node.emit.b, int64_t(i) + 2), size);
  } else {
    std::optional<SmallVector<Dim>> list = node.dims(1);
    if (!list)
      return std::nullopt;
    if (int64_t(list->size()) != dimensions + 2 || list->front() != theta[0]) {
      (void)node.error("size " + str(*list) + " with theta of " + str(theta) +
                       "; expected batch, channels and " + Twine(dimensions) +
                       " sizes");
      return std::nullopt;
    }
    sizes.assign(list->begin() + 2, list->end());
  }
  for (Dim size : sizes)
    if (size.isDynamic() || size.count < 1) {
      (void)node.error("an image of " + str(sizes) +
                       "; expected sizes of at least 1");
      return std::nullopt;
    }
  if (failed(node.checkFoldable(sizes)))
    return std::nullopt;
  return llvm::map_to_vector(sizes, [](Dim size) { return size.count; });
}

/// Place i of `size` between -1 and 1, rounded once.
static double gridPlace(int64_t i, int64_t size, bool alignsCorners) {
  if (!alignsCorners)
    return double(2 * i + 1 - size) / double(size);
  return size == 1 ? 0 : double(2 * i + 1 - size) / double(size - 1);
}

LogicalResult importAffineGrid(Node &node) {
  bool alignsCorners = node.integer("align_corners", 0);
  if (node.failed() || failed(node.checkFloat(0)) ||
      failed(node.checkRank(0, 3)))
    return failure();
  const Tensor &theta = node.input(0);
  int64_t dimensions = theta.shape[1].count;
  if (!(theta.shape[1].is(2) && theta.shape[2].is(3)) &&
      !(theta.shape[1].is(3) && theta.shape[2].is(4)))
    return node.error("theta of " + str(theta.shape) +
                      "; expected batch x 2 x 3 or batch x 3 x 4");
  auto sizes = gridSizes(node, dimensions);
  if (!sizes)
    return failure();
  int64_t count = product(fixedShape(*sizes)).count;
  Shape table = {Dim::fixed(count), Dim::fixed(dimensions + 1)};
  if (failed(node.checkFoldable(table)))
    return failure();
  // A row has the place in the last dimension first, and then 1.
  SmallVector<int64_t> strides = stridesOf(fixedShape(*sizes));
  std::vector<double> points;
  points.reserve(count * (dimensions + 1));
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t i = dimensions; i-- > 0;)
      points.push_back(gridPlace(row / strides[i] % (*sizes)[i], (*sizes)[i],
                                 alignsCorners));
    points.push_back(1);
  }
  Tensor matrix = theta.isDouble()
                      ? Tensor::ofDoubles(std::move(points), table)
                      : Tensor::ofFloats({points.begin(), points.end()}, table);
  auto grid = node.compute("maps = Transpose<perm = [0, 2, 1]>(theta)\n"
                           "grid = MatMul(points, maps)\n",
                           {{"theta", &theta}, {"points", &matrix}}, {"grid"});
  if (!grid)
    return failure();
  Shape shape = {theta.shape[0]};
  llvm::append_range(shape, fixedShape(*sizes));
  shape.push_back(theta.shape[1]);
  return node.finish(node.emit.reshape(grid->front(), shape));
}

} // namespace numera::importer
