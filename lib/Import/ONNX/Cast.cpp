//===- Cast.cpp - Casts to and from number formats ------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// A cast between f32 and a narrower float is a numera.cast with the rounding
// and the overflow rule of the ONNX standard. Casts of constants between f32
// and integers are computed here.
//
//===----------------------------------------------------------------------===//
#include "Formats.h"
#include "Operators.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <onnx/onnx_pb.h>

using namespace mlir;
using onnx::TensorProto;

namespace numera::importer {

namespace {
/// Which attributes of Cast a format listens to.
enum class Range {
  IEEE,     ///< infinity beyond it
  Chosen,   ///< `saturate`
  Finite,   ///< the largest number beyond it
  PowersOf2 ///< `round_mode` and `saturate`
};

struct CastFormat {
  /// Of TensorProto.DataType: older onnx headers lack the later names.
  int64_t number;
  StringRef name;
  StringRef spelling;
  Range range;
};

constexpr CastFormat kFormats[] = {
    {10, "FLOAT16", "float<5,10>", Range::IEEE},
    {16, "BFLOAT16", "float<8,7>", Range::IEEE},
    {17, "FLOAT8E4M3FN", "float<4,3,fn>", Range::Chosen},
    {18, "FLOAT8E4M3FNUZ", "float<4,3,fnuz>", Range::Chosen},
    {19, "FLOAT8E5M2", "float<5,2>", Range::Chosen},
    {20, "FLOAT8E5M2FNUZ", "float<5,2,fnuz>", Range::Chosen},
    {23, "FLOAT4E2M1", "float<2,1,finite>", Range::Finite},
    {24, "FLOAT8E8M0", "float<8,0,fnu>", Range::PowersOf2},
};

/// Integers that QuantizeLinear stores and DequantizeLinear reads.
constexpr std::pair<int64_t, StringRef> kIntegers[] = {
    {2, "fixed<8,0,unsigned>"},  {3, "fixed<7,0>"},
    {4, "fixed<16,0,unsigned>"}, {5, "fixed<15,0>"},
    {21, "fixed<4,0,unsigned>"}, {22, "fixed<3,0>"},
};
} // namespace

static const CastFormat *findFormat(int64_t number) {
  const CastFormat *found = llvm::find_if(
      kFormats, [&](const CastFormat &row) { return row.number == number; });
  return found == std::end(kFormats) ? nullptr : found;
}

static Format formatOf(int64_t dataType) {
  StringRef spelling;
  if (const CastFormat *row = findFormat(dataType))
    spelling = row->spelling;
  for (auto [number, integer] : kIntegers)
    if (number == dataType)
      spelling = integer;
  SpellingError error;
  return spelling.empty() ? Format() : parseFormatSpelling(spelling, error);
}

Type formatElement(MLIRContext *context, int64_t dataType) {
  Format format = formatOf(dataType);
  return format ? NumType::get(context, format) : Type();
}

Format codeFormat(int64_t dataType) {
  Format format = formatOf(dataType);
  bool isInteger = dataType >= 2 && dataType <= 5;
  return format && format.width() <= 8 && !isInteger ? format : Format();
}

std::string dataTypeName(int64_t dataType) {
  if (const CastFormat *row = findFormat(dataType))
    return row->name.str();
  if (dataType == int(dataType) && TensorProto::DataType_IsValid(dataType))
    return TensorProto::DataType_Name(TensorProto::DataType(dataType));
  return "number " + std::to_string(dataType);
}

/// Says how the cast rounds and what becomes of numbers out of range.
static LogicalResult setRules(Node &node, CastOp cast, const CastFormat &to) {
  bool saturates = node.integer("saturate", 1);
  std::string mode = node.text("round_mode", "up");
  if (to.range == Range::Chosen)
    cast.setOverflow(saturates ? Overflow::Saturate : Overflow::Infinity);
  if (to.range != Range::PowersOf2)
    return success();
  // Below the least power of 2 it would have to be NaN, which no overflow is.
  if (!saturates)
    return node.error("saturate = 0 is not supported for " + to.name +
                      "; expected 1");
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

/// A cast that is computed when the program runs.
static LogicalResult castNumbers(Node &node, const Tensor &x,
                                 const CastFormat *to) {
  Emitter &emit = node.emit;
  MLIRContext *context = emit.b.getContext();
  Type element = to ? formatElement(context, to->number) : Type();
  RankedTensorType type = emit.type(x.shape);
  if (element)
    type = type.clone(element);
  auto cast = CastOp::create(emit.b, type, emit.value(x));
  if (to && failed(setRules(node, cast, *to)))
    return failure();
  Tensor result = emit.result(cast.getResult(), x.shape);
  result.format = element;
  return node.finish(result);
}

LogicalResult importCast(Node &node) {
  node.ignore("saturate");
  node.ignore("round_mode");
  const Tensor &x = node.input(0);
  int64_t to = node.integer("to", 0);
  bool toFloat = to == TensorProto::FLOAT || to == TensorProto::DOUBLE;
  bool toInt = to == TensorProto::INT64 || to == TensorProto::INT32;
  if (node.failed())
    return failure();
  const CastFormat *format = findFormat(to);
  if (!x.integral && (format || (x.format && to == TensorProto::FLOAT)))
    return castNumbers(node, x, format);
  if (!x.format &&
      ((toFloat && !x.integral && (x.host || to == TensorProto::FLOAT)) ||
       (toInt && x.integral)))
    return node.finish(x);
  if (!x.host || (!toFloat && !toInt))
    return node.error("a cast to type " + dataTypeName(to) +
                      (x.host ? " of a constant" : " of a computed tensor") +
                      " is not supported; expected f32, a narrower float, or "
                      "constants between f32 and i64");
  if (toFloat) {
    std::vector<float> floats;
    for (Dim dim : x.host->ints) {
      if (dim.batched)
        return node.error(node.inputName(0) + " depends on the batch size; "
                                              "expected a constant");
      floats.push_back(dim.count);
    }
    return node.finish(Tensor::ofFloats(std::move(floats), x.shape));
  }
  std::vector<Dim> ints;
  for (float number : x.host->floats) {
    if (!(std::fabs(number) < 0x1p62f))
      return node.error(node.inputName(0) +
                        " holds a number that is not an integer's");
    ints.push_back(Dim::fixed(number));
  }
  return node.finish(Tensor::ofInts(std::move(ints), x.shape));
}

} // namespace numera::importer
