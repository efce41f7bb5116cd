// SPDX-License-Identifier: MIT
//
// Operations of the dialect vector that compute become those of arith and math
// on vectors and numbers, one step after the other:
//
//   %s = vector.reduction <add>, %v, %a      %0 = vector.extract %v[0]
//                                       to   %1 = arith.addf %0, %a
//                                            %2 = vector.extract %v[1]
//                                            …
//
// Sums begin with the accumulator and go through the reduced elements in the
// order of the loops. A product is rounded before it is added. What is masked
// off leaves the accumulator as it is.

#include "Retype.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

namespace {

using Dims = SmallVector<int64_t>;

/// A vector whose dimensions are loops: reductions, then parallel loops.
struct Arranged {
  Value vector;
  Dims reductions, parallel; ///< numbers of the loops that it has
};

static arith::AtomicRMWKind kindOf(vector::CombiningKind kind) {
  using From = vector::CombiningKind;
  using To = arith::AtomicRMWKind;
  switch (kind) {
  case From::ADD:
    return To::addf;
  case From::MUL:
    return To::mulf;
  case From::MINIMUMF:
  case From::MINNUMF:
    return To::minimumf;
  default:
    return To::maximumf;
  }
}

/// A reduction over some loops of a space, all others of which are kept.
class Reduction {
public:
  Reduction(OpBuilder &builder, Location loc, vector::CombiningKind kind,
            Dims sizes, Dims reductions, Dims parallel)
      : builder(builder), loc(loc), kind(kind), sizes(std::move(sizes)),
        reductions(std::move(reductions)), parallel(std::move(parallel)) {}

  /// `factors` are multiplied, their dimensions are the loops that `loops`
  /// names; `mask` is null, or has all loops in order.
  Value create(ArrayRef<std::pair<Value, Dims>> factors, Value mask,
               Value accumulator) {
    SmallVector<Arranged> arranged;
    for (const auto &[vector, loops] : factors)
      arranged.push_back(arrange(vector, loops));
    std::optional<Arranged> masks;
    if (mask)
      masks = arrange(mask, llvm::to_vector(llvm::seq<int64_t>(sizes.size())));
    Type element = numera::elementType(
        (accumulator ? accumulator : factors.front().first).getType());
    Dims position(reductions.size(), 0);
    Value begun; // where there is a term already, if not everywhere
    int64_t steps = 1;
    for (int64_t loop : reductions)
      steps *= sizes[loop];
    for (int64_t step = 0; step < steps; ++step) {
      for (int64_t i = int64_t(position.size()) - 1, rest = step; i >= 0; --i) {
        position[i] = rest % sizes[reductions[i]];
        rest /= sizes[reductions[i]];
      }
      Value term;
      for (const Arranged &factor : arranged) {
        Value part = promote(take(factor, position), element);
        term = term ? multiply(term, part) : part;
      }
      Value active = masks ? take(*masks, position) : Value();
      if (!accumulator) {
        accumulator = term;
        begun = active;
        continue;
      }
      if (begun)
        term = select(begun, combine(term, accumulator), term);
      else
        term = combine(term, accumulator);
      accumulator = active ? select(active, term, accumulator) : term;
      if (begun)
        begun = arith::OrIOp::create(builder, loc, begun, active);
    }
    return begun ? select(begun, accumulator, neutral(accumulator.getType()))
                 : accumulator;
  }

private:
  Value transpose(Value vector, ArrayRef<int64_t> order) {
    if (llvm::is_sorted(order))
      return vector;
    return vector::TransposeOp::create(builder, loc, vector, order);
  }

  Arranged arrange(Value vector, const Dims &loops) {
    Arranged result;
    Dims order;
    auto add = [&](const Dims &wanted, Dims &found) {
      for (int64_t loop : wanted)
        if (const auto *place = llvm::find(loops, loop); place != loops.end()) {
          found.push_back(loop);
          order.push_back(place - loops.begin());
        }
    };
    add(reductions, result.reductions);
    add(parallel, result.parallel);
    result.vector = transpose(vector, order);
    return result;
  }

  /// What stands at a position of the reductions: a number, or a vector with
  /// all parallel loops.
  Value take(const Arranged &from, const Dims &position) {
    Dims own;
    for (auto [loop, index] : llvm::zip(reductions, position))
      if (llvm::is_contained(from.reductions, loop))
        own.push_back(index);
    Value part = from.vector;
    if (!own.empty())
      part = vector::ExtractOp::create(builder, loc, part, own);
    if (from.parallel.size() == parallel.size())
      return part;
    // Missing loops come first, as a broadcast adds them.
    Dims shape, loops, order;
    for (int64_t loop : parallel)
      if (!llvm::is_contained(from.parallel, loop))
        loops.push_back(loop);
    llvm::append_range(loops, from.parallel);
    for (int64_t loop : loops)
      shape.push_back(sizes[loop]);
    for (int64_t loop : parallel)
      order.push_back(llvm::find(loops, loop) - loops.begin());
    auto type = VectorType::get(shape, numera::elementType(part.getType()));
    return transpose(vector::BroadcastOp::create(builder, loc, type, part),
                     order);
  }

