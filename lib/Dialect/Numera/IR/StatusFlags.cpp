// SPDX-License-Identifier: MIT
//
// The rules of `numera.status_flags`.

#include "numera/Dialect/Numera/IR/StatusFlags.h"
#include "FoldElements.h"
#include "numera/Numerics/Flags/StatusFlag.h"
#include "numera/Registry/Formats/ExactValue.h"

using namespace mlir;

namespace numera {

LogicalResult StatusFlagsOp::verify() {
  auto operation = operationFromName(getOf());
  if (!operation)
    return emitOpError("of '")
           << getOf() << "', which is not an operation of the dialect";
  unsigned expected = operandCount(*operation);
  if (getInputs().size() != expected)
    return emitOpError("has ") << getInputs().size() << " operands; '"
                               << getOf() << "' takes " << expected;
  if (getOperandFormats().size() != expected)
    return emitOpError("has ")
           << getOperandFormats().size() << " operand formats for " << expected
           << " operands";
  return success();
}

/// A format with arithmetic whose numbers unpack exactly; null for others, and
/// for integers.
static Format exactFormat(Attribute attribute) {
  auto named = dyn_cast<FormatAttr>(attribute);
  Format format = named ? named.getFormat() : Format();
  return format && format.getFamily().hasArithmetic() &&
                 !format.getFamily().isIrrational()
             ? format
             : Format();
}

OpFoldResult StatusFlagsOp::fold(FoldAdaptor adaptor) {
  OpKind operation = *operationFromName(getOf());
  Format result = exactFormat(getFormat());
  auto operands = llvm::map_to_vector<3>(getOperandFormats(), exactFormat);
  if (!result || !llvm::all_of(operands, [](const Format &f) { return !!f; }) ||
      getRandom() || getProduct())
    return {};
  if (operation == OpKind::Mac)
    operation = OpKind::Fma;
  RoundingMode mode = getRounding().value_or(Rounding::NearestEven);
  auto decoded = [&](size_t i, uint64_t code) {
    const FormatFamily &family = operands[i].getFamily();
    int32_t cut = getTruncation() && i < getTruncation()->size()
                      ? (*getTruncation())[i]
                      : 0;
    return family.decode(operands[i],
                         cut ? family.truncate(operands[i], code, cut) : code);
  };
  auto evaluate = [&](ArrayRef<uint64_t> codes) -> std::optional<uint64_t> {
    const FormatFamily &family = result.getFamily();
    if (!family.mayRaiseFlags(result, codes.back()))
      return flag::none;
    Unpacked values[3] = {};
    for (size_t i = 0; i < operands.size(); ++i)
      values[i] = decoded(i, codes[i]);
    Unpacked exact =
        exactValue(operation, ArrayRef(values, operands.size()), mode.rounding);
    return family.statusFlags(result, exact, values, mode);
  };
  return foldElements(getType(), adaptor.getOperands(), evaluate);
}

} // namespace numera

#define GET_OP_CLASSES
#include "numera/Dialect/Numera/IR/NumeraStatusFlags.cpp.inc"
