// SPDX-License-Identifier: MIT
//
//   linalg.transpose %b, linalg.generic {(i,j,k) -> (k,j), … numera.mac …}
//     becomes
//   linalg.generic {(i,j,k) -> (j,k), … numera.mac …} on %b

#include "ContractionLoops.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAFOLDTRANSPOSES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// Where a value's elements come from: place p of it is place `map`(p) of
/// `source`.
struct Moved {
  Value source;
  AffineMap map;
};

} // namespace

/// What `value` is another order of, if it is one.
static std::optional<Moved> movedBy(Value value) {
  auto move = value.getDefiningOp<linalg::LinalgOp>();
  if (!move || move.getNumDpsInputs() != 1 || move.getNumDpsInits() != 1 ||
      move.getNumReductionLoops() != 0 || !move.hasPureTensorSemantics())
    return std::nullopt;
  Block &body = move->getRegion(0).front();
  auto yield = dyn_cast<linalg::YieldOp>(body.front());
  if (!yield || yield.getOperand(0) != body.getArgument(0))
    return std::nullopt;
  AffineMap from = move.getMatchingIndexingMap(move.getDpsInputOperand(0));
  AffineMap to = move.getMatchingIndexingMap(move.getDpsInitOperand(0));
  if (!from.isPermutation() || !to.isPermutation())
    return std::nullopt;
  return Moved{move.getDpsInputOperand(0)->get(),
               from.compose(inversePermutation(to))};
}

/// Constants are better moved once, by the compiler.
static bool isConstant(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getOperand();
  return matchPattern(value, m_Constant());
}

static bool isContraction(linalg::GenericOp generic) {
  return generic.getNumReductionLoops() != 0 &&
         generic.hasPureTensorSemantics() &&
         isa<MacOp, QuireMacOp>(generic.getBody()->front());
}

/// If the contraction is then packed: loops would go through what is transposed
/// in strides, and once for every element of the other factor.
static void foldInto(linalg::GenericOp generic) {
  SmallVector<AffineMap> before = generic.getIndexingMapsArray();
  SmallVector<Value> operands = generic.getDpsInputs();
  SmallVector<AffineMap> maps = before;
  for (OpOperand *operand : generic.getDpsInputOperands())
    while (auto moved = movedBy(operand->get())) {
      if (isConstant(moved->source))
        break;
      AffineMap &map = maps[operand->getOperandNumber()];
      map = moved->map.compose(map);
      operand->set(moved->source);
    }
  if (maps == before)
    return;
  Builder builder(generic.getContext());
  generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  if (PackedContraction::of(generic))
    return;
  generic.getInputsMutable().assign(operands);
  generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(before));
}

namespace {
struct FoldTransposesPass : impl::NumeraFoldTransposesBase<FoldTransposesPass> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::GenericOp generic) {
      if (isContraction(generic))
        foldInto(generic);
    });
  }
};
} // namespace

} // namespace numera
