// SPDX-License-Identifier: MIT
//
// Operations of an opaque format that no function is registered for, where its
// entry names a carrier (`carrier: f32`): the operands' registered casts to the
// carrier, the operation there, and the registered cast back.

#include "Lowerings.h"

using namespace mlir;

namespace numera {

/// The carrier that all opaque formats of the request name, into which its
/// other formats embed; null where there is none, or where nothing but the
/// registered casts would be left of the operation.
Format Lowerings::carrierOf(const Request &request,
                            ArrayRef<Scalar> operands) const {
  SmallVector<ElementKind, 4> kinds = {request.result};
  for (const Scalar &operand : operands)
    kinds.push_back(operand.kind);
  Format carrier;
  for (const ElementKind &kind : kinds)
    if (kind.isFormat() && kind.format.isOpaque()) {
      Format named = registry.carrierOf(kind.format);
      if (!named || (carrier && named != carrier))
        return {};
      carrier = named;
    }
  if (!carrier)
    return {};
  auto isCarrier = [&](const ElementKind &kind) {
    return kind.isFormat() && kind.format == carrier;
  };
  auto isExactOperand = [&](const Scalar &operand) {
    const ElementKind &kind = operand.kind;
    if (!kind.isFormat()) // every integer of the carrier's precision
      return kind.integer.getWidth() <=
             (machineWidth({carrier, {}}) == 32 ? 16u : 32u);
    return kind.format.isOpaque() || isExactCast(kind.format, carrier);
  };
  if (!llvm::all_of(operands, isExactOperand))
    return {};
  bool isOwnCast = request.operation == Operation::Cast &&
                   (isCarrier(request.result) || isCarrier(operands[0].kind));
  return isOwnCast ? Format() : carrier;
}

Value Lowerings::throughCarrier(OpBuilder &builder, const Request &request,
                                ArrayRef<Scalar> operands) {
  Format carrier = carrierOf(request, operands);
  if (!carrier)
    return missing(request, operands);
  ElementKind wide{carrier, {}};
  SmallVector<Scalar, 3> decoded;
  for (const Scalar &operand : operands) {
    Value value = operand.kind == wide
                      ? operand.value
                      : dispatch(builder, exactCast(request.op, wide), operand);
    if (!value)
      return {};
    decoded.push_back({value, wide});
  }
  Request last = request;
  last.operation = Operation::Cast;
  if (request.operation == Operation::Cast)
    return dispatch(builder, last, decoded);

  Request step = exactCast(request.op, wide);
  step.operation = request.operation;
  Value value = dispatch(builder, step, decoded);
  bool isTest = request.operation == Operation::Cmp ||
                request.operation == Operation::IsNaN;
  if (!value || isTest)
    return value;
  return dispatch(builder, last, Scalar{value, wide});
}

} // namespace numera
