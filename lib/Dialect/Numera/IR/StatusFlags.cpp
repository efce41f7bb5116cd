// SPDX-License-Identifier: MIT
//
// The rules of `numera.status_flags`.

#include "numera/Dialect/Numera/IR/StatusFlags.h"

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

} // namespace numera

#define GET_OP_CLASSES
#include "numera/Dialect/Numera/IR/NumeraStatusFlags.cpp.inc"
