//===- Cast.cpp - Casts between element types -----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A cast to a narrower float is a numera.cast with the rounding and the
// overflow rule of the ONNX standard. Casts between the other types are
// operations of arith; those of constants are computed here.
//
//===----------------------------------------------------------------------===//
#include "Operators.h"
#include "Scalar.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace numera::importer {

/// Says how the cast rounds and what becomes of numbers out of range.
static LogicalResult setRules(Node &node, CastOp cast, int64_t to) {
  bool saturates = node.integer("saturate", 1);
  std::string mode = node.text("round_mode", "up");
  if (to >= type::Float8E4M3FN && to <= type::Float8E5M2FNUZ)
    cast.setOverflow(saturates ? Overflow::Saturate : Overflow::Infinity);
  if (to != type::Float8E8M0)
    return success();
  // Below the least power of 2 it would have to be NaN, which no overflow is.
  if (!saturates)
    return node.error("saturate = 0 is not supported for FLOAT8E8M0; "
                      "expected 1");
  auto rounding = llvm::StringSwitch<std::optional<Rounding>>(mode)
                      .Case("up", Rounding::Up)
                      .Case("down", Rounding::Down)
                      .Case("nearest", Rounding::NearestAway)
                      .Default(std::nullopt);
  if (!rounding)
    return node.error("attribute 'round_mode' is " + quote(mode) +
                      "; expected 'up', 'down' or 'nearest'");
  cast.setRounding(rounding);
  return success();
}

Tensor widen(Emitter &emit, const Tensor &tensor) {
  if (!isNarrow(tensor.dataType))
    return tensor;
  if (tensor.host && !tensor.value) {
    Tensor wide = tensor;
    wide.dataType = type::Float;
    return wide;
  }
  Value value = emit.value(tensor);
  return emit.result(CastOp::create(emit.b, emit.type(tensor.shape), value),
                     tensor.shape);
}

Tensor narrow(Emitter &emit, const Tensor &tensor, int64_t dataType) {
  Value value = emit.value(tensor);
  return emit.result(
      CastOp::create(emit.b, emit.type(tensor.shape, dataType), value),
      tensor.shape, dataType);
}

/// -0 in place of NaN, which a format may not have.
static Tensor withoutNaN(Emitter &emit, const Tensor &x) {
  return emit.map({&x}, x.shape, [](LocBuilder &b, ValueRange args) {
    Value zero = constant(b, args[0].getType(), -0.0);
    return select(b, isNaN(b, args[0]), zero, args[0]);
  });
}

/// A cast to a narrow float.
static LogicalResult castToFormat(Node &node, const Tensor &x, int64_t to) {
  Emitter &emit = node.emit;
  Tensor source = x;
  if (x.isIntegral())
    source = convertTo(emit, x, type::Float);
  if (to == type::Float4E2M1)
    source = withoutNaN(emit, widen(emit, source));
  Value value = emit.value(source);
  auto cast = CastOp::create(emit.b, emit.type(x.shape, to), value);
  if (failed(setRules(node, cast, to)))
    return failure();
  return node.finish(emit.result(cast.getResult(), x.shape, to));
}

Tensor convertTo(Emitter &emit, const Tensor &given, int64_t to) {
  if (given.dataType == to)
    return given;
  Tensor x = widen(emit, given);
  bool isKnown = x.host && !x.value;
  if (isNarrow(to))
    return narrow(emit, x.isIntegral() ? convertTo(emit, x, type::Float) : x,
                  to);
  if (x.dataType == to)
    return x;
  // Constants of whatever size, and multiples of sizes in types that have them.
  bool holdsSizes = to == type::Int64 || to == type::Int32;
  if (isKnown && x.isIntegral() && isInteger(to) &&
      (!x.isDynamic() || holdsSizes)) {
    std::vector<Dim> ints = x.host->ints;
    for (Dim &dim : ints)
      dim.count = wrap(dim.count, to);
    return Tensor::ofInts(std::move(ints), x.shape, to);
  }
  if (isKnown && x.isIntegral() && !x.isDynamic()) {
    std::vector<double> doubles;
    for (Dim dim : x.host->ints)
      doubles.push_back(x.dataType == type::UInt64 ? double(uint64_t(dim.count))
                                                   : double(dim.count));
    Tensor floats =
        to == type::Double
            ? Tensor::ofDoubles(doubles, x.shape)
            : Tensor::ofFloats({doubles.begin(), doubles.end()}, x.shape);
    floats.isFromShape = true;
    return floats;
  }
  if (isKnown && x.dataType == type::Float && to == type::Double) {
    Tensor wide = Tensor::ofDoubles(
        {x.host->floats.begin(), x.host->floats.end()}, x.shape);
    wide.isFromShape = x.isFromShape;
    return wide;
  }
  if (isKnown && x.isDouble() && to == type::Float) {
    Tensor rounded = Tensor::ofFloats(
        {x.host->doubles.begin(), x.host->doubles.end()}, x.shape);
    rounded.isFromShape = x.isFromShape;
    return rounded;
  }
  return emit.map(
      {&x}, x.shape,
      [&](LocBuilder &b, ValueRange args) {
        return convert(b, args[0], x.dataType, to);
      },
      to);
}

