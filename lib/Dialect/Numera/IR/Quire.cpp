// SPDX-License-Identifier: MIT
//
// The type of quires and the rules of the operations on them.

#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

static const Registry &registryOf(MLIRContext *context) {
  return context->getLoadedDialect<NumeraDialect>()->getRegistry();
}

/// The bytes of the accumulator of an opaque format; 0: it has none.
static unsigned accumulatorBytes(MLIRContext *context, const Format &format) {
  const Registry::NamedFormat *entry = registryOf(context).entryOf(format);
  return entry ? entry->accumulatorBytes : 0;
}

IntegerType QuireType::getStorageType() const {
  // Memory holds integers above 64 bits at multiples of 16 bytes, and on a GPU
  // those above 128 bits at multiples of 32: there are as many words more as
  // make the size the same wherever it is asked for. Nobody looks at them.
  unsigned words = getFormat().isOpaque()
                       ? (accumulatorBytes(getContext(), getFormat()) + 7) / 8
                       : getFormat().getFamily().quire(getFormat()).words();
  return IntegerType::get(getContext(),
                          64 * (words > 2 ? llvm::alignTo(words, 4) : words));
}

llvm::TypeSize QuireType::getTypeSizeInBits(const DataLayout &,
                                            DataLayoutEntryListRef) const {
  return llvm::TypeSize::getFixed(getStorageType().getWidth());
}

uint64_t QuireType::getABIAlignment(const DataLayout &,
                                    DataLayoutEntryListRef) const {
  return 8;
}

LogicalResult
QuireType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  Format format) {
  std::string error;
  // The accumulator of an opaque format is the configuration's, which the
  // operations ask.
  if (!format.isOpaque() && !quireOf(format, error))
    return emitError() << error;
  return success();
}

unsigned quireWords(const Format &format) {
  return format.isOpaque() ? 0 : format.getFamily().quire(format).words();
}

Type quireWordType(Type quire) {
  Type word = IntegerType::get(quire.getContext(), 64);
  auto shaped = dyn_cast<ShapedType>(quire);
  return shaped ? Type(shaped.clone(word)) : word;
}

SmallVector<Type> quireWordTypes(Type quire) {
  auto type = cast<QuireType>(numera::elementType(quire));
  return SmallVector<Type>(quireWords(type.getFormat()), quireWordType(quire));
}

LogicalResult QuireWordOp::verify() {
  auto type = cast<QuireType>(numera::elementType(getQuire().getType()));
  unsigned words = quireWords(type.getFormat());
  if (words == 0)
    return emitOpError("reads an accumulator that only the library of '")
           << type.getFormat().spelling() << "' knows";
  if (getIndex() >= words)
    return emitOpError("reads word ")
           << getIndex() << ", but a quire of '" << type.getFormat().spelling()
           << "' has " << words;
  return success();
}

bool hasQuire(MLIRContext *context, const Format &format, std::string &error) {
  return hasQuire(registryOf(context), format, error);
}

bool hasQuire(const Registry &registry, const Format &format,
              std::string &error) {
  if (!format.isOpaque())
    return quireOf(format, error).has_value();
  const Registry::NamedFormat *entry = registry.entryOf(format);
  if (entry && entry->accumulatorBytes != 0)
    return true;
  error = "format '" + format.getOpaqueName().str() +
          "' has no quire: expected 'accumulator: {storage: BYTES, mac: "
          "SYMBOL, round: SYMBOL}' in its entry";
  return false;
}

namespace detail {

Format quireFormat(Operation *op) {
  if (auto format = op->getAttrOfType<FormatAttr>("format"))
    return format.getFormat();
  auto quire = dyn_cast<QuireType>(
      numera::elementType(cast<QuireOpInterface>(op).getQuire().getType()));
  return quire ? quire.getFormat() : Format();
}

bool isAccumulation(Operation *op) { return !isa<QuireRoundOp>(op); }

static LogicalResult verifyQuire(Operation *op, Type type,
                                 const Format &format) {
  std::string error;
  if (auto quire = dyn_cast<QuireType>(type)) {
    if (quire.getFormat() == format)
      return hasQuire(op->getContext(), format, error)
                 ? success()
                 : LogicalResult(op->emitOpError(error));
    return op->emitOpError("has a quire of '")
           << quire.getFormat().spelling() << "', but format '"
           << format.spelling() << "'";
  }
  if (!hasQuire(op->getContext(), format, error))
    return op->emitOpError(error);
  auto storage = QuireType::get(op->getContext(), format).getStorageType();
  if (type == storage)
    return success();
  return op->emitOpError("has a quire of type ")
         << type << ", but that of '" << format.spelling() << "' is stored in "
         << storage;
}

/// A number of `format`, in the quire's form.
static LogicalResult verifyNumber(Operation *op, Type type,
                                  const Format &format, bool isStorage,
                                  StringRef what) {
  type = numera::elementType(type);
  Format ofType = formatOfType(type);
  if (ofType ? ofType == format
             : isStorage && type.isInteger(format.storageBits()))
    return success();
  return op->emitOpError(what) << " has type " << type << ", expected format '"
                               << format.spelling() << "'";
}

LogicalResult verifyQuireOp(Operation *op) {
  auto quireOp = cast<QuireOpInterface>(op);
  Value quire = quireOp.getQuire();
  Type type = numera::elementType(quire.getType());
  bool isStorage = !isa<QuireType>(type);
  Format format = quireFormat(op);
  if (!format)
    return op->emitOpError("has a quire of type ")
           << type << ", a storage integer: it needs the attribute 'format'";
  if (failed(verifyQuire(op, type, format)))
    return failure();
  unsigned quireIndex = isa<QuireMacOp>(op) ? 2 : 0;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (i != quireIndex && !isa<QuireMergeOp, QuireRoundOp>(op) &&
        failed(verifyNumber(op, operand.getType(), format, isStorage,
                            ("operand " + Twine(i)).str())))
      return failure();
  auto round = dyn_cast<QuireRoundOp>(op);
  if (!round)
    return success();
  Type result = numera::elementType(round.getType());
  Format rounded = round.getRoundedFormat();
  if (rounded != format &&
      (!rounded.getFamily().hasArithmetic() || format.isOpaque()))
    return op->emitOpError("rounds to '")
           << rounded.spelling()
           << (format.isOpaque()
                   ? "', but the accumulator's library rounds to its format"
                   : "', which is opaque: expected a format with arithmetic");
  if (round.drawsRandom() && !round.getRandom())
    return op->emitOpError("rounds stochastically; expected random bits, as in "
                           "'random %r'");
  if (round.getRandom() && !round.drawsRandom())
    return op->emitOpError("has random bits, but does not round "
                           "stochastically");
  return verifyNumber(op, result, rounded, isStorage, "result");
}

} // namespace detail

Format QuireRoundOp::getRoundedFormat() {
  if (auto format = getResultFormatAttr())
    return format.getFormat();
  if (Format format = formatOfType(numera::elementType(getType())))
    return format;
  return detail::quireFormat(*this);
}

bool QuireRoundOp::drawsRandom() {
  return getRoundingMode().rounding == Rounding::Stochastic;
}

RoundingMode QuireRoundOp::getRoundingMode() {
  if (!getRounding())
    return getRoundedFormat().getRoundingMode();
  Rounding rounding = *getRounding();
  return {rounding, rounding == Rounding::Stochastic ? defaultRandomBits : 0};
}

} // namespace numera
