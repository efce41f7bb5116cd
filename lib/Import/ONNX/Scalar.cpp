//===- Scalar.cpp - Arithmetic on elements --------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Scalar.h"
#include <limits>

using namespace mlir;

namespace numera::importer {

static bool isFloat(Value x) { return isa<FloatType>(x.getType()); }

TypedAttr attr(Type type, double number) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, number);
  if (type.isIndex())
    return IntegerAttr::get(type, int64_t(number));
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, APInt(width, uint64_t(int64_t(number)),
                                      /*isSigned=*/false,
                                      /*implicitTrunc=*/true));
}

TypedAttr least(Type type, bool isUnsigned) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, -std::numeric_limits<double>::infinity());
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, isUnsigned ? APInt::getMinValue(width)
                                           : APInt::getSignedMinValue(width));
}

TypedAttr greatest(Type type, bool isUnsigned) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, std::numeric_limits<double>::infinity());
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, isUnsigned ? APInt::getMaxValue(width)
                                           : APInt::getSignedMaxValue(width));
}

Value constant(LocBuilder &b, Type type, double number) {
  return arith::ConstantOp::create(b, attr(type, number));
}

Value real(LocBuilder &b, double number) {
  return constant(b, b.getF64Type(), number);
}

Value index(LocBuilder &b, int64_t number) {
  return arith::ConstantIndexOp::create(b, number);
}

Value add(LocBuilder &b, Value x, Value y) {
  if (isFloat(x))
    return arith::AddFOp::create(b, x, y);
  return arith::AddIOp::create(b, x, y);
}

Value sub(LocBuilder &b, Value x, Value y) {
  if (isFloat(x))
    return arith::SubFOp::create(b, x, y);
  return arith::SubIOp::create(b, x, y);
}

Value mul(LocBuilder &b, Value x, Value y) {
  if (isFloat(x))
    return arith::MulFOp::create(b, x, y);
  return arith::MulIOp::create(b, x, y);
}

/// A divisor that no division is undefined for: 1 in place of 0, and of -1
/// where the quotient may leave the range.
static Value safeDivisor(LocBuilder &b, Value y, bool isUnsigned) {
  Value one = constant(b, y.getType(), 1);
  Value unsafe = compare(b, Order::Equal, y, constant(b, y.getType(), 0));
  if (!isUnsigned)
    unsafe = either(b, unsafe,
                    compare(b, Order::Equal, y, constant(b, y.getType(), -1)));
  return select(b, unsafe, one, y);
}

Value div(LocBuilder &b, Value x, Value y, bool isUnsigned) {
  if (isFloat(x))
    return arith::DivFOp::create(b, x, y);
  Value divisor = safeDivisor(b, y, isUnsigned);
  Value zero = constant(b, y.getType(), 0);
  Value quotient = isUnsigned
                       ? arith::DivUIOp::create(b, x, divisor).getResult()
                       : arith::DivSIOp::create(b, x, divisor).getResult();
  if (!isUnsigned)
    quotient =
        select(b, compare(b, Order::Equal, y, constant(b, y.getType(), -1)),
               neg(b, x), quotient);
  return select(b, compare(b, Order::Equal, y, zero), zero, quotient);
}

Value rem(LocBuilder &b, Value x, Value y, bool isUnsigned) {
  if (isFloat(x))
    return arith::RemFOp::create(b, x, y);
  Value divisor = safeDivisor(b, y, isUnsigned);
  return isUnsigned ? arith::RemUIOp::create(b, x, divisor).getResult()
                    : arith::RemSIOp::create(b, x, divisor).getResult();
}

Value max(LocBuilder &b, Value x, Value y, bool isUnsigned) {
  if (isFloat(x))
    return arith::MaximumFOp::create(b, x, y);
  return isUnsigned ? arith::MaxUIOp::create(b, x, y).getResult()
                    : arith::MaxSIOp::create(b, x, y).getResult();
}

Value min(LocBuilder &b, Value x, Value y, bool isUnsigned) {
  if (isFloat(x))
    return arith::MinimumFOp::create(b, x, y);
  return isUnsigned ? arith::MinUIOp::create(b, x, y).getResult()
                    : arith::MinSIOp::create(b, x, y).getResult();
}

Value neg(LocBuilder &b, Value x) {
  if (isFloat(x))
    return arith::NegFOp::create(b, x);
  return sub(b, constant(b, x.getType(), 0), x);
}