static LogicalResult castTo(Node &node, int64_t to) {
  node.ignore("saturate");
  node.ignore("round_mode");
  const Tensor &x = node.input(0);
  if (node.failed())
    return failure();
  if (!isNumeric(to))
    return node.error("a cast to type " + dataTypeName(to) +
                      " is not supported; expected a type of real numbers, or "
                      "BOOL");
  if (isNarrow(to) && x.dataType != to)
    return castToFormat(node, x, to);
  if (isInteger(to) || x.dataType != type::Float)
    return node.finish(convertTo(node.emit, x, to));
  return node.finish(to == type::Float ? x : convertTo(node.emit, x, to));
}

LogicalResult importCast(Node &node) {
  return castTo(node, node.integer("to", 0));
}

LogicalResult importCastLike(Node &node) {
  return castTo(node, node.input(1).dataType);
}

/// The bits in memory, where BOOL is a byte of 0 or 1; 0 for what has none
/// here.
static unsigned bitsOf(Emitter &emit, int64_t dataType) {
  if (dataType == type::Bool)
    return 8;
  if (isNarrow(dataType))
    return formatOfType(emit.element(dataType)).width();
  if (unsigned width = widthOf(dataType))
    return width;
  return dataType == type::Double ? 64 : 32;
}

static int64_t unsignedOf(unsigned bits) {
  switch (bits) {
  case 2:
    return type::UInt2;
  case 4:
    return type::UInt4;
  case 8:
    return type::UInt8;
  case 16:
    return type::UInt16;
  case 32:
    return type::UInt32;
  default:
    return type::UInt64;
  }
}

static Tensor bitcast(Emitter &emit, const Tensor &x, int64_t to) {
  return emit.map(
      {&x}, x.shape,
      [&](LocBuilder &b, ValueRange args) -> Value {
        return arith::BitcastOp::create(b, emit.element(to), args[0]);
      },
      to);
}

/// Codes of a narrower float from it, or it from codes: what is narrow among
/// both says the format.
static Tensor castCodes(Emitter &emit, const Tensor &x, int64_t to) {
  Value value = emit.value(x);
  auto cast = CastOp::create(emit.b, emit.type(x.shape, to), value);
  Type number = emit.element(isNarrow(to) ? to : x.dataType);
  auto format = FormatAttr::get(emit.b.getContext(), formatOfType(number));
  if (!isNarrow(to))
    cast.setFormatAttr(format);
  cast.setOperandFormatsAttr(emit.b.getArrayAttr({format}));
  return emit.result(cast.getResult(), x.shape, to);
}

LogicalResult importBitCast(Node &node) {
  int64_t to = node.integer("to", 0);
  const Tensor &x = node.input(0);
  Emitter &emit = node.emit;
  if (!isNumeric(to) || bitsOf(emit, x.dataType) != bitsOf(emit, to))
    return node.error("a cast of the bits of " + dataTypeName(x.dataType) +
                      " to " + dataTypeName(to) +
                      " is not supported; expected a type of as many bits");
  if (x.dataType == to)
    return node.finish(x);
  // By way of an unsigned integer.
  int64_t whole = unsignedOf(bitsOf(emit, to));
  Tensor bits = isNarrow(x.dataType) ? castCodes(emit, x, whole)
                : x.isIntegral()     ? convertTo(emit, x, whole)
                                     : bitcast(emit, x, whole);
  return node.finish(isNarrow(to)    ? castCodes(emit, bits, to)
                     : isInteger(to) ? convertTo(emit, bits, to)
                                     : bitcast(emit, bits, to));
}

} // namespace numera::importer
