// SPDX-License-Identifier: MIT
//
// Converts operands and results of contractions to the format in which the
// policy stores them: a scaled format, or a format other than the model's.

#include "Retype.h"
#include "Scaling/ExpandPacked.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

/// True for a constant and for an argument that says `numera.weight`, also
/// behind what only moves elements.
static bool isWeight(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function && argument.getOwner()->isEntryBlock() &&
           function.getArgAttr(argument.getArgNumber(), "numera.weight");
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (op->hasTrait<mlir::OpTrait::ConstantLike>())
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  bool moves = isa_and_nonnull<tensor::TensorDialect>(op->getDialect()) ||
               isa<CastOp>(op) ||
               (generic && generic.getBody()->getOperations().size() == 1);
  return moves && op->getNumOperands() > 0 && isWeight(op->getOperand(0));
}

/// The result of the map that is `loop` itself; -1 if there is none.
static int64_t axisOf(AffineMap map, unsigned loop) {
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && dim.getPosition() == loop)
      return int64_t(i);
  return -1;
}

/// The loop over the steps that both operands have an axis for: k of a product
/// of matrices, the channels of a convolution.
static std::optional<unsigned> stepLoop(linalg::GenericOp generic,
                                        AffineMap lhs, AffineMap rhs) {
  SmallVector<unsigned> loops;
  generic.getReductionDims(loops);
  for (unsigned loop : loops)
    if (axisOf(lhs, loop) >= 0 && axisOf(rhs, loop) >= 0)
      return loop;
  return std::nullopt;
}

/// The last loop over the result that one operand has an axis for and the other
/// does not depend on.
static std::optional<unsigned> ownLoop(linalg::GenericOp generic, AffineMap own,
                                       AffineMap other) {
  SmallVector<unsigned> loops;
  generic.getParallelDims(loops);
  for (unsigned loop : llvm::reverse(loops))
    if (axisOf(own, loop) >= 0 && !other.isFunctionOfDim(loop))
      return loop;
  return std::nullopt;
}

std::string ContractionNames::next(linalg::GenericOp generic) {
  std::string *known = nullptr;
  if (auto number = generic->getAttrOfType<IntegerAttr>(numberName)) {
    Operation *function = generic->getParentOfType<func::FuncOp>();
    known = &numbered[{function, number.getInt()}];
    if (!known->empty())
      return *known;
  }
  std::string name = nodeNameOf(generic.getLoc());
  if (name.empty())
    name = "contraction";
  unsigned count = used[name]++;
  if (count > 0)
    name += "_" + std::to_string(count);
  if (known)
    *known = name;
  return name;
}

namespace {

/// A tensor on its way into, or out of, a contraction.
struct Stored {
  Value value;
  const Role &role;
  int64_t channelAxis, usualAxis; ///< the latter of blocks
  std::string name;

  /// -1 where all elements share a scale.
  FailureOr<int64_t> axis(Location loc) const;
};

} // namespace

FailureOr<int64_t> Stored::axis(Location loc) const {
  if (!role.scaled.isBlock())
    return role.isPerChannel ? channelAxis : -1;
  switch (role.blockAxis.kind) {
  case BlockAxis::Kind::Usual:
  case BlockAxis::Kind::Summed:
    return usualAxis;
  case BlockAxis::Kind::Channel:
    return channelAxis;
  case BlockAxis::Kind::Number:
    break;
  }
  int64_t number = role.blockAxis.number;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  if (number < -rank || number >= rank)
    return emitError(loc) << "the policy has blocks along axis " << number
                          << " of '" << name << "'; expected " << -rank
                          << " to " << rank - 1;
  return number < 0 ? number + rank : number;
}

static Value inF32(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto wide = type.clone(builder.getF32Type());
  return type == wide ? value
                      : CastOp::create(builder, loc, wide, value).getResult();
}

