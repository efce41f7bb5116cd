// SPDX-License-Identifier: MIT
//
// Keeps the tensors of a graph scaled, with scales for the worst case. Sums,
// matrix products and relu become operations on scaled tensors; everything else
// reads values. A tensor that is dequantized and quantized again by the same
// rule is unchanged.

#include "Retype.h"
#include "RetypeRules.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

namespace {

class Propagation {
public:
  Propagation(MLIRContext *context, const ResolvedPolicy &policy)
      : policy(policy), rewriter(context) {}

  void convert(linalg::GenericOp generic) {
    rewriter.setInsertionPoint(generic);
    (void)(convertProduct(generic) || scaleFactors(generic) ||
           convertSum(generic) || convertRelu(generic));
  }

private:
  bool convertProduct(linalg::GenericOp generic);
  bool scaleFactors(linalg::GenericOp generic);
  bool convertSum(linalg::GenericOp generic);
  bool convertRelu(linalg::GenericOp generic);

  Value quantize(Value value);
  Value readBy(linalg::GenericOp generic, OpOperand *operand);
  template <typename Op, typename... Args>
  void replace(linalg::GenericOp generic, Args... args);

  const ResolvedPolicy &policy;
  IRRewriter rewriter;
};

} // namespace

/// What was dequantized is read as it is stored; all else is quantized.
Value Propagation::quantize(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType scaled = scaledType(type, policy.scaled, -1);
  if (auto values = value.getDefiningOp<DequantizeOp>())
    if (values.getInput().getType() == scaled)
      return values.getInput();
  return QuantizeOp::create(rewriter, value.getLoc(), scaled, value, Value(),
                            Value());
}

template <typename Op, typename... Args>
void Propagation::replace(linalg::GenericOp generic, Args... args) {
  auto type = cast<RankedTensorType>(generic.getResult(0).getType());
  RankedTensorType scaled = scaledType(type, policy.scaled, -1);
  auto made = Op::create(rewriter, generic.getLoc(), scaled, args...);
  rewriter.replaceOpWithNewOp<DequantizeOp>(generic, type, made.getResult());
}

/// The operand in the shape of the result.
Value Propagation::readBy(linalg::GenericOp generic, OpOperand *operand) {
  AffineMap map = generic.getMatchingIndexingMap(operand);
  if (map.isIdentity())
    return operand->get();
  Location loc = generic.getLoc();
  auto type = cast<RankedTensorType>(generic.getResult(0).getType());
  Value empty = tensor::EmptyOp::create(
      rewriter, loc,
      tensor::getMixedSizes(rewriter, loc, generic.getDpsInits()[0]),
      type.getElementType());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto spread = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), operand->get(), empty,
      ArrayRef{map, rewriter.getMultiDimIdentityMap(unsigned(type.getRank()))},
      loops, [](OpBuilder &inner, Location where, ValueRange arguments) {
        linalg::YieldOp::create(inner, where, arguments[0]);
      });
  return spread.getResult(0);
}

/// The one operation of an elementwise body on f32; null for any other.
static Operation *onlyOperation(linalg::GenericOp generic) {
  auto type = dyn_cast<RankedTensorType>(generic.getResult(0).getType());
  if (generic.getNumReductionLoops() != 0 || generic.getNumResults() != 1 ||
      !type || !type.getElementType().isF32() ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0))
           .isIdentity())
    return nullptr;
  Operation *only = nullptr;
  for (Operation &op : generic.getBody()->without_terminator()) {
    if (op.hasTrait<mlir::OpTrait::ConstantLike>())
      continue;
    if (only)
      return nullptr;
    only = &op;
  }
  auto yield = generic.getBody()->getTerminator();
  return only && yield->getOperand(0) == only->getResult(0) ? only : nullptr;
}

bool Propagation::convertSum(linalg::GenericOp generic) {
  auto add = dyn_cast_or_null<AddOp>(onlyOperation(generic));
  auto lhs = add ? dyn_cast<BlockArgument>(add.getLhs()) : BlockArgument();
  auto rhs = add ? dyn_cast<BlockArgument>(add.getRhs()) : BlockArgument();
  unsigned inputs = generic.getNumDpsInputs();
  if (!lhs || !rhs || lhs.getArgNumber() >= inputs ||
      rhs.getArgNumber() >= inputs)
    return false;
  auto operand = [&](BlockArgument argument) {
    OpOperand *read = generic.getDpsInputOperand(argument.getArgNumber());
    return quantize(readBy(generic, read));
  };
  Value x = operand(lhs), y = operand(rhs);
  replace<ScaledAddOp>(generic, x, y);
  return true;
}

