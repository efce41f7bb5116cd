// SPDX-License-Identifier: MIT
//
// Folders. They run the same Numerics code as the compiled program, through
// the format's family; nothing is folded that a library may define.

#include "FoldElements.h"
#include "numera/Dialect/Numera/IR/CanonicalCodes.h"
#include "numera/Dialect/Numera/IR/DenseCodes.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "numera/Numerics/Exact/Compare.h"
#include "numera/Numerics/Exact/Integral.h"
#include "numera/Numerics/Random/Random.h"

using namespace mlir;

namespace numera {

/// Element `index` of a constant, as a code or as an integer's bits.
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

/// The elements of a constant operand.
class OperandCodes {
public:
  explicit OperandCodes(Attribute folded) : constant(valueOfConstant(folded)) {
    auto elements = dyn_cast_or_null<ElementsAttr>(constant);
    ArrayRef<char> raw = rawElements(constant);
    if (!raw.empty() && hasByteElements(elements.getElementType()))
      codes.emplace(raw, elements.getElementType());
  }
  std::optional<uint64_t> at(int64_t index) const {
    return codes ? (*codes)[index] : codeAt(constant, index);
  }

private:
  Attribute constant;
  std::optional<DenseCodes> codes;
};

/// What a function of one code of few bits has given, so that each is computed
/// once, however many weights there are.
class KnownResults {
public:
  using Result = std::optional<uint64_t>;

  KnownResults(unsigned bits, llvm::function_ref<Result(uint64_t)> compute)
      : compute(compute), results(size_t{1} << bits), known(results.size()) {}
  Result operator()(uint64_t code) {
    if (!known[code]) {
      Result result = compute(code);
      if (!result)
        return result;
      results[code] = *result;
      known[code] = 1;
    }
    return results[code];
  }

private:
  llvm::function_ref<Result(uint64_t)> compute;
  std::vector<uint64_t> results;
  std::vector<uint8_t> known;
};

/// The width of the only operand, if it is of codes of few bits; else 0.
static unsigned fewBits(ArrayRef<Attribute> operands) {
  auto elements =
      operands.size() == 1
          ? dyn_cast_or_null<ElementsAttr>(valueOfConstant(operands.front()))
          : ElementsAttr();
  if (rawElements(elements).empty() ||
      !hasByteElements(elements.getElementType()))
    return 0;
  unsigned bits = elements.getElementType().getIntOrFloatBitWidth();
  return bits <= 16 ? bits : 0;
}

static Type storageOf(Type type) {
  auto num = dyn_cast<NumType>(type);
  return num ? num.getStorageType() : type;
}

OpFoldResult foldElements(
    Type type, ArrayRef<Attribute> operands,
    llvm::function_ref<std::optional<uint64_t>(ArrayRef<uint64_t>)> evaluate,
    int64_t largest) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (llvm::is_contained(operands, Attribute()) ||
      (shaped && !shaped.hasStaticShape()))
    return {};
  Type element = storageOf(numera::elementType(type));
  bool splat = llvm::all_of(operands, [](Attribute operand) {
    auto elements = dyn_cast<ElementsAttr>(valueOfConstant(operand));
    return !elements || elements.isSplat();
  });
  int64_t count = !shaped || splat ? 1 : shaped.getNumElements();
  if (count > largest)
    return {};
  auto inputs = llvm::map_to_vector<3>(
      operands, [](Attribute operand) { return OperandCodes(operand); });
  SmallVector<uint64_t, 3> codes(operands.size());
  auto resultAt = [&](int64_t i) -> std::optional<uint64_t> {
    for (auto [code, input] : llvm::zip_equal(codes, inputs)) {
      auto found = input.at(i);
      if (!found)
        return std::nullopt;
      code = *found;
    }
    return evaluate(codes);
  };
  if (!shaped) {
    auto result = resultAt(0);
    return result ? constantOfCode(element, *result) : OpFoldResult();
  }
  if (hasByteElements(element)) {
    DenseCodesBuilder results(element, count);
    auto setAll = [&](auto resultAt) {
      for (int64_t i = 0; i < count; ++i) {
        std::optional<uint64_t> result = resultAt(i);
        if (!result)
          return false;
        results.set(i, *result);
      }
      return true;
    };
    bool haveAll = false;
    // A place for each code is worth its memory from a sixteenth as many
    // elements on: weights have few different codes, and repeat them.
    constexpr int64_t codesOfElement = 16;
    if (unsigned bits = fewBits(operands);
        bits && count * codesOfElement >> bits != 0) {
      auto elements = cast<ElementsAttr>(valueOfConstant(operands.front()));
      DenseCodes given(rawElements(elements), elements.getElementType());
      auto compute = [&](uint64_t code) { return evaluate(code); };
      KnownResults known(bits, compute);
      haveAll = setAll([&](int64_t i) { return known(given[i]); });
    } else {
      haveAll = setAll(resultAt);
    }
    if (!haveAll)
      return {};
    ShapedType codes = shaped.clone(element);
    bool isShared = llvm::any_of(operands, [](Attribute operand) {
      return SharedElements::find(valueOfConstant(operand)) != nullptr;
    });
    return isShared ? Attribute(results.buildShared(codes))
                    : Attribute(results.build(codes));
  }
  SmallVector<Attribute> results;
  for (int64_t i = 0; i < count; ++i) {
    auto result = resultAt(i);
    if (!result)
      return {};
    results.push_back(constantOfCode(element, *result));
  }
  return DenseElementsAttr::get(shaped.clone(element), results);
}

