// SPDX-License-Identifier: MIT
//
// Reductions of windows: sums in f32 or f64, as of depthwise convolutions, and
// maxima and minima in any format, as of pools. Neighbouring results are the
// lanes of a vector, which stays in a register for the whole window.
//
//   sum[x … x+15] = mac(image[x+kx … x+kx+15], filter[kx], sum[x … x+15])
//
// The steps of a result come in their written order. As loops of scalars, which
// LLVM vectorises, each step would read and write its results in memory.
//
// Sums of a few neighbouring places of the loop around, as of an image's row,
// are computed side by side: they share what is read of the filter, and most of
// the image. A sum of 3 x 3 takes 6.75 loads where it takes 18 alone, and sums
// that do not wait for each other hide the time of a multiply-add.

#include "ElementLanes.h"
#include "Extrema.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

std::optional<int64_t> strideOfLanes(AffineMap map, unsigned loop) {
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
class WindowReducer {
public:
  WindowReducer(IRRewriter &rewriter, linalg::GenericOp generic,
                Value start = {}, linalg::GenericOp after = {})
      : rewriter(rewriter), generic(generic), after(after), start(start),
        loc(generic.getLoc()), inner(generic.getNumLoops() - 1),
        ranges(generic.getStaticLoopRanges()) {}

  bool hasForm();
  /// The loops around, the outermost first.
  SmallVector<Operation *> emit();

private:
  /// The lanes' loop, for as many neighbouring places of `near`.
  void emitLanes(int64_t places);
  /// The results of `count` lanes, of which the first is at `place`, at as many
  /// places of `near`.
  void emitBlock(int64_t count, int64_t places);
  /// Writes results.
  void finish(Value results, int64_t count);
  void write(Value results, ValueRange indices, int64_t count);
  /// The loop whose neighbouring places are computed side by side.
  std::optional<unsigned> nearLoop();
  /// What the body is given of an operand.
  Value lanesOf(OpOperand &operand, int64_t count);
  /// The numbers of all sums, or extrema, behind a step that is given `inputs`:
  /// one vector, or three of integers.
  SmallVector<Value> step(ValueRange inputs, ValueRange before);
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
  linalg::GenericOp after; ///< what overwrites the results; perhaps null
  Value start;             ///< of all sums; null: what the buffer holds
  Location loc;
  unsigned inner;               ///< the loop whose iterations are lanes
  std::optional<unsigned> near; ///< one around it
  SmallVector<int64_t> ranges;
  SmallVector<int64_t> strides; ///< of each input
  Type element;
  Operation *extremum = nullptr;    ///< the body, where it is one
  std::optional<FloatFormat> words; ///< of extrema that integers tell
  int64_t lanes = 0;
  SmallVector<Value> place; ///< the value of each loop
};
} // namespace

bool WindowReducer::hasForm() {
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
  extremum = extremumOf(generic);
  words = extremum ? wordsOf(extremum) : std::nullopt;
  if (!element.isF32() && !element.isF64() &&
      !(extremum && element.isInteger() &&
        element.getIntOrFloatBitWidth() <= 64))
    return false;
  lanes = element.getIntOrFloatBitWidth() > 32 ? 8 : 16;
  bool isWindow = false;
  for (OpOperand &operand : generic->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    bool isResult = generic.isDpsInit(&operand);
    if (!isResult && !generic.payloadUsesValueFromOperand(&operand)) {
      strides.push_back(0); // there for the sizes of the window
      continue;
    }
    if (!type || type.getElementType() != element ||
        (type.getRank() > 0 && !type.isLastDimUnitStride()))
      return false;
    std::optional<int64_t> stride = strideOfLanes(map, inner);
    if (!stride || *stride < 0 || *stride > 2 || (isResult && *stride != 1))
      return false;
    isWindow |=
        *stride > 0 && llvm::any_of(map.getResults(), [&](AffineExpr expr) {
          return expr.getKind() == AffineExprKind::Add &&
                 llvm::any_of(llvm::enumerate(kinds), [&](auto loop) {
                   return loop.value() == utils::IteratorType::reduction &&
                          expr.isFunctionOfDim(unsigned(loop.index()));
                 });
        });
    if (!isResult)
      strides.push_back(*stride);
  }
  return isWindow &&
         (extremum || llvm::all_of(*generic.getBody(), isMachineStep));
}

SmallVector<Value> WindowReducer::indicesOf(OpOperand &operand) {
  return indicesAt(rewriter, loc, generic.getMatchingIndexingMap(&operand),
                   place);
}