bool Propagation::convertRelu(linalg::GenericOp generic) {
  auto max = dyn_cast_or_null<MaxOp>(onlyOperation(generic));
  if (!max)
    return false;
  FloatAttr zero;
  Value operand = max.getLhs(), other = max.getRhs();
  if (matchPattern(operand, m_Constant(&zero)))
    std::swap(operand, other);
  auto argument = dyn_cast<BlockArgument>(operand);
  if (!argument || !matchPattern(other, m_Constant(&zero)) ||
      !zero.getValue().isZero() ||
      argument.getArgNumber() >= generic.getNumDpsInputs())
    return false;
  OpOperand *read = generic.getDpsInputOperand(argument.getArgNumber());
  if (!generic.getMatchingIndexingMap(read).isIdentity())
    return false;
  replace<ScaledReluOp>(generic, quantize(read->get()));
  return true;
}

/// m×k · k×n from zero, as retypeContractions leaves it: steps on f32.
bool Propagation::convertProduct(linalg::GenericOp generic) {
  auto mac = dyn_cast<MacOp>(&generic.getBody()->front());
  AffineExpr m, n, k;
  bindDims(rewriter.getContext(), m, n, k);
  auto maps = AffineMap::inferFromExprList(
      ArrayRef<ArrayRef<AffineExpr>>{{m, k}, {k, n}, {m, n}},
      rewriter.getContext());
  if (!mac || generic.getNumDpsInputs() != 2 ||
      generic.getIndexingMapsArray() != maps ||
      mac.getLhs() != generic.getBody()->getArgument(0) ||
      mac.getRhs() != generic.getBody()->getArgument(1) ||
      !generic.getResult(0).hasOneUse())
    return false;
  auto rounded = dyn_cast<CastOp>(*generic.getResult(0).user_begin());
  auto lhs = cast<RankedTensorType>(generic.getInputs()[0].getType());
  auto fill = generic.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!rounded || lhs.isDynamicDim(1) || !fill)
    return false;
  auto type = cast<RankedTensorType>(rounded.getType());
  rewriter.setInsertionPoint(rounded);
  Value x = quantize(generic.getInputs()[0]);
  Value y = quantize(generic.getInputs()[1]);
  auto product = ScaledMatmulOp::create(
      rewriter, generic.getLoc(), scaledType(type, policy.scaled, -1), x, y,
      FormatAttr::get(rewriter.getContext(), policy.accumulator));
  rewriter.replaceOpWithNewOp<DequantizeOp>(rounded, type, product.getResult());
  rewriter.eraseOp(generic);
  return true;
}

/// Any other contraction reads scaled factors, and gives values (Z7).
bool Propagation::scaleFactors(linalg::GenericOp generic) {
  auto mac = dyn_cast<MacOp>(&generic.getBody()->front());
  if (!mac)
    return false;
  for (Value factor : {mac.getLhs(), mac.getRhs()}) {
    auto argument = dyn_cast<BlockArgument>(factor);
    if (!argument || !argument.getType().isF32())
      continue;
    OpOperand *read = generic.getDpsInputOperand(argument.getArgNumber());
    read->set(quantize(read->get()));
    argument.setType(numera::elementType(read->get().getType()));
  }
  return true;
}

void propagateScales(ModuleOp module, const Policies &policies) {
  SmallVector<linalg::GenericOp> generics;
  module.walk([&](linalg::GenericOp generic) { generics.push_back(generic); });
  for (linalg::GenericOp generic : generics) {
    const ResolvedPolicy &policy = policies.of(generic);
    if (policy.isScaledThroughout() && !policy.hasRoles() &&
        generic.hasPureTensorSemantics() && generic.getNumResults() == 1)
      Propagation(module.getContext(), policy).convert(generic);
  }
}

} // namespace numera
