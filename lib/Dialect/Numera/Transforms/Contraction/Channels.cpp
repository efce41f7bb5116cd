// SPDX-License-Identifier: MIT

#include "Channels.h"
#include "ContractionLoops.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"

using namespace mlir;

namespace numera {

ElementsAttr Channels::move(ElementsAttr elements) const {
  auto type = cast<RankedTensorType>(elements.getShapedType());
  RankedTensorType moved = move(type);
  ArrayRef<char> bytes = rawElements(elements);
  if (bytes.empty() || !type.getElementType().isIntOrFloat())
    return {};
  if (auto dense = dyn_cast<DenseElementsAttr>(elements);
      dense && dense.isSplat())
    return dense.resizeSplat(moved);
  if (type.getElementTypeBitWidth() % 8 != 0)
    return {};
  size_t size = bytes.size() / size_t(type.getNumElements());
  SmallVector<int64_t> dimensions = order(size_t(type.getRank()));
  SmallVector<int64_t> from = computeStrides(type.getShape());
  SmallVector<int64_t> to = computeStrides(moved.getShape());
  std::shared_ptr<char> result = SharedElements::allocate(bytes.size());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    int64_t place = 0, rest = i;
    for (auto [dimension, stride] : llvm::zip_equal(dimensions, to)) {
      place += rest / stride * from[size_t(dimension)];
      rest %= stride;
    }
    std::memcpy(result.get() + size_t(i) * size,
                bytes.data() + size_t(place) * size, size);
  }
  if (!SharedElements::find(elements))
    return DenseElementsAttr::getFromRawBuffer(moved,
                                               {result.get(), bytes.size()});
  return SharedElements::of(type.getContext()).create(moved, result);
}

std::optional<SmallVector<unsigned>> loopsOf(AffineMap map, Channels channels) {
  SmallVector<unsigned> loops;
  for (AffineExpr expr :
       map.getResults().slice(channels.first, channels.count)) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return std::nullopt;
    loops.push_back(loop.getPosition());
  }
  return loops;
}

std::optional<Channels> rangeOf(AffineMap map, ArrayRef<unsigned> loops) {
  unsigned first = 0, count = 0;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || !llvm::is_contained(loops, loop.getPosition()))
      continue;
    if (count > 0 && first + count != i)
      return std::nullopt;
    first = count > 0 ? first : unsigned(i);
    ++count;
  }
  return count > 0 ? std::optional(Channels{first, count}) : std::nullopt;
}

std::pair<SmallVector<ReassociationIndices>, Channels>
moveGroups(ArrayRef<ReassociationIndices> groups, Channels smaller) {
  unsigned first = 0, count = 0;
  for (auto [i, group] : llvm::enumerate(groups)) {
    if (i < smaller.first)
      first += unsigned(group.size());
    else if (smaller.contains(unsigned(i)))
      count += unsigned(group.size());
  }
  SmallVector<ReassociationIndices> moved;
  int64_t next = 0;
  for (int64_t i : smaller.order(groups.size())) {
    ReassociationIndices group;
    for (size_t k = 0; k < groups[size_t(i)].size(); ++k)
      group.push_back(next++);
    moved.push_back(group);
  }
  return {moved, Channels{first, count}};
}

