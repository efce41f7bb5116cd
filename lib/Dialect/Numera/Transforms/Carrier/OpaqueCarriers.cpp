// SPDX-License-Identifier: MIT

#include "OpaqueCarriers.h"
#include "numera/Registry/Lowerings/Derivation.h"

namespace numera {

Format opaqueFormatOf(FormatOpInterface op) {
  auto isOpaque = [](const Format &format) {
    return format && format.isOpaque();
  };
  Format result = op.getResultElement().format;
  if (isOpaque(result))
    return result;
  for (unsigned i = 0; i < op.getFormatOperandCount(); ++i)
    if (Format operand = op.getOperandElement(i).format; isOpaque(operand))
      return operand;
  return {};
}

static unsigned widthOfCarrier(const Registry &registry, const Format &format) {
  Format carrier = registry.exactCarrierOf(format);
  return carrier ? carrier.width() : 0;
}

bool runsInOpaqueCarrier(FormatOpInterface op, unsigned width, Target target) {
  const Registry &registry = registryOf(op);
  OperationRules rules = op.getRules();
  if (widthOfCarrier(registry, opaqueFormatOf(op)) != width ||
      rules.encoding != rules.result || rules.rounding == Rounding::Stochastic)
    return false;
  Lowering key{};
  key.operation = op.getFormatOperation();
  key.target = target;
  key.result = op.getResultElement().format;
  key.rounding = rules.rounding.rounding;
  for (unsigned i = 0; i < op.getFormatOperandCount(); ++i)
    key.operands.push_back(op.getOperandElement(i).format);
  if (!key.result || !llvm::all_of(key.operands, [](const Format &operand) {
        return static_cast<bool>(operand);
      }))
    return false; // an integer
  if (auto cmp = mlir::dyn_cast<CmpOp>(op.getOperation()))
    key.predicate =
        mlir::arith::stringifyCmpFPredicate(cmp.getPredicate()).str();
  return runsInCarrier(registry, key);
}

unsigned carrierOfStep(const Registry &registry, const Format &format,
                       Target target) {
  for (OpKind part : {OpKind::Mul, OpKind::Add}) {
    Lowering key{};
    key.operation = part;
    key.target = target;
    key.result = format;
    key.operands = {format, format};
    if (!runsInCarrier(registry, key))
      return 0;
  }
  return widthOfCarrier(registry, format);
}

} // namespace numera
