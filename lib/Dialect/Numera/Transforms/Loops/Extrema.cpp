// SPDX-License-Identifier: MIT

#include "Extrema.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

Operation *extremumOf(linalg::GenericOp generic) {
  Block &body = *generic.getBody();
  Operation *step = body.getTerminator()->getOperand(0).getDefiningOp();
  bool isWhole =
      isa_and_nonnull<MaxOp, MinOp>(step) &&
      llvm::hasNItems(body.begin(), body.end(), 2) &&
      llvm::is_contained(step->getOperands(), body.getArgument(0)) &&
      llvm::is_contained(step->getOperands(), body.getArguments().back());
  return isWhole ? step : nullptr;
}

std::optional<FloatFormat> wordsOf(Operation *extremum) {
  OpKind kind = isa<MaxOp>(extremum) ? OpKind::Max : OpKind::Min;
  auto op = cast<FormatOpInterface>(extremum);
  Format format = op.getResultElement().format;
  for (unsigned i = 0; i < op.getFormatOperandCount(); ++i)
    if (op.getOperandElement(i) != op.getResultElement())
      return std::nullopt;
  auto *dialect = extremum->getContext()->getLoadedDialect<NumeraDialect>();
  if (!format || llvm::any_of(dialect->getRegistry().lowerings(),
                              [&](const Lowering &lowering) {
                                return lowering.operation == kind &&
                                       lowering.result == format;
                              }))
    return std::nullopt;
  std::optional<FloatFormat> f = format.getFamily().asFloat(format);
  bool hasOrder =
      f && f->isSigned && f->hasSubnormals &&
      unsigned(f->width()) == format.storageBits() &&
      (f->specials == Specials::Ieee || f->specials == Specials::Fn ||
       f->specials == Specials::Finite);
  return hasOrder ? f : std::nullopt;
}

SmallVector<Value> stepOfWords(OpBuilder &builder, Location loc, Value words,
                               ValueRange before) {
  return {
      arith::MaxSIOp::create(builder, loc, before[0], words),
      arith::MinUIOp::create(builder, loc, before[1], words),
      arith::MaxUIOp::create(builder, loc, before[2], words),
  };
}

Value extremumOfWords(OpBuilder &builder, Operation *extremum,
                      const FloatFormat &words, ValueRange integers) {
  Location loc = extremum->getLoc();
  auto type = cast<VectorType>(integers[0].getType());
  auto word = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, value));
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value x,
                     const APInt &bound) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, x, word(bound));
  };
  unsigned bits = type.getElementTypeBitWidth();
  uint64_t greatest =
      words.hasInfinity() ? words.infinityCode() : words.maxCode();
  APInt bound(bits, greatest), nan(bits, words.nanCode());
  APInt zero(bits, 0), sign = APInt::getSignMask(bits);
  Value most = integers[0], least = integers[1], last = integers[2];
  using enum arith::CmpIPredicate;
  Value found = isa<MaxOp>(extremum)
                    ? arith::SelectOp::create(
                          builder, loc, compare(slt, most, zero), least, most)
                    : arith::SelectOp::create(
                          builder, loc, compare(uge, last, sign), last, least);
  Value isNaN = arith::OrIOp::create(builder, loc, compare(sgt, most, bound),
                                     compare(ugt, last, bound | sign));
  return arith::SelectOp::create(builder, loc, isNaN, word(nan), found);
}

} // namespace numera