Value inWrittenOrder(OpBuilder &builder, Location loc, Value moved,
                     Channels channels, RankedTensorType type) {
  SmallVector<int64_t> order = channels.order(size_t(type.getRank()));
  // Where only dimensions of 1 move, nothing does: they are joined to others,
  // and come out of these elsewhere.
  SmallVector<int64_t> moving;
  for (int64_t dimension : order)
    if (type.getDimSize(dimension) != 1)
      moving.push_back(dimension);
  if (!moving.empty() && llvm::is_sorted(moving)) {
    auto grouped = [&](ArrayRef<int64_t> dimensions) {
      SmallVector<ReassociationIndices> groups(1);
      for (auto [i, dimension] : llvm::enumerate(dimensions)) {
        bool isNext = type.getDimSize(dimension) != 1;
        if (isNext && dimension != moving.front())
          groups.emplace_back();
        groups.back().push_back(int64_t(i));
      }
      return groups;
    };
    Value joined =
        tensor::CollapseShapeOp::create(builder, loc, moved, grouped(order));
    SmallVector<int64_t> written =
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    SmallVector<OpFoldResult> known =
        tensor::getMixedSizes(builder, loc, joined);
    SmallVector<OpFoldResult> sizes(written.size(), builder.getIndexAttr(1));
    for (auto [dimension, size] : llvm::zip_equal(moving, known))
      sizes[size_t(dimension)] = size;
    return tensor::ExpandShapeOp::create(builder, loc, type, joined,
                                         grouped(written), sizes);
  }
  SmallVector<int64_t> back(order.size());
  for (auto [i, dimension] : llvm::enumerate(order))
    back[size_t(dimension)] = int64_t(i);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, moved),
                            written;
  for (int64_t place : back)
    written.push_back(sizes[size_t(place)]);
  Value init =
      tensor::EmptyOp::create(builder, loc, written, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, moved, init, back)
      ->getResult(0);
}

/// True if a factor is read through a window.
static bool hasWindow(AffineMap map) {
  return llvm::any_of(map.getResults(), [](AffineExpr expr) {
    return expr.getKind() == AffineExprKind::Add;
  });
}

SmallVector<unsigned> filterLoops(linalg::GenericOp generic) {
  if (generic.getNumDpsInputs() != 2 || generic.getNumReductionLoops() == 0 ||
      !isa<MacOp, QuireMacOp>(generic.getBody()->front()))
    return {};
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  if (hasWindow(maps[0]) == hasWindow(maps[1]))
    return {};
  unsigned image = hasWindow(maps[1]);
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop)
    if (maps[2].isFunctionOfDim(loop) &&
        maps[1 - image].isFunctionOfDim(loop) &&
        !maps[image].isFunctionOfDim(loop))
      loops.push_back(loop);
  return loops;
}

/// Groups of few filters fill not even half a vector of channels.
static bool hasNarrowGroups(linalg::GenericOp generic) {
  constexpr int64_t fewestFilters = 8;
  SmallVector<unsigned> filters = filterLoops(generic);
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  bool hasGroups = false;
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop)
    hasGroups |= ranges[loop] != 1 && llvm::all_of(maps, [&](AffineMap map) {
                   return map.isFunctionOfDim(loop);
                 });
  std::optional<int64_t> count = extentOf(ranges, filters);
  return hasGroups && !filters.empty() && (!count || *count < fewestFilters);
}

/// How many values of the function enter or leave it in the written order,
/// apart from filters: the activations that training keeps, say.
static unsigned countEnds(func::FuncOp function) {
  auto isImage = [](Type type) {
    auto ranked = dyn_cast<RankedTensorType>(type);
    return ranked && ranked.getRank() > 2;
  };
  auto isElementwise = [](Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic && generic.getNumReductionLoops() == 0;
  };
  int64_t ends = 0;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    ends += isImage(function.getResultTypes()[i]) &&
            !function.getResultAttr(i, anyOrderAttribute);
  ends += llvm::count_if(function.getArguments(), [&](BlockArgument argument) {
    return isImage(argument.getType()) &&
           llvm::any_of(argument.getUsers(), isElementwise);
  });
  return unsigned(ends);
}

bool isBetterWithChannelsLast(func::FuncOp function,
                              unsigned fewestConvolutions) {
  unsigned convolutions = 0;
  WalkResult result = function.walk([&](linalg::GenericOp generic) {
    convolutions += !filterLoops(generic).empty();
    return hasNarrowGroups(generic) ? WalkResult::interrupt()
                                    : WalkResult::advance();
  });
  unsigned needed = fewestConvolutions == 0
                        ? 1
                        : std::max(fewestConvolutions, 2 * countEnds(function));
  return !result.wasInterrupted() && convolutions >= needed;
}

} // namespace numera
