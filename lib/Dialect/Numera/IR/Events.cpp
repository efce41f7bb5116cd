// SPDX-License-Identifier: MIT
//
// The rules of `numera.events`.

#include "numera/Dialect/Numera/IR/Events.h"

using namespace mlir;

namespace numera {

LogicalResult EventsOp::verify() {
  auto operation = operationFromName(getOf());
  if (!operation)
    return emitOpError("of '")
           << getOf() << "', which is no operation of the dialect";
  unsigned expected = operandCount(*operation);
  if (getInputs().size() != expected)
    return emitOpError("has ") << getInputs().size() << " operands; '"
                               << getOf() << "' takes " << expected;
  if (getOperandFormats().size() != expected)
    return emitOpError("has ")
           << getOperandFormats().size() << " operand formats for " << expected
           << " operands";
  return detail::verifyRounding(*this);
}

} // namespace numera

#define GET_OP_CLASSES
#include "numera/Dialect/Numera/IR/NumeraEvents.cpp.inc"
