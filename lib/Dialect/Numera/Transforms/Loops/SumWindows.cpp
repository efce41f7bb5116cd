// SPDX-License-Identifier: MIT
//
// Sums over windows in f32 or f64, as of depthwise convolutions: neighbouring
// results are the lanes of a vector, which stays in a register for the whole
// window.
//
//   sum[x … x+15] = mac(image[x+kx … x+kx+15], filter[kx], sum[x … x+15])
//
// The steps of a result come in their written order. As loops of scalars, which
// LLVM vectorises, each step would read and write its results in memory.

#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

/// How far apart two neighbouring lanes lie, in elements of the last dimension;
/// nothing if they do not lie on a line along it.
static std::optional<int64_t> strideOfLanes(AffineMap map, unsigned loop) {
  if (map.getNumResults() == 0)
    return 0;
  ArrayRef<AffineExpr> others = map.getResults().drop_back();
  if (llvm::any_of(others,
                   [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); }))
    return std::nullopt;
  AffineExpr last = map.getResults().back();
  AffineExpr lane = getAffineDimExpr(loop, map.getContext());
  AffineExpr next = last.replace(lane, lane + 1);
  auto stride = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(next - last, map.getNumDims(), map.getNumSymbols()));
  return stride ? std::optional(stride.getValue()) : std::nullopt;
}

/// A step of the machine's own arithmetic.
static bool isMachineStep(Operation &op) {
  if (isa<linalg::YieldOp>(op))
    return true;
  bool isPlain = isa<MacOp>(op) && op.getAttrs().empty();
  return (isPlain || isa<math::FmaOp, arith::AddFOp, arith::MulFOp>(op)) &&
         llvm::all_of(op.getOperandTypes(), [&](Type type) {
           return type == op.getResult(0).getType();
         });
}

namespace {
class WindowSums {
public:
  WindowSums(IRRewriter &rewriter, linalg::GenericOp generic, Value start = {})
      : rewriter(rewriter), generic(generic), start(start),
        loc(generic.getLoc()), inner(generic.getNumLoops() - 1),
        ranges(generic.getStaticLoopRanges()) {}

  bool hasForm();
  /// The loops around, the outermost first.
  SmallVector<Operation *> emit();

private:
  /// The results of `count` lanes, of which the first is at `place`.
  void emitBlock(int64_t count);
  /// What the body is given of an operand.
  Value lanesOf(OpOperand &operand, int64_t count);
  Value load(Value buffer, ValueRange indices, int64_t count);
  SmallVector<Value> indicesOf(OpOperand &operand);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value maskOf(int64_t count) {
    auto type = VectorType::get({lanes}, rewriter.getI1Type());
    return vector::ConstantMaskOp::create(rewriter, loc, type, {count});
  }
  VectorType vectorType() { return VectorType::get({lanes}, element); }

  IRRewriter &rewriter;
  linalg::GenericOp generic;
  Value start; ///< of all sums; null: what the buffer holds
  Location loc;
  unsigned inner; ///< the loop whose iterations are lanes
  SmallVector<int64_t> ranges;
  SmallVector<int64_t> strides; ///< of each input
  Type element;
  int64_t lanes = 0;
  SmallVector<Value> place; ///< the value of each loop
};
} // namespace

bool WindowSums::hasForm() {
  constexpr int64_t leastLanes = 4, mostSteps = 64;
  if (!generic.hasPureBufferSemantics() || generic.hasIndexSemantics() ||
      generic.getNumReductionLoops() == 0 || generic.getNumDpsInits() != 1)
    return false;
  auto kinds = generic.getIteratorTypesArray();
  if (kinds[inner] != utils::IteratorType::parallel ||
      ShapedType::isDynamic(ranges[inner]) || ranges[inner] < leastLanes)
    return false;
  int64_t steps = 1;
  for (auto [kind, range] : llvm::zip_equal(kinds, ranges)) {
    if (kind == utils::IteratorType::parallel)
      continue;
    if (ShapedType::isDynamic(range) || range > mostSteps)
      return false;
    steps *= range;
  }
  if (steps < 2 || steps > mostSteps)
    return false;
  element = getElementTypeOrSelf(generic.getDpsInits()[0].getType());
  if (!element.isF32() && !element.isF64())
    return false;
  lanes = element.isF32() ? 16 : 8;
  bool isWindow = false;
  for (OpOperand &operand : generic->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    if (!type || type.getElementType() != element ||
        (type.getRank() > 0 && !type.isLastDimUnitStride()))
      return false;
    std::optional<int64_t> stride = strideOfLanes(map, inner);
    bool isResult = generic.isDpsInit(&operand);
    if (!stride || *stride < 0 || *stride > 2 || (isResult && *stride != 1))
      return false;
    // Neighbours share what is read.
    isWindow |=
        *stride > 0 && llvm::any_of(llvm::enumerate(kinds), [&](auto loop) {
          return loop.value() == utils::IteratorType::reduction &&
                 map.getResults().back().isFunctionOfDim(
                     unsigned(loop.index()));
        });
    if (!isResult)
      strides.push_back(*stride);
  }
  return isWindow && llvm::all_of(*generic.getBody(), isMachineStep);
}

