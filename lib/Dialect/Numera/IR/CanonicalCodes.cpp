// SPDX-License-Identifier: MIT
//
// Some formats have several codes for NaN, and formats that flush have several
// for zero. Operations return one of them; an argument may have any. So a cast
// that changes no value can be removed only if its operand comes from an
// operation.

#include "numera/Dialect/Numera/IR/CanonicalCodes.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace numera {

/// True if no value has two codes, and NaN no more than one.
static bool hasOneCodePerValue(const Format &format) {
  const FormatFamily &family = format.getFamily();
  FormatFamily::SpecialCodes codes = family.specialCodes(format);
  return codes.nan <= 1 &&
         codes.zero <= (family.range(format).hasNegativeZero ? 2u : 1u);
}

/// True if `op` has gone through the format's encode.
static bool givesCanonicalCodes(Operation *op, const Format &format) {
  if (auto interface = dyn_cast<FormatOpInterface>(op))
    return interface.getResultElement().format == format &&
           !isa<CmpOp, IsNaNOp>(op) && !isOverridden(interface);
  if (auto encode = dyn_cast<EncodeOp>(op))
    return encode.getFormat().getFormat() == format;
  return false;
}

bool hasCanonicalCodes(Value value, const Format &format, ElementTrace trace) {
  // Which codes an opaque format has for NaN, only its library knows.
  if (format.isOpaque() || hasOneCodePerValue(format))
    return true;
  // A loop may lead back to a value.
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (op && givesCanonicalCodes(op, format))
      continue;
    if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
      values.insert(select.getTrueValue());
      values.insert(select.getFalseValue());
      continue;
    }
    SmallVector<Value> sources;
    if (!trace || !trace(values[i], sources))
      return false;
    values.insert_range(sources);
  }
  return true;
}

} // namespace numera
