// SPDX-License-Identifier: MIT

#include "RoundTrips.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "numera/Registry/Scaling/Scaling.h"

using namespace mlir;

namespace numera {
namespace {

/// An elementwise operation on one tensor; null if `value` is not its result.
linalg::GenericOp mapOf(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  bool isMap = generic && generic.getNumDpsInputs() == 1 &&
               generic.getNumDpsInits() == 1 &&
               generic.getNumReductionLoops() == 0 &&
               !generic.hasIndexSemantics() &&
               llvm::all_of(generic.getIndexingMapsArray(),
                            [](AffineMap map) { return map.isIdentity(); });
  return isMap ? generic : linalg::GenericOp();
}

Operation *yieldedBy(linalg::GenericOp generic) {
  return generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
}

bool isCastFromScale(Operation *op) {
  auto cast = dyn_cast_or_null<CastOp>(op);
  if (!cast || !cast.getType().isF32() ||
      !isa<BlockArgument>(cast.getOperand()))
    return false;
  FormatOpInterface interface = cast;
  ElementKind from = interface.getOperandElement(0);
  return from.isFormat() && from.format == powersOfTwo() &&
         !isOverridden(interface);
}

/// The codes of which `scales` are the values; null if they are something else.
Value codesOf(Value scales) {
  linalg::GenericOp map = mapOf(scales);
  return map && isCastFromScale(yieldedBy(map)) ? map.getInputs()[0] : Value();
}

/// The codes of which `numbers` are one divided by the values; null likewise.
Value codesOfReciprocals(Value numbers) {
  linalg::GenericOp map = mapOf(numbers);
  auto div = map ? dyn_cast_or_null<DivOp>(yieldedBy(map)) : DivOp();
  llvm::APFloat one(0.0f);
  bool isReciprocal = div && !isOverridden(div) &&
                      matchPattern(div.getLhs(), m_ConstantFloat(&one)) &&
                      one.isExactlyValue(1.0) &&
                      isCastFromScale(div.getRhs().getDefiningOp());
  return isReciprocal ? map.getInputs()[0] : Value();
}

/// The largest magnitudes, as words, that `codes` are made from.
linalg::GenericOp magnitudesBehind(Value codes) {
  linalg::GenericOp map = mapOf(codes);
  auto maxima = map ? map.getInputs()[0].getDefiningOp<linalg::GenericOp>()
                    : linalg::GenericOp();
  if (!maxima || maxima.getNumDpsInputs() != 1 ||
      maxima.getNumReductionLoops() != 1)
    return {};
  // max(sum, bits of x & 0x7fffffff)
  Block &body = *maxima.getBody();
  auto max = dyn_cast_or_null<arith::MaxUIOp>(yieldedBy(maxima));
  Value word =
      max ? (max.getLhs() == body.getArgument(1) ? max.getRhs() : max.getLhs())
          : Value();
  auto mask = word ? word.getDefiningOp<arith::AndIOp>() : arith::AndIOp();
  llvm::APInt bits;
  if (!mask || !matchPattern(mask.getRhs(), m_ConstantInt(&bits)) ||
      bits != BlockSteps::magnitudes)
    return {};
  auto cast = mask.getLhs().getDefiningOp<arith::BitcastOp>();
  bool isOfNumber = cast && cast.getIn() == body.getArgument(0) &&
                    cast.getIn().getType().isF32();
  return isOfNumber ? maxima : linalg::GenericOp();
}

/// How a cast rounds f32 to its result; nothing if it is no such cast.
std::optional<BlockSteps> stepsOf(CastOp there) {
  if (!there || !there.getOperand().getType().isF32() || there.getRandom() ||
      isOverridden(there))
    return std::nullopt;
  FormatOpInterface interface = there;
  ElementKind from = interface.getOperandElement(0);
  if (!from.isFormat() || from.format != formatF32() ||
      !interface.getResultElement().isFormat())
    return std::nullopt;
  return blockStepsOf(interface.getRules().encoding, interface.getRules());
}

/// `rounded` as a cast to a format and back, or as both in one. Null if it is
/// neither.
Operation *findRounding(Value rounded, RoundTrip &trip) {
  if (auto round = rounded.getDefiningOp<RoundToOp>()) {
    if (round.getRandom() || round.getRounding())
      return nullptr;
    Format format = round.getFormat().getFormat();
    auto steps =
        blockStepsOf(format, rulesOf(OpKind::Cast, format, formatF32()));
    if (!steps)
      return nullptr;
    trip.steps = *steps;
    trip.rounding = {round};
    return round;
  }
  auto back = rounded.getDefiningOp<CastOp>();
  auto there = back ? back.getOperand().getDefiningOp<CastOp>() : CastOp();
  auto steps = stepsOf(there);
  if (!steps || !back.getType().isF32() || isOverridden(back) ||
      FormatOpInterface(back).getOperandElement(0) !=
          FormatOpInterface(there).getResultElement())
    return nullptr;
  trip.steps = *steps;
  trip.rounding = {there, back};
  return there;
}

/// What rounds on the way to `result`, and the factor that it may end with.
/// Null if `result` is something else.
Operation *findRounding(Operation *result, RoundTrip &trip, Value &factor) {
  if (auto mul = dyn_cast<MulOp>(result)) {
    factor = mul.getRhs();
    return isOverridden(mul) ? nullptr : findRounding(mul.getLhs(), trip);
  }
  auto cast = dyn_cast<CastOp>(result);
  if (!cast || !llvm::all_of(cast->getUsers(), llvm::IsaPred<linalg::YieldOp>))
    return nullptr;
  auto steps = stepsOf(cast);
  if (!steps)
    return nullptr;
  trip.steps = *steps;
  return cast;
}

} // namespace

std::optional<RoundTrip> roundTripOf(linalg::GenericOp generic,
                                     Operation *result) {
  auto inputOf = [&](Value value) -> OpOperand * {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isInput = argument && argument.getOwner() == generic.getBody() &&
                   argument.getArgNumber() < generic.getNumDpsInputs();
    return isInput ? &generic->getOpOperand(argument.getArgNumber()) : nullptr;
  };
  RoundTrip trip;
  trip.result = result;
  Value factor;
  Operation *rounding = findRounding(result, trip, factor);
  trip.scaled = rounding ? rounding->getOperand(0).getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::MulFOp, MulOp>(trip.scaled))
    return std::nullopt;
  if (auto mul = dyn_cast<MulOp>(trip.scaled); mul && isOverridden(mul))
    return std::nullopt;
  trip.number = trip.scaled->getOperand(0);
  OpOperand *number = inputOf(trip.number),
            *reciprocal = inputOf(trip.scaled->getOperand(1));
  if (!number || !reciprocal)
    return std::nullopt;
  trip.codes = codesOfReciprocals(reciprocal->get());
  trip.access = generic.getMatchingIndexingMap(reciprocal);
  if (!trip.codes)
    return std::nullopt;
  if (factor) {
    OpOperand *scale = inputOf(factor);
    if (!scale || trip.codes != codesOf(scale->get()) ||
        trip.access != generic.getMatchingIndexingMap(scale))
      return std::nullopt;
  }
  // A block along the last dimension, all of whose numbers are finite if its
  // largest magnitude is.
  trip.maxima = magnitudesBehind(trip.codes);
  if (!trip.maxima || trip.maxima.getInputs()[0] != number->get())
    return std::nullopt;
  AffineMap all = generic.getMatchingIndexingMap(number);
  SmallVector<AffineMap> maps = trip.maxima.getIndexingMapsArray();
  bool isLast = all.isIdentity() && maps[0].isIdentity() &&
                trip.access == all.dropResult(all.getNumResults() - 1) &&
                maps[1] == trip.access;
  return isLast ? std::optional(std::move(trip)) : std::nullopt;
}

} // namespace numera