SmallVector<Value> WindowSums::indicesOf(OpOperand &operand) {
  return indicesAt(rewriter, loc, generic.getMatchingIndexingMap(&operand),
                   place);
}

Value WindowSums::load(Value buffer, ValueRange indices, int64_t count) {
  if (count >= lanes)
    return vector::LoadOp::create(rewriter, loc, vectorType(), buffer, indices);
  Value none = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getZeroAttr(vectorType()));
  return vector::MaskedLoadOp::create(rewriter, loc, vectorType(), buffer,
                                      indices, maskOf(count), none);
}

Value WindowSums::lanesOf(OpOperand &operand, int64_t count) {
  int64_t stride = strides[operand.getOperandNumber()];
  SmallVector<Value> indices = indicesOf(operand);
  if (stride == 0) {
    Value number =
        memref::LoadOp::create(rewriter, loc, operand.get(), indices);
    return vector::BroadcastOp::create(rewriter, loc, vectorType(), number);
  }
  if (stride == 1)
    return load(operand.get(), indices, count);
  // Every other one of at most two vectors; nothing behind the last is read.
  int64_t reach = 2 * count - 1;
  Value first = load(operand.get(), indices, reach), second = first;
  if (reach > lanes) {
    indices.back() =
        arith::AddIOp::create(rewriter, loc, indices.back(), constant(lanes));
    second = load(operand.get(), indices, reach - lanes);
  }
  SmallVector<int64_t> even;
  for (int64_t lane = 0; lane < lanes; ++lane)
    even.push_back(2 * lane);
  return vector::ShuffleOp::create(rewriter, loc, first, second, even);
}

void WindowSums::emitBlock(int64_t count) {
  OpOperand &result = generic.getDpsInitsMutable()[0];
  SmallVector<unsigned> window;
  generic.getReductionDims(window);
  for (unsigned loop : window)
    place[loop] = constant(0); // the result is the same for all
  SmallVector<Value> indices = indicesOf(result);
  Value sum =
      start ? vector::BroadcastOp::create(rewriter, loc, vectorType(), start)
            : load(result.get(), indices, count);
  Block &body = *generic.getBody();
  SmallVector<int64_t> step(window.size());
  for (bool isMore = true; isMore;) {
    for (auto [loop, value] : llvm::zip_equal(window, step))
      place[loop] = constant(value);
    IRMapping map;
    for (OpOperand *operand : generic.getDpsInputOperands())
      map.map(body.getArgument(operand->getOperandNumber()),
              lanesOf(*operand, count));
    map.map(body.getArguments().back(), sum);
    for (Operation &op : body.without_terminator()) {
      Operation *vector = rewriter.clone(op, map);
      vector->getResult(0).setType(vectorType());
    }
    sum = map.lookup(body.getTerminator()->getOperand(0));
    // The last loop of the window runs fastest.
    isMore = false;
    for (size_t i = window.size(); i-- > 0 && !isMore;) {
      isMore = ++step[i] < ranges[window[i]];
      step[i] = isMore ? step[i] : 0;
    }
  }
  if (count >= lanes)
    vector::StoreOp::create(rewriter, loc, sum, result.get(), indices);
  else
    vector::MaskedStoreOp::create(rewriter, loc, result.get(), indices,
                                  maskOf(count), sum);
}

SmallVector<Operation *> WindowSums::emit() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(generic);
  auto kinds = generic.getIteratorTypesArray();
  SmallVector<Range> bounds =
      cast<linalg::LinalgOp>(*generic).createLoopRanges(rewriter, loc);
  place.assign(generic.getNumLoops(), Value());
  SmallVector<Operation *> loops;
  bool isLeading = true;
  for (unsigned i = 0; i < inner; ++i) {
    isLeading &= kinds[i] == utils::IteratorType::parallel;
    if (kinds[i] != utils::IteratorType::parallel)
      continue;
    Value end = getValueOrCreateConstantIndexOp(rewriter, loc, bounds[i].size);
    auto loop =
        scf::ForOp::create(rewriter, loc, constant(0), end, constant(1));
    if (isLeading)
      loops.push_back(loop);
    place[i] = loop.getInductionVar();
    rewriter.setInsertionPointToStart(loop.getBody());
  }
  int64_t whole = ranges[inner] / lanes * lanes;
  if (whole > lanes) {
    auto loop = scf::ForOp::create(rewriter, loc, constant(0), constant(whole),
                                   constant(lanes));
    OpBuilder::InsertionGuard inLoop(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    place[inner] = loop.getInductionVar();
    emitBlock(lanes);
  } else if (whole == lanes) {
    place[inner] = constant(0);
    emitBlock(lanes);
  }
  if (int64_t rest = ranges[inner] - whole) {
    place[inner] = constant(whole);
    emitBlock(rest);
  }
  return loops;
}

bool isWindowSum(linalg::GenericOp generic) {
  IRRewriter rewriter(generic.getContext());
  return generic.getNumLoops() > 0 && WindowSums(rewriter, generic).hasForm();
}

SmallVector<Operation *> sumInWindows(IRRewriter &rewriter,
                                      linalg::GenericOp generic, Value start) {
  WindowSums sums(rewriter, generic, start);
  [[maybe_unused]] bool hasForm = sums.hasForm();
  assert(hasForm && "isWindowSum holds");
  return sums.emit();
}

} // namespace numera
