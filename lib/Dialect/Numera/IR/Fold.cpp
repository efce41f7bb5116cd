// SPDX-License-Identifier: MIT
//
// Folders. They run the same Numerics code as the compiled program, through
// the format's family; nothing is folded that a library may define.

#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Numerics/Compare.h"
#include "numera/Numerics/Integral.h"
#include "numera/Numerics/Multiply.h"
#include "numera/Numerics/Random.h"

using namespace mlir;

namespace numera {

/// Casts are folded whatever their size (weights are encoded at compile time),
/// other operations only where the constant stays small.
static constexpr int64_t largestFoldedConstant = 1024;

/// Element `index` of a constant operand, as a code or as an integer's bits.
static std::optional<uint64_t> codeAt(Attribute constant, int64_t index) {
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(constant)) {
    auto element = dense.isSplat() ? 0 : index;
    if (isa<FloatType>(dense.getElementType()))
      return (*(dense.value_begin<APFloat>() + element))
          .bitcastToAPInt()
          .getZExtValue();
    return (*(dense.value_begin<APInt>() + element)).getZExtValue();
  }
  if (auto integer = dyn_cast_or_null<IntegerAttr>(constant))
    return integer.getValue().getZExtValue();
  if (auto number = dyn_cast_or_null<FloatAttr>(constant))
    return number.getValue().bitcastToAPInt().getZExtValue();
  return std::nullopt;
}

static uint64_t encode(const Format &format, const Unpacked &value,
                       RoundingMode mode) {
  return format.getFamily().encode(format, value, mode);
}
static Unpacked decode(const Format &format, uint64_t code) {
  return format.getFamily().decode(format, code);
}

static std::optional<uint64_t> evaluateCast(CastOp op, uint64_t code,
                                            RoundingMode mode) {
  FormatOpInterface cast = op;
  ElementKind from = cast.getOperandElement(0), to = cast.getResultElement();
  if (!from.isFormat() && !to.isFormat())
    return std::nullopt;
  if (!from.isFormat()) {
    auto value = op.getIsUnsigned() ? exact::fromUnsigned(code)
                                    : exact::fromSigned(llvm::SignExtend64(
                                          code, from.integer.getWidth()));
    return encode(to.format, value, mode);
  }
  if (!to.isFormat())
    return exact::toInteger(decode(from.format, code), to.integer.getWidth(),
                            !op.getIsUnsigned());
  return encode(to.format, decode(from.format, code), mode);
}

/// The step of a contraction, as Operations.h documents it.
static std::optional<uint64_t> evaluateMac(MacOp op, ArrayRef<uint64_t> codes,
                                           RoundingMode mode) {
  FormatOpInterface mac = op;
  Format accumulator = mac.getResultElement().format;
  Unpacked x = decode(mac.getOperandElement(0).format, codes[0]);
  Unpacked y = decode(mac.getOperandElement(1).format, codes[1]);
  Unpacked z = decode(mac.getOperandElement(2).format, codes[2]);
  if (!op.getProduct())
    return encode(accumulator, exact::fma(x, y, z, mode), mode);
  Format product = op.getProduct()->getFormat();
  uint64_t rounded = encode(product, exact::mul(x, y), product.getRounding());
  return encode(accumulator, exact::add(decode(product, rounded), z, mode),
                mode);
}

/// A set of Relation bits for a predicate of arith.cmpf.
int32_t relationsOf(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return 0;
  case P::OEQ:
    return Equal;
  case P::OGT:
    return Greater;
  case P::OGE:
    return Greater | Equal;
  case P::OLT:
    return Less;
  case P::OLE:
    return Less | Equal;
  case P::ONE:
    return Less | Greater;
  case P::ORD:
    return Less | Greater | Equal;
  case P::UEQ:
    return Unordered | Equal;
  case P::UGT:
    return Unordered | Greater;
  case P::UGE:
    return Unordered | Greater | Equal;
  case P::ULT:
    return Unordered | Less;
  case P::ULE:
    return Unordered | Less | Equal;
  case P::UNE:
    return Unordered | Less | Greater;
  case P::UNO:
    return Unordered;
  case P::AlwaysTrue:
    return Unordered | Less | Greater | Equal;
  }
  return 0;
}

static std::optional<uint64_t> evaluate(FormatOpInterface op,
                                        ArrayRef<uint64_t> codes) {
  RoundingMode mode = op.getRoundingMode();
  if (op.getRandomOperand()) {
    mode.random = static_cast<uint32_t>(codes.back());
    codes = codes.drop_back();
  }
  if (auto cast = dyn_cast<CastOp>(op.getOperation()))
    return evaluateCast(cast, codes[0], mode);
  if (auto mac = dyn_cast<MacOp>(op.getOperation()))
    return evaluateMac(mac, codes, mode);
  ElementKind result = op.getResultElement();
  for (unsigned i = 0; i < codes.size(); ++i)
    if (op.getOperandElement(i) != result)
      return std::nullopt; // mixed formats are left to the program
  int32_t relations = 0;
  if (auto cmp = dyn_cast<CmpOp>(op.getOperation()))
    relations = relationsOf(cmp.getPredicate());
  return result.format.getFamily().evaluate(
      op.getFormatOperation(), result.format, codes, mode, relations);
}

