// SPDX-License-Identifier: MIT
//
// Registration, aliases (`!posit16`), and the bridge between types and formats.

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "numera/Dialect/Numera/IR/StatusFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#include "numera/Dialect/Numera/IR/NumeraDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "numera/Dialect/Numera/IR/NumeraAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "numera/Dialect/Numera/IR/NumeraTypes.cpp.inc"

namespace numera {

namespace {

/// Prints a type by its format's name in the registry (`!posit16`), else by
/// its spelling with the punctuation taken out (`!float_5_7`); a quire's is
/// `!quire_posit16`.
struct Aliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Type type, raw_ostream &os) const override {
    Format format;
    if (auto num = dyn_cast<NumType>(type))
      format = num.getFormat();
    else if (auto quire = dyn_cast<QuireType>(type))
      format = quire.getFormat();
    else
      return AliasResult::NoAlias;
    os << (isa<QuireType>(type) ? "quire_" : "");
    auto *dialect = cast<NumeraDialect>(getDialect());
    std::string alias = format.isOpaque()
                            ? format.getOpaqueName().str()
                            : dialect->getRegistry().nameOrSpelling(format);
    bool separate = false;
    for (char c : alias) {
      if (!llvm::isAlnum(c)) {
        separate = true;
        continue;
      }
      if (separate)
        os << '_';
      separate = false;
      os << c;
    }
    return AliasResult::OverridableAlias;
  }
};

} // namespace

void NumeraDialect::initialize() {
  registry = std::make_shared<const Registry>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "numera/Dialect/Numera/IR/NumeraAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "numera/Dialect/Numera/IR/NumeraTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "numera/Dialect/Numera/IR/NumeraOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "numera/Dialect/Numera/IR/NumeraStatusFlags.cpp.inc"
      >();
  addInterfaces<Aliases, SharedElements>();
}

Operation *NumeraDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location loc) {
  auto typed = cast<TypedAttr>(valueOfConstant(value));
  if (isa<NumType>(numera::elementType(type)))
    return ConstantOp::create(builder, loc, type, typed);
  return arith::ConstantOp::materialize(builder, typed, type, loc);
}

IntegerType NumType::getStorageType() const {
  return IntegerType::get(getContext(), getFormat().storageBits());
}

llvm::TypeSize NumType::getTypeSizeInBits(const DataLayout &,
                                          DataLayoutEntryListRef) const {
  return llvm::TypeSize::getFixed(getFormat().storageBits());
}

uint64_t NumType::getABIAlignment(const DataLayout &,
                                  DataLayoutEntryListRef) const {
  return getFormat().storageBits() / 8;
}

Format formatOfType(Type type) {
  if (auto num = dyn_cast<NumType>(type))
    return num.getFormat();
  if (type.isF32())
    return formatF32();
  if (type.isF64())
    return formatF64();
  return {};
}

Attribute attributeOf(MLIRContext *context, const ElementKind &kind) {
  if (kind.isFormat())
    return FormatAttr::get(context, kind.format);
  return TypeAttr::get(kind.integer);
}

const Registry &registryOf(Operation *op) {
  return op->getContext()->getLoadedDialect<NumeraDialect>()->getRegistry();
}

FailureOr<Target> parseTarget(Operation *op, StringRef name) {
  if (name == "cpu")
    return Target::CPU;
  if (name == "nvptx")
    return Target::NVPTX;
  return op->emitError("unknown target '")
         << name << "'; expected cpu or nvptx";
}

std::string nodeNameOf(Location loc) {
  std::string name;
  loc->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  return name;
}

Type typeOfFormat(MLIRContext *context, const Format &format) {
  if (format == formatF32())
    return Float32Type::get(context);
  if (format == formatF64())
    return Float64Type::get(context);
  return NumType::get(context, format);
}

bool isExactCast(const Format &from, const Format &to) {
  return isExactCast(from, rulesOf(OpKind::Cast, to, from));
}

bool isExactCast(const Format &from, const OperationRules &rules) {
  const Format &to = rules.encoding;
  if (!embeds(from, rules.result) || !rules.truncation.empty())
    return false;
  const FormatFamily &source = from.getFamily(), &target = to.getFamily();
  if (!source.hasArithmetic() || !source.range(from).hasInfinity)
    return true;
  auto infinity = Unpacked::infinity(/*negative=*/false);
  uint64_t code = target.encode(to, infinity, rules.rounding);
  return target.decode(to, code).pack() == infinity.pack();
}

} // namespace numera