  /// A contraction's factors may be narrower than its sums.
  Value promote(Value value, Type element) {
    Type type = withElement(value.getType(), element);
    if (type == value.getType())
      return value;
    if (isa<FloatType>(element))
      return arith::ExtFOp::create(builder, loc, type, value);
    return arith::ExtSIOp::create(builder, loc, type, value);
  }

  Value multiply(Value lhs, Value rhs) {
    if (isa<FloatType>(numera::elementType(lhs.getType())))
      return arith::MulFOp::create(builder, loc, lhs, rhs);
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  }

  Value combine(Value term, Value accumulator) {
    return vector::makeArithReduction(builder, loc, kind, term, accumulator);
  }
  Value select(Value mask, Value active, Value other) {
    return arith::SelectOp::create(builder, loc, mask, active, other);
  }

  /// The result of nothing.
  Value neutral(Type type) {
    Type element = numera::elementType(type);
    TypedAttr number =
        isa<FloatType>(element)
            ? arith::getIdentityValueAttr(kindOf(kind), element, builder, loc)
            : builder.getZeroAttr(element); // only products are left out
    if (auto shaped = dyn_cast<ShapedType>(type))
      number = DenseElementsAttr::get(shaped, number);
    return arith::ConstantOp::create(builder, loc, number);
  }

  OpBuilder &builder;
  Location loc;
  vector::CombiningKind kind;
  Dims sizes, reductions, parallel;
};

} // namespace

static Dims dimsOf(AffineMap map) {
  Dims dims;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    dims.push_back(map.getDimPosition(i));
  return dims;
}

/// Loops from 0 to the rank, of which some are reduced.
static Value reduce(OpBuilder &builder, Location loc,
                    vector::CombiningKind kind, Value vector, Value accumulator,
                    ArrayRef<bool> isReduced, Value mask) {
  auto type = cast<VectorType>(vector.getType());
  Dims reductions, parallel, all;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    all.push_back(i);
    (isReduced[i] ? reductions : parallel).push_back(i);
  }
  return Reduction(builder, loc, kind, Dims(type.getShape()), reductions,
                   parallel)
      .create({{vector, all}}, mask, accumulator);
}

static Value contract(OpBuilder &builder, vector::ContractionOp op,
                      Value mask) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> sizes;
  op.getIterationBounds(sizes);
  Dims reductions;
  for (auto [i, iterator] : llvm::enumerate(op.getIteratorTypes()))
    if (vector::isReductionIterator(iterator))
      reductions.push_back(i);
  return Reduction(builder, op.getLoc(), op.getKind(), sizes, reductions,
                   dimsOf(maps[2]))
      .create({{op.getLhs(), dimsOf(maps[0])}, {op.getRhs(), dimsOf(maps[1])}},
              mask, op.getAcc());
}

/// A product of all pairs, or of a vector and a number.
static Value multiplyOuter(OpBuilder &builder, vector::OuterProductOp op,
                           Value mask) {
  auto type = cast<VectorType>(op.getResult().getType());
  Dims parallel = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  Dims last = isa<VectorType>(op.getRhs().getType()) ? Dims{1} : Dims{};
  Value rhs = op.getRhs();
  if (last.empty()) // a number
    rhs = vector::BroadcastOp::create(builder, op.getLoc(), type, rhs);
  return Reduction(builder, op.getLoc(), op.getKind(), Dims(type.getShape()),
                   {}, parallel)
      .create({{op.getLhs(), {0}}, {rhs, last.empty() ? parallel : last}}, mask,
              op.getAcc());
}

/// What stands for an operation that computes; null for any other.
static Value createSteps(OpBuilder &builder, Operation *op, Value mask) {
  Location loc = op->getLoc();
  if (auto reduction = dyn_cast<vector::ReductionOp>(op))
    return reduce(builder, loc, reduction.getKind(), reduction.getVector(),
                  reduction.getAcc(), {true}, mask);
  if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op))
    return reduce(builder, loc, reduction.getKind(), reduction.getSource(),
                  reduction.getAcc(), reduction.getReductionMask(), mask);
  if (auto contraction = dyn_cast<vector::ContractionOp>(op))
    return contract(builder, contraction, mask);
  if (auto outer = dyn_cast<vector::OuterProductOp>(op))
    return multiplyOuter(builder, outer, mask);
  if (auto fma = dyn_cast<vector::FMAOp>(op))
    return math::FmaOp::create(builder, loc, fma.getLhs(), fma.getRhs(),
                               fma.getAcc());
  return {};
}

