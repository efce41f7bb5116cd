//===- Types.cpp - The element types of ONNX ------------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Types.h"
#include "mlir/IR/BuiltinTypes.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace numera::importer {

namespace {
struct Row {
  int64_t number;
  StringRef name;
  /// Of integers: the bits, and whether they have no sign.
  unsigned width = 0;
  bool isUnsigned = false;
  /// The number format of what MLIR has no arithmetic for.
  StringRef spelling = {};
};

constexpr Row kRows[] = {
    {type::Float, "FLOAT"},
    {type::UInt8, "UINT8", 8, true},
    {type::Int8, "INT8", 8},
    {type::UInt16, "UINT16", 16, true},
    {type::Int16, "INT16", 16},
    {type::Int32, "INT32", 32},
    {type::Int64, "INT64", 64},
    {8, "STRING"},
    {type::Bool, "BOOL", 1, true},
    {type::Float16, "FLOAT16", 0, false, "float<5,10>"},
    {type::Double, "DOUBLE"},
    {type::UInt32, "UINT32", 32, true},
    {type::UInt64, "UINT64", 64, true},
    {14, "COMPLEX64"},
    {15, "COMPLEX128"},
    {type::BFloat16, "BFLOAT16", 0, false, "float<8,7>"},
    {type::Float8E4M3FN, "FLOAT8E4M3FN", 0, false, "float<4,3,fn>"},
    {18, "FLOAT8E4M3FNUZ", 0, false, "float<4,3,fnuz>"},
    {19, "FLOAT8E5M2", 0, false, "float<5,2>"},
    {type::Float8E5M2FNUZ, "FLOAT8E5M2FNUZ", 0, false, "float<5,2,fnuz>"},
    {type::UInt4, "UINT4", 4, true, "fixed<4,0,unsigned>"},
    {type::Int4, "INT4", 4, false, "fixed<3,0>"},
    {type::Float4E2M1, "FLOAT4E2M1", 0, false, "float<2,1,finite>"},
    {type::Float8E8M0, "FLOAT8E8M0", 0, false, "float<8,0,fnu>"},
    {type::UInt2, "UINT2", 2, true, "fixed<2,0,unsigned>"},
    {type::Int2, "INT2", 2, false, "fixed<1,0>"},
};
} // namespace

static const Row *find(int64_t dataType) {
  const Row *found = llvm::find_if(
      kRows, [&](const Row &row) { return row.number == dataType; });
  return found == std::end(kRows) ? nullptr : found;
}

bool isInteger(int64_t dataType) { return widthOf(dataType) != 0; }

bool isUnsigned(int64_t dataType) {
  const Row *row = find(dataType);
  return row && row->isUnsigned;
}

unsigned widthOf(int64_t dataType) {
  const Row *row = find(dataType);
  return row ? row->width : 0;
}

bool isNarrow(int64_t dataType) {
  const Row *row = find(dataType);
  return row && row->width == 0 && !row->spelling.empty();
}

bool isNumeric(int64_t dataType) {
  return dataType == type::Float || dataType == type::Double ||
         isInteger(dataType) || isNarrow(dataType);
}

static Format formatOf(int64_t dataType) {
  const Row *row = find(dataType);
  SpellingError error;
  return row && !row->spelling.empty()
             ? parseFormatSpelling(row->spelling, error)
             : Format();
}

Type elementType(MLIRContext *context, int64_t dataType) {
  if (unsigned width = widthOf(dataType))
    return IntegerType::get(context, width == 1 ? 1 : std::max(width, 8u));
  if (isNarrow(dataType))
    return NumType::get(context, formatOf(dataType));
  return dataType == type::Double ? Type(Float64Type::get(context))
                                  : Type(Float32Type::get(context));
}

Type boundaryType(MLIRContext *context, int64_t dataType) {
  unsigned width = widthOf(dataType);
  if (width > 1 && width < 8)
    return NumType::get(context, formatOf(dataType));
  if (width >= 8 && isUnsigned(dataType))
    return IntegerType::get(context, width, IntegerType::Unsigned);
  return elementType(context, dataType);
}

Type arrayType(MLIRContext *context, int64_t dataType) {
  if (dataType == type::Float16)
    return Float16Type::get(context);
  if (dataType == type::BFloat16)
    return BFloat16Type::get(context);
  return Type();
}

Format codeFormat(int64_t dataType) {
  Format format = formatOf(dataType);
  return format && format.width() <= 8 ? format : Format();
}

int64_t wrap(int64_t value, int64_t dataType) {
  unsigned width = widthOf(dataType);
  if (dataType == type::Bool)
    return value != 0;
  if (width == 0 || width == 64)
    return value;
  uint64_t bits = uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(width);
  return isUnsigned(dataType) ? int64_t(bits) : llvm::SignExtend64(bits, width);
}

std::string dataTypeName(int64_t dataType) {
  const Row *row = find(dataType);
  return row ? row->name.str() : "number " + std::to_string(dataType);
}

} // namespace numera::importer
