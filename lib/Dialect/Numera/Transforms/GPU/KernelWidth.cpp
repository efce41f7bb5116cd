// SPDX-License-Identifier: MIT
//
// The number of elements that a thread of an elementwise kernel computes. A
// GPU's load of 16 bytes costs as much as one of 2, so contiguous elements of 1
// and 2 bytes are read 16 bytes at a time. Long computations do not gain from
// this, and their code would grow.

#include "KernelBody.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

/// Instructions, roughly, of an operation of the body; none for what is a loop
/// or more than a few dozen.
static std::optional<int64_t> costOf(Operation &op) {
  if (isa<RandomOp, RandomFillOp, QuireMacOp>(op) || op.getNumRegions() > 0)
    return std::nullopt;
  auto format = dyn_cast<FormatOpInterface>(op);
  if (!format || isa<NegOp, AbsOp, CmpOp, IsNaNOp>(op))
    return 1;
  if (isa<AddOp, SubOp, MulOp, CastOp, MinOp, MaxOp, MinNumOp, MaxNumOp>(op))
    return 32;
  return std::nullopt;
}

/// True if `operand` has `width` consecutive elements along the last parallel
/// loop, at a multiple of their size; or is the same all along.
static bool suits(OpOperand &operand, AffineMap map, unsigned loop,
                  int64_t width) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || !map.isFunctionOfDim(loop))
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      map.getResult(map.getNumResults() - 1) !=
          getAffineDimExpr(loop, map.getContext()) ||
      map.dropResult(map.getNumResults() - 1).isFunctionOfDim(loop) ||
      strides.back() != 1)
    return false;
  auto isMultiple = [&](int64_t distance) {
    return !ShapedType::isDynamic(distance) && distance % width == 0;
  };
  return isMultiple(offset) &&
         llvm::all_of(ArrayRef(strides).drop_back(), isMultiple);
}

int64_t elementsOfThread(linalg::GenericOp generic, const KernelLoops &loops) {
  if (!loops.sequential.empty() || loops.parallel.empty())
    return 1;
  int64_t least = 16;
  for (Value operand : generic->getOperands()) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (!isa<MemRefType>(operand.getType()))
      continue;
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0 ||
        element.getIntOrFloatBitWidth() > 64)
      return 1;
    least = std::min<int64_t>(least, element.getIntOrFloatBitWidth() / 8);
  }
  int64_t width = 16 / least, cost = 0;
  for (Operation &op : *generic.getBody()) {
    std::optional<int64_t> more = costOf(op);
    if (!more)
      return 1;
    cost += *more;
  }
  constexpr int64_t most = 1024;
  if (width < 2 || cost * width > most)
    return 1;
  unsigned last = loops.parallel.back();
  int64_t extent = generic.getStaticLoopRanges()[last];
  // Rows that follow each other begin at multiples.
  if (loops.parallel.size() > 1 &&
      (ShapedType::isDynamic(extent) || extent % width != 0))
    return 1;
  for (OpOperand &operand : generic->getOpOperands())
    if (!suits(operand, generic.getMatchingIndexingMap(&operand), last, width))
      return 1;
  return width;
}

} // namespace numera
