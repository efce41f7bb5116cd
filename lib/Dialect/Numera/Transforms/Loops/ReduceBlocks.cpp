// SPDX-License-Identifier: MIT
//
// Reduces many short rows to one number each, sixteen rows at a time. The steps
// of a row may be done in any order. The lanes of a vector hold steps of a row,
//
//   x[i, 0] x[i, 1] … x[i, 15]      one vector a row
//
// and sixteen such vectors are combined to one, with a number for each row. In
// each of four rounds, two neighbouring vectors become one, in which each has
// half the lanes.
//
//   a0 a1 a2 a3 …        a0·a2 b0·b2 a1·a3 b1·b3 …
//   b0 b1 b2 b3 …   →
//
// This takes 15 steps and 30 shuffles. Each row on its own would take four
// steps and four shuffles.

#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace numera {

static constexpr int64_t lanes = 16;

/// An operation whose vector form is the same operation on vectors.
static bool isOfLanes(Operation &op) {
  return isa<linalg::YieldOp>(op) || op.hasTrait<OpTrait::ConstantLike>() ||
         (OpTrait::hasElementwiseMappableTraits(&op) &&
          isMemoryEffectFree(&op) && op.getNumResults() == 1 &&
          isa<IntegerType, FloatType>(op.getResult(0).getType()));
}

static bool isLanesOf32(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 32;
}

/// The reduction is of rows of a few whole vectors of 32-bit numbers, sixteen
/// of which make a vector of results.
static bool hasForm(linalg::GenericOp generic) {
  if (!generic.hasPureBufferSemantics() || generic.hasIndexSemantics() ||
      generic.getNumReductionLoops() != 1 || generic.getNumLoops() < 2 ||
      generic.getNumDpsInputs() != 1 || !reducesInLanes(generic))
    return false;
  unsigned loops = generic.getNumLoops();
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  constexpr int64_t mostVectors = 8;
  auto isRows = [](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return type && type.isLastDimUnitStride() &&
           isLanesOf32(type.getElementType());
  };
  return maps[0].isIdentity() && maps[1] == maps[0].dropResult(loops - 1) &&
         !ShapedType::isDynamic(ranges[loops - 1]) &&
         ranges[loops - 1] % lanes == 0 &&
         ranges[loops - 1] <= mostVectors * lanes &&
         !ShapedType::isDynamic(ranges[loops - 2]) &&
         ranges[loops - 2] % lanes == 0 && ranges[loops - 2] > 0 &&
         llvm::all_of(generic->getOperands(), isRows) &&
         llvm::all_of(*generic.getBody(), isOfLanes);
}

namespace {
class BlockReducer {
public:
  BlockReducer(OpBuilder &builder, linalg::GenericOp generic)
      : builder(builder), loc(generic.getLoc()), generic(generic) {
    auto yield = cast<linalg::YieldOp>(generic.getBody()->getTerminator());
    step = yield.getOperand(0).getDefiningOp();
  }

  /// The results of 16 rows, of which `place` is the first.
  void emit(ArrayRef<Value> place);

private:
  static VectorType vectorOf(Type element) {
    return VectorType::get({lanes}, element);
  }
  /// What a step adds of a vector of the input.
  Value termOf(Value vector);
  Value combine(Value x, Value y) { return copyOf(step, {x, y}); }
  /// An operation of the body on vectors.
  Value copyOf(Operation *op, ValueRange operands) {
    return builder
        .create(loc, op->getName().getIdentifier(), operands,
                {vectorOf(op->getResult(0).getType())}, op->getAttrs())
        ->getResult(0);
  }
  Value pair(Value x, Value y, ArrayRef<int64_t> first,
             ArrayRef<int64_t> second) {
    return combine(vector::ShuffleOp::create(builder, loc, x, y, first),
                   vector::ShuffleOp::create(builder, loc, x, y, second));
  }

  OpBuilder &builder;
  Location loc;
  linalg::GenericOp generic;
  Operation *step;
};
} // namespace

Value BlockReducer::termOf(Value vector) {
  IRMapping map;
  map.map(generic.getBody()->getArgument(0), vector);
  auto operandOf = [&](Value value) -> Value {
    if (Value known = map.lookupOrNull(value))
      return known;
    Value splat = vector::BroadcastOp::create(builder, loc,
                                              vectorOf(value.getType()), value);
    map.map(value, splat);
    return splat;
  };
  Value sum = generic.getBody()->getArguments().back();
  for (Operation &op : generic.getBody()->without_terminator()) {
    if (&op == step)
      continue;
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      Operation *copy = builder.clone(op);
      map.map(op.getResult(0),
              vector::BroadcastOp::create(builder, loc,
                                          vectorOf(op.getResult(0).getType()),
                                          copy->getResult(0)));
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(operandOf(operand));
    map.map(op.getResult(0), copyOf(&op, operands));
  }
  Value term =
      step->getOperand(0) == sum ? step->getOperand(1) : step->getOperand(0);
  return operandOf(term);
}

void BlockReducer::emit(ArrayRef<Value> place) {
  Value input = generic.getDpsInputs()[0], output = generic.getDpsInits()[0];
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  int64_t length = generic.getStaticLoopRanges().back();
  Type element = cast<MemRefType>(input.getType()).getElementType();
  SmallVector<Value> rows;
  for (int64_t row = 0; row < lanes; ++row) {
    SmallVector<Value> indices(place);
    indices.back() =
        builder.createOrFold<arith::AddIOp>(loc, indices.back(), constant(row));
    Value sum;
    for (int64_t first = 0; first < length; first += lanes) {
      indices.push_back(constant(first));
      Value term = termOf(vector::LoadOp::create(
          builder, loc, vectorOf(element), input, indices));
      indices.pop_back();
      sum = sum ? combine(sum, term) : term;
    }
    rows.push_back(sum);
  }
  // Within 128 bits, then those.
  static constexpr int64_t shuffles[4][2][lanes] = {
      {{0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29},
       {2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31}},
      {{0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29},
       {2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31}},
      {{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27},
       {4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31}},
      {{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27},
       {4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31}}};
  for (const auto &[first, second] : shuffles) {
    SmallVector<Value> halved;
    for (size_t i = 0; i < rows.size(); i += 2)
      halved.push_back(pair(rows[i], rows[i + 1], first, second));
    rows = std::move(halved);
  }
  auto type = vectorOf(cast<MemRefType>(output.getType()).getElementType());
  Value before = vector::LoadOp::create(builder, loc, type, output, place);
  vector::StoreOp::create(builder, loc, combine(before, rows[0]), output,
                          place);
}

std::optional<SmallVector<Operation *>>
reduceInBlocks(IRRewriter &rewriter, linalg::GenericOp generic) {
  if (!hasForm(generic))
    return std::nullopt;
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  Location loc = generic.getLoc();
  rewriter.setInsertionPoint(generic);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  SmallVector<Operation *> loops;
  SmallVector<Value> place;
  for (size_t i = 0; i + 1 < ranges.size(); ++i) {
    bool isRows = i + 2 == ranges.size();
    // The output's dimensions are the loops.
    Value end = rewriter.createOrFold<memref::DimOp>(
        loc, generic.getDpsInits()[0], int64_t(i));
    auto loop = scf::ForOp::create(rewriter, loc, constant(0), end,
                                   constant(isRows ? lanes : 1));
    loops.push_back(loop);
    place.push_back(loop.getInductionVar());
    rewriter.setInsertionPointToStart(loop.getBody());
  }
  BlockReducer(rewriter, generic).emit(place);
  return loops;
}

} // namespace numera