static bool hasArithmetic(FormatOpInterface op) {
  auto known = [](const ElementKind &kind) {
    return !kind.isFormat() || kind.format.getFamily().hasArithmetic();
  };
  for (unsigned i = 0; i < op.getFormatOperandCount(); ++i)
    if (!known(op.getOperandElement(i)))
      return false;
  return known(op.getResultElement());
}

static Type storageOf(Type type) {
  auto num = dyn_cast<NumType>(type);
  return num ? num.getStorageType() : type;
}

/// True if the configuration registers a function for the operation: what it
/// gives is not ours to say.
static bool isOverridden(FormatOpInterface op) {
  auto *dialect = op->getContext()->getLoadedDialect<NumeraDialect>();
  Operation operation = op.getFormatOperation();
  Format result = op.getResultElement().format;
  RoundingMode rounding = op.getRoundingMode();
  return llvm::any_of(
      dialect->getRegistry().lowerings(), [&](const Lowering &lowering) {
        if (lowering.operation != operation || lowering.result != result ||
            lowering.getRoundingMode().pack() != rounding.pack())
          return false;
        for (auto [i, format] : llvm::enumerate(lowering.operands))
          if (i >= op.getFormatOperandCount() ||
              op.getOperandElement(i).format != format)
            return false;
        return true;
      });
}

static OpFoldResult foldElementwise(FormatOpInterface op,
                                    ArrayRef<Attribute> operands) {
  // While a model is retyped, random bits are yet to come.
  bool waits = op.drawsRandom() && !op.getRandomOperand();
  if (!hasArithmetic(op) || isOverridden(op) || waits ||
      llvm::is_contained(operands, Attribute()))
    return {};
  Type type = op->getResult(0).getType();
  Type element = storageOf(numera::elementType(type));
  auto shaped = dyn_cast<ShapedType>(type);
  bool splat = llvm::all_of(operands, [](Attribute operand) {
    auto dense = dyn_cast<DenseElementsAttr>(operand);
    return !dense || dense.isSplat();
  });
  if (shaped && !shaped.hasStaticShape())
    return {};
  int64_t count = !shaped || splat ? 1 : shaped.getNumElements();
  if (count > largestFoldedConstant && !isa<CastOp>(op.getOperation()))
    return {};
  SmallVector<Attribute> results;
  SmallVector<uint64_t, 3> codes(operands.size());
  for (int64_t i = 0; i < count; ++i) {
    for (auto [code, operand] : llvm::zip_equal(codes, operands)) {
      auto found = codeAt(operand, i);
      if (!found)
        return {};
      code = *found;
    }
    auto result = evaluate(op, codes);
    if (!result)
      return {};
    results.push_back(constantOfCode(element, *result));
  }
  if (!shaped)
    return results.front();
  return DenseElementsAttr::get(shaped.clone(element), results);
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  // A cast to the same format changes nothing, except that on f32 and f64 it
  // makes NaNs canonical, and that some formats saturate infinities.
  FormatOpInterface cast = *this;
  ElementKind kind = cast.getResultElement();
  if (getOperand().getType() == getType() &&
      cast.getOperandElement(0) == kind && kind.isFormat() &&
      isExactCast(kind.format, kind.format) &&
      !isa<FloatType>(numera::elementType(getType())))
    return getOperand();
  return foldElementwise(cast, adaptor.getOperands());
}

OpFoldResult RandomOp::fold(FoldAdaptor adaptor) {
  uint64_t place[4];
  for (auto [value, operand] : llvm::zip(place, adaptor.getOperands())) {
    auto constant = codeAt(operand, 0);
    if (!constant)
      return {};
    value = *constant;
  }
  auto [seed, step, sample, index] = place;
  uint32_t random = draw(randomKey(seed, step), getId(), sample, index,
                         static_cast<int32_t>(getBits()));
  return IntegerAttr::get(getType(), APInt(32, random));
}

#define FOLD(op)                                                               \
  OpFoldResult op::fold(FoldAdaptor adaptor) {                                 \
    return foldElementwise(*this, adaptor.getOperands());                      \
  }
FOLD(AddOp)
FOLD(SubOp)
FOLD(MulOp)
FOLD(DivOp)
FOLD(RemOp)
FOLD(PowOp)
FOLD(MinOp)
FOLD(MaxOp)
FOLD(MinNumOp)
FOLD(MaxNumOp)
FOLD(NegOp)
FOLD(AbsOp)
FOLD(SqrtOp)
FOLD(RsqrtOp)
FOLD(ExpOp)
FOLD(Exp2Op)
FOLD(Expm1Op)
FOLD(LogOp)
FOLD(Log2Op)
FOLD(Log1pOp)
FOLD(SinOp)
FOLD(CosOp)
FOLD(TanhOp)
FOLD(ErfOp)
FOLD(SigmoidOp)
FOLD(FloorOp)
FOLD(CeilOp)
FOLD(TruncOp)
FOLD(RoundOp)
FOLD(RoundEvenOp)
FOLD(FmaOp)
FOLD(MacOp)
FOLD(CmpOp)
FOLD(IsNaNOp)
#undef FOLD

} // namespace numera