/// Bits of as many numbers are those of each.
static Value createBitcast(OpBuilder &builder, Operation *op) {
  if (!isa<vector::BitCastOp, tensor::BitcastOp>(op))
    return {};
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  Type element = numera::elementType(to);
  Type other = numera::elementType(from);
  bool hasFloat = isa<FloatType>(element) || isa<FloatType>(other);
  if (!hasFloat || !element.isSignlessIntOrFloat() ||
      !other.isSignlessIntOrFloat() || withElement(from, element) != to)
    return {};
  return arith::BitcastOp::create(builder, op->getLoc(), to, op->getOperand(0));
}

/// True for what is left to others: integers, of which LLVM has reductions.
static bool isLeft(Operation *op) {
  auto reduction = dyn_cast<vector::ReductionOp>(op);
  auto hasOtherRank = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && (vector.getRank() == 0 || vector.isScalable());
  };
  return !isa<vector::FMAOp>(op) &&
         ((reduction && !isa<FloatType>(reduction.getDest().getType())) ||
          llvm::any_of(op->getOperandTypes(), hasOtherRank) ||
          llvm::any_of(op->getResultTypes(), hasOtherRank));
}

static void replace(IRRewriter &rewriter, Operation *op) {
  auto around = dyn_cast<vector::MaskOp>(op->getParentOp());
  rewriter.setInsertionPoint(around ? around : op);
  Value result = createBitcast(rewriter, op);
  if (!result && !isLeft(op))
    result = createSteps(rewriter, op, around ? around.getMask() : Value());
  if (result)
    rewriter.replaceOp(around ? around.getOperation() : op, result);
}

/// Masked transfers of whole tensors become selects: upstream's fold of a
/// tensor that is read and written as a whole takes no notice of masks. It is
/// of tensors in order alone, and so is a mask's order the vector's.
static void selectMasked(IRRewriter &rewriter, VectorTransferOpInterface op) {
  VectorType type = op.getVectorType();
  Value mask = op.getMask();
  auto isZero = [](Value index) { return isConstantIntValue(index, 0); };
  if (!mask || !op.getPermutationMap().isMinorIdentity() ||
      !llvm::all_of(op.getIndices(), isZero) ||
      mask.getType() != withElement(type, rewriter.getI1Type()) ||
      !isa<RankedTensorType>(op.getShapedType()) ||
      op.getShapedType().getShape() != type.getShape())
    return;
  Location loc = op->getLoc();
  if (auto read = dyn_cast<vector::TransferReadOp>(op.getOperation())) {
    read.getMaskMutable().clear();
    rewriter.setInsertionPointAfter(read);
    Value padding =
        vector::BroadcastOp::create(rewriter, loc, type, read.getPadding());
    Value value = read.getVector();
    auto chosen = arith::SelectOp::create(rewriter, loc, mask, value, padding);
    rewriter.replaceAllUsesExcept(value, chosen, chosen);
    return;
  }
  auto write = cast<vector::TransferWriteOp>(op.getOperation());
  write.getMaskMutable().clear();
  rewriter.setInsertionPoint(write);
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  Value old = vector::TransferReadOp::create(
      rewriter, loc, type, write.getBase(), write.getIndices(),
      write.getPermutationMapAttr(), zero, Value(), write.getInBoundsAttr());
  write.getValueToStoreMutable().assign(arith::SelectOp::create(
      rewriter, loc, mask, write.getValueToStore(), old));
}

LogicalResult replaceSteps(ModuleOp module) {
  replaceAtomics(module);
  SmallVector<Operation *> work, others;
  module.walk([&](Operation *op) {
    if (isa<vector::ReductionOp, vector::MultiDimReductionOp,
            vector::ContractionOp, vector::OuterProductOp, vector::FMAOp,
            vector::BitCastOp, tensor::BitcastOp>(op))
      work.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation *op : work)
    replace(rewriter, op);
  module.walk([&](Operation *op) {
    if (isa<vector::ScanOp, vector::MaskOp>(op))
      others.push_back(op);
  });
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorScanLoweringPatterns(patterns);
  vector::populateVectorMaskLoweringPatternsForSideEffectingOps(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps)
      .enableFolding(false);
  if (failed(applyOpPatternsGreedily(others, std::move(patterns), config)))
    return failure();
  SmallVector<VectorTransferOpInterface> transfers;
  module.walk([&](VectorTransferOpInterface op) { transfers.push_back(op); });
  for (VectorTransferOpInterface op : transfers)
    selectMasked(rewriter, op);
  return success();
}

} // namespace numera
