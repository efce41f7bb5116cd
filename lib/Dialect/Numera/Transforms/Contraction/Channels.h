// SPDX-License-Identifier: MIT
//
// The dimensions that numera-channels-last puts last, and where that pays.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CHANNELS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CHANNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace numera {

/// Values with fewer channels are left as they are: they are the lanes of
/// vectors.
constexpr int64_t fewestChannels = 16;

/// The dimensions of a value that come last in memory: `count` from `first` on,
/// in their order.
struct Channels {
  unsigned first, count;

  bool operator==(const Channels &) const = default;
  bool contains(unsigned dimension) const {
    return dimension >= first && dimension < first + count;
  }
  bool areLast(size_t rank) const { return first + count == rank; }

  /// Dimensions in the order of memory.
  llvm::SmallVector<int64_t> order(size_t rank) const {
    llvm::SmallVector<int64_t> order;
    for (unsigned i = 0; i < rank; ++i)
      if (!contains(i))
        order.push_back(i);
    for (unsigned i = 0; i < count; ++i)
      order.push_back(first + i);
    return order;
  }
  /// What belongs to dimensions, in that order.
  template <typename T>
  llvm::SmallVector<T> move(llvm::ArrayRef<T> values) const {
    llvm::SmallVector<T> moved;
    for (int64_t dimension : order(values.size()))
      moved.push_back(values[size_t(dimension)]);
    return moved;
  }
  mlir::RankedTensorType move(mlir::RankedTensorType type) const {
    return type.clone(move(type.getShape()));
  }
  /// Null where elements are no whole bytes, or there are none.
  mlir::ElementsAttr move(mlir::ElementsAttr elements) const;
  mlir::AffineMap move(mlir::AffineMap map) const {
    return mlir::AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                                move(map.getResults()), map.getContext());
  }
};

/// The loop of each dimension of the range; none if one is anything else.
std::optional<llvm::SmallVector<unsigned>> loopsOf(mlir::AffineMap map,
                                                   Channels channels);

/// The dimensions that go through the loops, if they are side by side.
std::optional<Channels> rangeOf(mlir::AffineMap map,
                                llvm::ArrayRef<unsigned> loops);

/// Which dimensions of a larger shape each of a smaller one stands for, once
/// both are moved, and the channels of the larger.
std::pair<llvm::SmallVector<mlir::ReassociationIndices>, Channels>
moveGroups(llvm::ArrayRef<mlir::ReassociationIndices> groups, Channels smaller);

/// A moved value in the written order, of which `type` is.
mlir::Value inWrittenOrder(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value moved, Channels channels,
                           mlir::RankedTensorType type);

/// The loops of the filters of a convolution: those of the result that the
/// image does not have. Empty for any other operation.
llvm::SmallVector<unsigned> filterLoops(mlir::linalg::GenericOp generic);

/// True if a function has so many convolutions, and two for each image that
/// enters or leaves it, which is transposed there; and nothing that takes
/// longer with channels last than in the written order. With 0, any number will
/// do.
bool isBetterWithChannelsLast(mlir::func::FuncOp function,
                              unsigned fewestConvolutions);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CHANNELS_H