Value WindowReducer::load(Value buffer, ValueRange indices, int64_t count) {
  if (count >= lanes)
    return vector::LoadOp::create(rewriter, loc, vectorType(), buffer, indices);
  Value none = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getZeroAttr(vectorType()));
  return vector::MaskedLoadOp::create(rewriter, loc, vectorType(), buffer,
                                      indices, maskOf(count), none);
}

Value WindowReducer::lanesOf(OpOperand &operand, int64_t count) {
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

SmallVector<Value> WindowReducer::step(ValueRange inputs, ValueRange before) {
  if (words)
    return stepOfWords(rewriter, loc, inputs.front(), before);
  Block &body = *generic.getBody();
  IRMapping map;
  map.map(body.getArguments().drop_back(), inputs);
  map.map(body.getArguments().back(), before.front());
  for (Operation &op : body.without_terminator()) {
    Operation *vector = rewriter.clone(op, map);
    vector->getResult(0).setType(vectorType());
  }
  return {map.lookup(body.getTerminator()->getOperand(0))};
}

std::optional<unsigned> WindowReducer::nearLoop() {
  auto kinds = generic.getIteratorTypesArray();
  unsigned loop = inner;
  while (loop > 0 && kinds[loop - 1] != utils::IteratorType::parallel)
    --loop;
  // Of two loops at least: the first ones are shared among threads.
  if (loop < 2 || kinds[0] != utils::IteratorType::parallel || extremum ||
      ShapedType::isDynamic(ranges[loop - 1]) || ranges[loop - 1] < 2)
    return std::nullopt;
  return loop - 1;
}

/// True if an operation's body is a few instructions: no function.
static bool isShort(linalg::GenericOp elementwise) {
  constexpr unsigned mostCost = 4; // of a division
  return llvm::all_of(*elementwise.getBody(), [](Operation &op) {
    auto format = dyn_cast<FormatOpInterface>(op);
    return format ? costOf(format.getFormatOperation()) <= mostCost
                  : !isa<math::MathDialect>(op.getDialect());
  });
}

void WindowReducer::write(Value results, ValueRange indices, int64_t count) {
  Value buffer = generic.getDpsInits()[0];
  if (count >= lanes)
    vector::StoreOp::create(rewriter, loc, results, buffer, indices);
  else
    vector::MaskedStoreOp::create(rewriter, loc, buffer, indices, maskOf(count),
                                  results);
}

void WindowReducer::finish(Value results, int64_t count) {
  OpOperand &buffer = generic.getDpsInitsMutable()[0];
  SmallVector<Value> indices = indicesOf(buffer);
  if (after) {
    ArrayRef<int64_t> shape =
        cast<MemRefType>(buffer.get().getType()).getShape();
    results = ElementLanes(rewriter, after)
                  .compute(*loopsAt(rewriter, after, shape, indices), count,
                           overwrittenBy(after), results);
  }
  write(results, indices, count);
}

void WindowReducer::emitBlock(int64_t count, int64_t places) {
  OpOperand &result = generic.getDpsInitsMutable()[0];
  Value begin = near ? place[*near] : Value();
  SmallVector<Value> along = {begin};
  AffineExpr base = rewriter.getAffineDimExpr(0);
  for (int64_t i = 1; i < places; ++i)
    along.push_back(
        affine::makeComposedAffineApply(rewriter, loc, base + i, {begin}));
  auto goTo = [&](Value value) {
    if (near)
      place[*near] = value;
  };
  SmallVector<unsigned> window;
  generic.getReductionDims(window);
  for (unsigned loop : window)
    place[loop] = constant(0); // the result is the same for all
  Type wordType = VectorType::get(
      {lanes}, rewriter.getIntegerType(element.getIntOrFloatBitWidth()));
  auto toWords = [&](Value vector) -> Value {
    return words && !element.isInteger()
               ? arith::BitcastOp::create(rewriter, loc, wordType, vector)
               : vector;
  };
  SmallVector<SmallVector<Value>> results;
  for (Value value : along) {
    goTo(value);
    Value first =
        start ? vector::BroadcastOp::create(rewriter, loc, vectorType(), start)
              : load(result.get(), indicesOf(result), count);
    results.emplace_back(words ? 3 : 1, toWords(first));
  }
  SmallVector<int64_t> tap(window.size());
  for (bool isMore = true; isMore;) {
    for (auto [loop, value] : llvm::zip_equal(window, tap))
      place[loop] = constant(value);
    for (auto [value, sums] : llvm::zip_equal(along, results)) {
      goTo(value);
      SmallVector<Value> inputs;
      for (OpOperand *operand : generic.getDpsInputOperands())
        inputs.push_back(generic.payloadUsesValueFromOperand(operand)
                             ? toWords(lanesOf(*operand, count))
                             : sums.front()); // which is not read
      sums = step(inputs, sums);
    }
    // The last loop of the window runs fastest.
    isMore = false;
    for (size_t i = window.size(); i-- > 0 && !isMore;) {
      isMore = ++tap[i] < ranges[window[i]];
      tap[i] = isMore ? tap[i] : 0;
    }
  }
  // A long body stands there once.
  bool isApart = after && places > 1 && !isShort(after);
  for (auto [value, sums] : llvm::zip_equal(along, results)) {
    goTo(value);
    Value reduced = words ? extremumOfWords(rewriter, extremum, *words, sums)
                          : sums.front();
    if (reduced.getType() != vectorType())
      reduced = arith::BitcastOp::create(rewriter, loc, vectorType(), reduced);
    if (isApart)
      write(reduced, indicesOf(result), count);
    else
      finish(reduced, count);
  }
  if (isApart) {
    auto loop = scf::ForOp::create(rewriter, loc, constant(0), constant(places),
                                   constant(1));
    OpBuilder::InsertionGuard inLoop(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    goTo(affine::makeComposedAffineApply(rewriter, loc,
                                         base + rewriter.getAffineDimExpr(1),
                                         {begin, loop.getInductionVar()}));
    finish(load(result.get(), indicesOf(result), count), count);
  }
  goTo(begin);
}

void WindowReducer::emitLanes(int64_t places) {
  int64_t whole = ranges[inner] / lanes * lanes;
  if (whole > lanes) {
    auto loop = scf::ForOp::create(rewriter, loc, constant(0), constant(whole),
                                   constant(lanes));
    OpBuilder::InsertionGuard inLoop(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    place[inner] = loop.getInductionVar();
    emitBlock(lanes, places);
  } else if (whole == lanes) {
    place[inner] = constant(0);
    emitBlock(lanes, places);
  }
  if (int64_t rest = ranges[inner] - whole) {
    place[inner] = constant(whole);
    emitBlock(rest, places);
  }
}

SmallVector<Operation *> WindowReducer::emit() {
  constexpr int64_t mostPlaces = 4; // whose sums stay in registers
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(generic);
  auto kinds = generic.getIteratorTypesArray();
  SmallVector<Range> bounds =
      cast<linalg::LinalgOp>(*generic).createLoopRanges(rewriter, loc);
  near = nearLoop();
  place.assign(generic.getNumLoops(), Value());
  SmallVector<Operation *> loops;
  bool isLeading = true;
  for (unsigned i = 0; i < inner; ++i) {
    isLeading &= kinds[i] == utils::IteratorType::parallel;
    if (kinds[i] != utils::IteratorType::parallel || i == near)
      continue;
    Value end = getValueOrCreateConstantIndexOp(rewriter, loc, bounds[i].size);
    auto loop =
        scf::ForOp::create(rewriter, loc, constant(0), end, constant(1));
    if (isLeading)
      loops.push_back(loop);
    place[i] = loop.getInductionVar();
    rewriter.setInsertionPointToStart(loop.getBody());
  }
  if (!near) {
    emitLanes(1);
    return loops;
  }
  int64_t whole = ranges[*near] / mostPlaces * mostPlaces;
  if (whole > 0) {
    auto loop = scf::ForOp::create(rewriter, loc, constant(0), constant(whole),
                                   constant(mostPlaces));
    OpBuilder::InsertionGuard inLoop(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    place[*near] = loop.getInductionVar();
    emitLanes(mostPlaces);
  }
  if (int64_t rest = ranges[*near] - whole) {
    place[*near] = constant(whole);
    emitLanes(rest);
  }
  return loops;
}

bool isWindowReduction(linalg::GenericOp generic) {
  IRRewriter rewriter(generic.getContext());
  return generic.getNumLoops() > 0 &&
         WindowReducer(rewriter, generic).hasForm();
}

SmallVector<Operation *> reduceInWindows(IRRewriter &rewriter,
                                         linalg::GenericOp generic, Value start,
                                         linalg::GenericOp after) {
  WindowReducer reducer(rewriter, generic, start, after);
  [[maybe_unused]] bool hasForm = reducer.hasForm();
  assert(hasForm && "isWindowReduction holds");
  return reducer.emit();
}

} // namespace numera