Value compare(LocBuilder &b, Order order, Value x, Value y, bool isUnsigned) {
  using Float = arith::CmpFPredicate;
  using Integer = arith::CmpIPredicate;
  if (isFloat(x))
    return arith::CmpFOp::create(b,
                                 order == Order::Equal  ? Float::OEQ
                                 : order == Order::Less ? Float::OLT
                                                        : Float::OLE,
                                 x, y);
  Integer predicate = Integer::eq;
  if (order == Order::Less)
    predicate = isUnsigned ? Integer::ult : Integer::slt;
  if (order == Order::LessOrEqual)
    predicate = isUnsigned ? Integer::ule : Integer::sle;
  return arith::CmpIOp::create(b, predicate, x, y);
}

Value select(LocBuilder &b, Value condition, Value yes, Value no) {
  return arith::SelectOp::create(b, condition, yes, no);
}

Value both(LocBuilder &b, Value x, Value y) {
  return arith::AndIOp::create(b, x, y);
}

Value either(LocBuilder &b, Value x, Value y) {
  return arith::OrIOp::create(b, x, y);
}

Value negation(LocBuilder &b, Value condition) {
  return arith::XOrIOp::create(b, condition,
                               constant(b, condition.getType(), 1));
}

Value isNaN(LocBuilder &b, Value x) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
}

static Value toFloat(LocBuilder &b, Value x, int64_t from, Type type) {
  if (isUnsigned(from))
    return arith::UIToFPOp::create(b, type, x);
  return arith::SIToFPOp::create(b, type, x);
}

/// Brings an integer of 8 bits into the range of one of fewer.
static Value cutShort(LocBuilder &b, Value x, int64_t to) {
  unsigned width = widthOf(to);
  if (width == 1 || width >= 8)
    return x;
  Value gap = constant(b, x.getType(), 8 - width);
  Value high = arith::ShLIOp::create(b, x, gap);
  return isUnsigned(to) ? arith::ShRUIOp::create(b, high, gap).getResult()
                        : arith::ShRSIOp::create(b, high, gap).getResult();
}

static Value toInteger(LocBuilder &b, Value x, int64_t to, Type type) {
  if (widthOf(to) < 8) {
    // The high bits of an i32 are discarded, as those of all integers are.
    Value whole = arith::FPToSIOp::create(b, b.getI32Type(), x);
    return cutShort(b, arith::TruncIOp::create(b, type, whole), to);
  }
  if (isUnsigned(to))
    return arith::FPToUIOp::create(b, type, x);
  return arith::FPToSIOp::create(b, type, x);
}

Value convert(LocBuilder &b, Value x, int64_t from, int64_t to) {
  Type type = elementType(b.getContext(), to);
  if (from == to)
    return x;
  if (to == type::Bool) {
    Value zero = constant(b, x.getType(), 0);
    if (isFloat(x))
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, zero);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, zero);
  }
  if (isFloat(x)) {
    if (isInteger(to))
      return toInteger(b, x, to, type);
    if (type == x.getType())
      return x;
    return type.isF64() ? arith::ExtFOp::create(b, type, x).getResult()
                        : arith::TruncFOp::create(b, type, x).getResult();
  }
  if (!isInteger(to))
    return toFloat(b, x, from, type);
  unsigned before = x.getType().getIntOrFloatBitWidth();
  unsigned after = type.getIntOrFloatBitWidth();
  if (after > before)
    x = isUnsigned(from) ? arith::ExtUIOp::create(b, type, x).getResult()
                         : arith::ExtSIOp::create(b, type, x).getResult();
  else if (after < before)
    x = arith::TruncIOp::create(b, type, x);
  return cutShort(b, x, to);
}

Value toIndex(LocBuilder &b, Value x) {
  if (isFloat(x))
    x = arith::FPToSIOp::create(b, b.getI64Type(), x);
  return arith::IndexCastOp::create(b, b.getIndexType(), x);
}

Value fromIndex(LocBuilder &b, Value index, Type type) {
  if (!isa<FloatType>(type))
    return arith::IndexCastOp::create(b, type, index);
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), index);
  return arith::SIToFPOp::create(b, type, integer);
}

Value clampIndex(LocBuilder &b, Value index, Value size) {
  Value zero = constant(b, index.getType(), 0);
  Value last = sub(b, size, constant(b, index.getType(), 1));
  return max(b, zero, min(b, index, last));
}

Value wrapIndex(LocBuilder &b, Value index, Value size) {
  Value zero = constant(b, index.getType(), 0);
  Value wrapped = select(b, compare(b, Order::Less, index, zero),
                         add(b, index, size), index);
  return clampIndex(b, wrapped, size);
}

} // namespace numera::importer