static uint64_t encode(const OperationRules &rules, const Unpacked &value) {
  const Format &format = rules.encoding;
  return format.getFamily().encode(format, value, rules.rounding);
}

static std::optional<uint64_t> evaluateCast(CastOp op, uint64_t code,
                                            const OperationRules &rules,
                                            const ElementKind &from,
                                            const ElementKind &to) {
  if (!from.isFormat() && !to.isFormat())
    return std::nullopt;
  if (!from.isFormat()) {
    auto value = op.getIsUnsigned() ? exact::fromUnsigned(code)
                                    : exact::fromSigned(llvm::SignExtend64(
                                          code, from.integer.getWidth()));
    return encode(rules, value);
  }
  if (!to.isFormat())
    return exact::toInteger(from.format.getFamily().decode(from.format, code),
                            to.integer.getWidth(), !op.getIsUnsigned());
  return evaluateOperation(OpKind::Cast, rules, from.format, code);
}

/// The step of a contraction, as Operations.h documents it.
static std::optional<uint64_t> evaluateMac(MacOp op, ArrayRef<uint64_t> codes,
                                           RoundingMode mode) {
  FormatOpInterface mac = op;
  StepRules rules = stepRulesOf(op);
  rules.sum.rounding.random = mode.random;
  Format formats[] = {mac.getOperandElement(0).format,
                      mac.getOperandElement(1).format,
                      mac.getOperandElement(2).format};
  if (!rules.product)
    return evaluateOperation(OpKind::Mac, rules.sum, formats, codes);
  Format product = rules.product->result;
  uint64_t rounded =
      evaluateOperation(OpKind::Mul, *rules.product,
                        ArrayRef(formats).take_front(2), codes.take_front(2));
  return evaluateOperation(OpKind::Add, rules.sum, {formats[2], product},
                           {codes[2], rounded});
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

namespace {
/// What the operation makes of codes. Its rules are looked up once.
class Evaluator {
public:
  explicit Evaluator(FormatOpInterface op)
      : op(op), operation(op.getFormatOperation()), rules(op.getRules()),
        result(op.getResultElement()) {
    for (unsigned i = 0; i < op.getFormatOperandCount(); ++i)
      operands.push_back(op.getOperandElement(i));
    for (const ElementKind &operand : operands)
      formats.push_back(operand.format);
    if (auto cmp = dyn_cast<CmpOp>(op.getOperation()))
      relations = relationsOf(cmp.getPredicate());
  }

  std::optional<uint64_t> operator()(ArrayRef<uint64_t> codes) {
    if (codes.size() > formats.size()) {
      rules.rounding.random = static_cast<uint32_t>(codes.back());
      codes = codes.drop_back();
    }
    if (operation == OpKind::Cast)
      return evaluateCast(cast<CastOp>(op.getOperation()), codes[0], rules,
                          operands[0], result);
    if (operation == OpKind::Mac)
      return evaluateMac(cast<MacOp>(op.getOperation()), codes, rules.rounding);
    return evaluateOperation(operation, rules, formats, codes, relations);
  }

private:
  FormatOpInterface op;
  OpKind operation;
  OperationRules rules;
  ElementKind result;
  SmallVector<ElementKind, 3> operands;
  SmallVector<Format, 3> formats;
  int32_t relations = 0; ///< of a comparison
};
} // namespace

static bool hasArithmetic(FormatOpInterface op) {
  auto known = [](const ElementKind &kind) {
    return !kind.isFormat() || kind.format.getFamily().hasArithmetic();
  };
  for (unsigned i = 0; i < op.getFormatOperandCount(); ++i)
    if (!known(op.getOperandElement(i)))
      return false;
  return known(op.getResultElement());
}

bool isOverridden(FormatOpInterface op) {
  auto *dialect = op->getContext()->getLoadedDialect<NumeraDialect>();
  OpKind operation = op.getFormatOperation();
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
  // Most operations have an operand that is no constant.
  if (llvm::is_contained(operands, Attribute()))
    return {};
  // While a model is retyped, random bits are yet to come.
  bool waits = op.drawsRandom() && !op.getRandomOperand();
  if (!hasArithmetic(op) || isOverridden(op) || waits)
    return {};
  int64_t largest = isa<CastOp>(op.getOperation())
                        ? std::numeric_limits<int64_t>::max()
                        : largestFoldedConstant;
  Evaluator evaluate(op);
  return foldElements(op->getResult(0).getType(), operands, evaluate, largest);
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  // A cast to the same format changes nothing, except that it makes codes
  // canonical, and that some formats saturate infinities.
  FormatOpInterface cast = *this;
  ElementKind kind = cast.getResultElement();
  if (getOperand().getType() == getType() &&
      cast.getOperandElement(0) == kind && kind.isFormat() &&
      isExactCast(kind.format, cast.getRules()) &&
      !isa<FloatType>(numera::elementType(getType())) &&
      hasCanonicalCodes(getOperand(), kind.format))
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
#define FOLD_Direct(op) FOLD(op)
#define FOLD_Ziv(op) FOLD(op)
#define FOLD_Exact(op) FOLD(op)
#define FOLD_Choice(op) FOLD(op)
#define FOLD_Test(op) FOLD(op)
#define FOLD_Cast(op) // above
#define FOLD_Step(op) FOLD(op)
#define NUMERA_OPERATION(enumerator, name, operands, form, ...)                \
  FOLD_##form(enumerator##Op)
#include "numera/Numerics/Core/Operations.def"

} // namespace numera