/// What the policy gives a tensor, as an operand of `quantize`: `numbers` are
/// its `what`.
static FailureOr<Value> givenNumbers(OpBuilder &builder, Location loc,
                                     const Stored &stored,
                                     RankedTensorType scaled,
                                     ArrayRef<float> numbers, StringRef what) {
  auto type = RankedTensorType::get(scaleShapeOf(scaled), builder.getF32Type());
  auto count = int64_t(numbers.size());
  if (!type.hasStaticShape())
    return emitError(loc) << "the policy gives '" << stored.name << "' " << what
                          << ", of which it has " << type.getShape()
                          << ": as many as the data decide; leave them out";
  if (type.getNumElements() != count)
    return emitError(loc) << "the policy gives '" << stored.name << "' "
                          << count << " " << what << "; expected "
                          << type.getNumElements();
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, numbers))
      .getResult();
}

/// The scales and zero points that the policy gives a tensor; null where it
/// gives none.
struct Given {
  Value scales, zeros;
};
static FailureOr<Given> givenScales(OpBuilder &builder, Location loc,
                                    const Stored &stored,
                                    RankedTensorType scaled,
                                    const ResolvedPolicy &policy,
                                    ContractionNames &names) {
  auto found = policy.scales->find(stored.name);
  auto zeros = policy.zeroPoints->find(stored.name);
  if (found == policy.scales->end())
    return Given();
  names.use(stored.name);
  bool hasZeros = zeros != policy.zeroPoints->end();
  if (hasZeros != stored.role.scaled.hasZeroPoint())
    return emitError(loc) << "the policy gives '" << stored.name
                          << (hasZeros ? "' zero points, which its format has "
                                         "not; leave them out"
                                       : "' scales and no zero points; add "
                                         "'zero-points'");
  FailureOr<Value> first =
      givenNumbers(builder, loc, stored, scaled, found->second, "scales");
  if (failed(first) || !hasZeros)
    return failed(first) ? FailureOr<Given>() : Given{*first, Value()};
  FailureOr<Value> second =
      givenNumbers(builder, loc, stored, scaled, zeros->second, "zero points");
  if (failed(second))
    return failure();
  return Given{*first, *second};
}

/// The tensor as its role stores it.
static FailureOr<Value> store(OpBuilder &builder, Location loc,
                              const Stored &stored,
                              const ResolvedPolicy &policy,
                              ContractionNames &names) {
  auto type = cast<RankedTensorType>(stored.value.getType());
  if (!stored.role.scaled) {
    Value codes = stored.value;
    Type element = stored.role.format
                       ? typeOfFormat(builder.getContext(), stored.role.format)
                       : type.getElementType();
    if (element != type.getElementType())
      codes = CastOp::create(builder, loc, type.clone(element), codes);
    return stored.role.isPacked ? throughPacked(builder, loc, codes) : codes;
  }
  Value wide = inF32(builder, loc, stored.value);
  FailureOr<int64_t> axis = stored.axis(loc);
  if (failed(axis))
    return failure();
  RankedTensorType scaled = scaledType(cast<RankedTensorType>(wide.getType()),
                                       stored.role.scaled, *axis);
  FailureOr<Given> given =
      givenScales(builder, loc, stored, scaled, policy, names);
  if (failed(given))
    return failure();
  // Reports call the tensor by its name in the policy.
  return QuantizeOp::create(
             builder, NameLoc::get(builder.getStringAttr(stored.name), loc),
             scaled, wide, given->scales, given->zeros)
      .getResult();
}

/// Values of the model's format again.
static Value load(OpBuilder &builder, Location loc, Value stored, Type type) {
  auto shaped = cast<RankedTensorType>(stored.getType());
  Value value = stored;
  if (scalingOf(shaped))
    value = DequantizeOp::create(
        builder, loc,
        RankedTensorType::get(shaped.getShape(), builder.getF32Type()), stored);
  auto wanted =
      RankedTensorType::get(shaped.getShape(), numera::elementType(type));
  return value.getType() == wanted
             ? value
             : CastOp::create(builder, loc, wanted, value).getResult();
}

