// SPDX-License-Identifier: MIT

#include "FlagSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Statistics/FlagCounts.h"

using namespace mlir;

namespace numera {

Value hasFlag(OpBuilder &builder, Location loc, Value flags, unsigned kind,
              Type type) {
  Value place =
      arith::ConstantIntOp::create(builder, loc, builder.getI8Type(), kind);
  Value one =
      arith::ConstantIntOp::create(builder, loc, builder.getI8Type(), 1);
  Value bit = arith::AndIOp::create(
      builder, loc, arith::ShRUIOp::create(builder, loc, flags, place), one);
  return arith::ExtUIOp::create(builder, loc, type, bit);
}

Value createZeros(OpBuilder &builder, Location loc,
                  ArrayRef<OpFoldResult> sizes, Type type) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type);
  Value zero = arith::ConstantIntOp::create(builder, loc, type, 0);
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

/// The sums of flags or of counts along the last axes, as many as there are or
/// all; along none, of each flag by itself.
static SmallVector<Value> sumAlong(OpBuilder &builder, Location loc,
                                   ArrayRef<Value> parts, int64_t axes) {
  auto type = cast<RankedTensorType>(parts.front().getType());
  int64_t rank = type.getRank(), outer = rank - std::min(axes, rank);
  bool takesFlags = parts.size() == 1;
  bool isShort =
      takesFlags && rank > 0 && !type.isDynamicDim(rank - 1) &&
      type.getDimSize(rank - 1) <= std::numeric_limits<int32_t>::max();
  Type count = isShort ? builder.getI32Type() : builder.getI64Type();
  auto sizes = tensor::getMixedSizes(builder, loc, parts.front());
  SmallVector<Value> inits;
  for (unsigned kind = 0; kind < FlagCounts::kinds; ++kind)
    inits.push_back(
        createZeros(builder, loc, ArrayRef(sizes).take_front(outer), count));
  AffineMap all = builder.getMultiDimIdentityMap(rank);
  AffineMap kept = AffineMap::get(rank, 0, all.getResults().take_front(outer),
                                  builder.getContext());
  SmallVector<AffineMap> maps(parts.size(), all);
  maps.append(inits.size(), kept);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), outer, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, ValueRange(inits).getTypes(), parts, inits, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange values) {
        SmallVector<Value> sums;
        for (unsigned kind = 0; kind < FlagCounts::kinds; ++kind) {
          Value term = takesFlags
                           ? hasFlag(builder, loc, values[0], kind, count)
                           : values[kind];
          if (term.getType() != count)
            term = arith::ExtUIOp::create(builder, loc, count, term);
          sums.push_back(arith::AddIOp::create(builder, loc, term,
                                               values[parts.size() + kind]));
        }
        linalg::YieldOp::create(builder, loc, sums);
      });
  return SmallVector<Value>(generic.getResults());
}

SmallVector<Value> sumFlags(OpBuilder &builder, Location loc,
                            SmallVector<Value> parts) {
  if (parts.size() == 1)
    parts = sumAlong(builder, loc, parts, /*axes=*/1);
  parts = sumAlong(builder, loc, parts, std::numeric_limits<int64_t>::max());
  SmallVector<Value> sums;
  for (Value part : parts)
    sums.push_back(tensor::ExtractOp::create(builder, loc, part, ValueRange()));
  return sums;
}

} // namespace numera
