// SPDX-License-Identifier: MIT
//
// The operations between codes and carriers: verifiers and folders.

#include "FoldElements.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

static unsigned carrierWidth(Type type) {
  return numera::elementType(type).getIntOrFloatBitWidth();
}

static RoundingMode roundingModeOf(Operation *op, const Format &format) {
  auto rounding = op->getAttrOfType<RoundingAttr>("rounding");
  if (!rounding)
    return format.getRoundingMode();
  Rounding mode = rounding.getValue();
  auto bits = op->getAttrOfType<IntegerAttr>("random_bits");
  int32_t count =
      bits ? static_cast<int32_t>(bits.getInt()) : defaultRandomBits;
  return {mode, mode == Rounding::Stochastic ? count : 0};
}

RoundingMode RoundToOp::getRoundingMode() {
  return roundingModeOf(*this, getFormat().getFormat());
}
RoundingMode EncodeOp::getRoundingMode() {
  return roundingModeOf(*this, getFormat().getFormat());
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

bool hasCarrier(MLIRContext *context, const Format &format, unsigned width) {
  if (!format.isOpaque())
    return format.getFamily().hasCarrier(format, width);
  const Registry &registry =
      context->getLoadedDialect<NumeraDialect>()->getRegistry();
  Format carrier = registry.exactCarrierOf(format);
  return carrier && carrier.width() == width;
}

static LogicalResult verifyCarrier(Operation *op, const Format &format,
                                   Type carrier) {
  if (hasCarrier(op->getContext(), format, carrierWidth(carrier)))
    return success();
  return op->emitOpError("has the carrier ")
         << numera::elementType(carrier) << ", into which format '"
         << format.spelling() << "' does not embed";
}

static LogicalResult verifyCode(Operation *op, const Format &format,
                                Type code) {
  if (numera::elementType(code).isInteger(format.storageBits()))
    return success();
  return op->emitOpError("has the code type ")
         << numera::elementType(code) << ", but format '" << format.spelling()
         << "' is stored in i" << format.storageBits();
}

static LogicalResult verifyMode(Operation *op, const Format &format,
                                Type carrier, RoundingMode mode,
                                bool hasRandom) {
  if ((mode == Rounding::Stochastic) != hasRandom)
    return op->emitOpError(hasRandom
                               ? "has random bits, but does not round "
                                 "stochastically"
                               : "rounds stochastically; expected random bits, "
                                 "as in 'random %r'");
  if (mode == Rounding::Stochastic &&
      (mode.randomBits < 1 || mode.randomBits > 32))
    return op->emitOpError("has random_bits ")
           << mode.randomBits << "; expected 1 to 32";
  // An opaque format rounds in its carrier as its casts do.
  if (format.isOpaque() ? mode.pack() == format.getRoundingMode().pack()
                        : format.getFamily().roundsInCarrier(
                              format, carrierWidth(carrier), mode))
    return success();
  return op->emitOpError("format '")
         << format.spelling() << "' cannot be rounded " << nameOf(mode.rounding)
         << " in " << numera::elementType(carrier);
}

LogicalResult DecodeOp::verify() {
  Format format = getFormat().getFormat();
  if (failed(verifyCode(*this, format, getOperand().getType())))
    return failure();
  return verifyCarrier(*this, format, getType());
}

LogicalResult RoundToOp::verify() {
  Format format = getFormat().getFormat();
  bool isApproximate = carrierWidth(getType()) == 32 && !getRandom() &&
                       getRoundingMode() == Rounding::NearestEven &&
                       format.getFamily().approximatesInF32(format);
  if (isApproximate)
    return success();
  if (failed(verifyCarrier(*this, format, getType())))
    return failure();
  return verifyMode(*this, format, getType(), getRoundingMode(),
                    static_cast<bool>(getRandom()));
}

LogicalResult EncodeOp::verify() {
  Format format = getFormat().getFormat();
  Type carrier = getOperand().getType();
  if (failed(verifyCode(*this, format, getType())) ||
      failed(verifyCarrier(*this, format, carrier)))
    return failure();
  if (!isExact())
    return verifyMode(*this, format, carrier, getRoundingMode(),
                      static_cast<bool>(getRandom()));
  if (getRandom() || getRandomBits())
    return emitOpError("has random bits, but rounds nothing");
  return success();
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

OpFoldResult DecodeOp::fold(FoldAdaptor adaptor) {
  Format format = getFormat().getFormat();
  if (format.isOpaque())
    return {};
  return foldElements(getType(), adaptor.getOperands(), [&](auto codes) {
    return format.getFamily().decodeToCarrier(format, carrierWidth(getType()),
                                              codes[0]);
  });
}

OpFoldResult RoundToOp::fold(FoldAdaptor adaptor) {
  Format format = getFormat().getFormat();
  if (format.isOpaque())
    return {};
  return foldElements(getType(), adaptor.getOperands(), [&](auto operands) {
    RoundingMode mode = getRoundingMode();
    mode.random = static_cast<uint32_t>(operands.back());
    return format.getFamily().roundInCarrier(format, carrierWidth(getType()),
                                             operands[0], mode);
  });
}

OpFoldResult EncodeOp::fold(FoldAdaptor adaptor) {
  Format format = getFormat().getFormat();
  if (format.isOpaque())
    return {};
  const FormatFamily &family = format.getFamily();
  unsigned width = carrierWidth(getOperand().getType());
  return foldElements(getType(), adaptor.getOperands(), [&](auto operands) {
    uint64_t number = operands[0];
    RoundingMode mode = getRoundingMode();
    mode.random = static_cast<uint32_t>(operands.back());
    if (!isExact())
      number = family.roundInCarrier(format, width, number, mode);
    return family.encodeFromCarrier(format, width, number);
  });
}

} // namespace numera