LogicalResult storeOperands(IRRewriter &rewriter, linalg::GenericOp generic,
                            Value lhs, Value rhs, const ResolvedPolicy &policy,
                            ContractionNames &names, const std::string &name,
                            MutableArrayRef<Value> inputs) {
  auto left = dyn_cast<BlockArgument>(lhs),
       right = dyn_cast<BlockArgument>(rhs);
  if (!left || !right)
    return success();
  auto mapOf = [&](BlockArgument argument) {
    return generic.getIndexingMapsArray()[argument.getArgNumber()];
  };
  std::optional<unsigned> steps = stepLoop(generic, mapOf(left), mapOf(right));
  auto storeOne = [&](BlockArgument argument, BlockArgument other,
                      StringRef side) -> LogicalResult {
    Value &input = inputs[argument.getArgNumber()];
    bool isConstant = isWeight(input);
    const Role &role = isConstant ? policy.weights : policy.activations;
    if (!role)
      return success();
    AffineMap map = mapOf(argument);
    std::optional<unsigned> own = ownLoop(generic, map, mapOf(other));
    std::optional<unsigned> channel = isConstant ? own : steps;
    auto last = int64_t(map.getNumResults()) - 1;
    Stored stored{input, role, channel ? axisOf(map, *channel) : last,
                  steps ? axisOf(map, *steps) : last, name + "." + side.str()};
    Location loc = generic.getLoc();
    // A weight is rounded once (V7), not to the model's format first.
    Format stays = role.scaled ? formatF32() : role.format;
    if (isConstant && stays)
      if (Value exact = fromOrigin(rewriter, input, stays))
        stored.value = exact;
    FailureOr<Value> result = store(rewriter, loc, stored, policy, names);
    if (failed(result))
      return failure();
    // A quire has one format: that of the model.
    input = policy.isExact ? load(rewriter, loc, *result, input.getType())
                           : *result;
    return success();
  };
  if (failed(storeOne(left, right, "lhs")))
    return failure();
  return left == right ? success() : storeOne(right, left, "rhs");
}

FailureOr<Value> storeResult(IRRewriter &rewriter, Location loc, Value result,
                             const ResolvedPolicy &policy,
                             ContractionNames &names, const std::string &name,
                             int64_t channelAxis) {
  if (!policy.outputs)
    return result;
  Stored stored{result, policy.outputs, channelAxis, channelAxis,
                name + ".result"};
  FailureOr<Value> made = store(rewriter, loc, stored, policy, names);
  if (failed(made))
    return failure();
  return load(rewriter, loc, *made, result.getType());
}

int64_t channelAxisOfResult(linalg::GenericOp generic) {
  AffineMap result = generic.getIndexingMapsArray().back();
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    if (!isWeight(operand->get()))
      continue;
    AffineMap map = generic.getMatchingIndexingMap(operand);
    for (auto [axis, expr] : llvm::enumerate(result.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && axisOf(map, dim.getPosition()) >= 0)
        return int64_t(axis);
    }
  }
  return int64_t(result.getNumResults()) - 1;
}

//===----------------------------------------------------------------------===//
// Observing
//===----------------------------------------------------------------------===//

void observeOperands(linalg::GenericOp generic, Value lhs, Value rhs,
                     const std::string &name,
                     SmallVectorImpl<Observed> &observed) {
  auto observe = [&](Value side, StringRef word) {
    auto argument = dyn_cast<BlockArgument>(side);
    if (!argument)
      return;
    Value input = generic.getInputs()[argument.getArgNumber()];
    if (!isWeight(input))
      observed.push_back({name + "." + word.str(), input});
  };
  observe(lhs, "lhs");
  if (lhs != rhs)
    observe(rhs, "rhs");
}

void returnObserved(ModuleOp module, ArrayRef<Observed> observed) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPublic())
      continue;
    auto exit = cast<func::ReturnOp>(function.back().getTerminator());
    OpBuilder builder(exit);
    for (Observed one : observed) {
      if (one.value.getParentBlock() != &function.front())
        continue;
      Value wide = inF32(builder, exit.getLoc(), one.value);
      auto name =
          builder.getNamedAttr("numera.name", builder.getStringAttr(one.name));
      (void)function.insertResult(function.getNumResults(), wide.getType(),
                                  builder.getDictionaryAttr(name));
      exit.getOperandsMutable().append(wide);
    }
  }
}

} // namespace numera
