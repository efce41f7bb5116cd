// SPDX-License-Identifier: MIT
//
// x86, AVX-512:
//
//   copysign(|x| < low ? low : |x|, x)     vrange   larger magnitude, x's sign
//   x is NaN ? c : x, or of their bits     vfixupimm
//   x > y ? c : a - b                      vsub under the mask !(x > y), into c
//   gather of a table of up to 64 floats   vpermi2ps, vpermps
//   or integers                            vpermi2d, vpermd
//   of doubles that have 16 bits           vpermw, where the index lies among
//                                          a word's first 16 bits
//
// AVX2: a gather of a table of up to 32 floats or integers is vpermps or
// vpermd, of 8 entries each, and vblendvps.
//
// vrange ignores a quiet NaN, as the comparisons here do, which are true for
// NaN, but it makes a signalling NaN quiet. So x must be the result of an
// arithmetic instruction, and the bound must not be NaN.

#include "LaneInstructions.h"
#include "CanonicalNaNs.h"
#include "TablePermutes.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace numera;

namespace {

/// Of two operands the one with the larger or smaller magnitude, with the sign
/// of the first: the immediate operand of vrange.
enum class Range { Smaller = 0b0010, Larger = 0b0011 };

class Selector {
public:
  explicit Selector(const MCSubtargetInfo &features) : features(features) {}

  void run(Function &function) {
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      if (Value *better = select(instruction)) {
        instruction.replaceAllUsesWith(better);
        instruction.eraseFromParent();
      }
  }

private:
  Value *select(Instruction &instruction) {
    if (!isa<FixedVectorType>(instruction.getType()))
      return nullptr;
    if (auto *choice = dyn_cast<SelectInst>(&instruction)) {
      Value *fixed = selectFix(*choice);
      return fixed ? fixed : selectMasked(*choice);
    }
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (call && call->getIntrinsicID() == Intrinsic::copysign)
      return selectRange(*call);
    if (call && call->getIntrinsicID() == Intrinsic::masked_gather)
      return selectTable(*call);
    return nullptr;
  }
  /// How many bits of a vector of floats or doubles one instruction of
  /// AVX512DQ takes; 0 if there is none.
  unsigned bitsAtOnce(const FixedVectorType &type) const;
  Value *selectFix(SelectInst &choice);
  Value *selectMasked(SelectInst &choice);
  Value *selectRange(IntrinsicInst &copysign);
  Value *createRange(IRBuilder<> &builder, Value *x, Value *bound, Range range);
  Value *selectTable(IntrinsicInst &gather);
  Value *createLookup(IRBuilder<> &builder, const ConstantDataArray &table,
                      Value *index, FixedVectorType &type);
  Value *createWordLookup(IRBuilder<> &builder, const ConstantDataArray &table,
                          Value *index, FixedVectorType &type);

  const MCSubtargetInfo &features;
};

} // namespace

static bool isArithmetic(const Value *value) {
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(value))
    return intrinsic->getIntrinsicID() == Intrinsic::fma ||
           intrinsic->getIntrinsicID() == Intrinsic::sqrt;
  auto *operation = dyn_cast<BinaryOperator>(value);
  return operation && operation->getType()->isFPOrFPVectorTy();
}

/// The parts of `vector`, of as many lanes each.
static SmallVector<Value *> partsOf(IRBuilder<> &builder, Value *vector,
                                    unsigned lanes) {
  unsigned all = cast<FixedVectorType>(vector->getType())->getNumElements();
  if (all == lanes)
    return {vector};
  SmallVector<Value *> parts;
  for (unsigned first = 0; first < all; first += lanes)
    parts.push_back(builder.CreateShuffleVector(
        vector, createSequentialMask(first, lanes, 0)));
  return parts;
}

unsigned Selector::bitsAtOnce(const FixedVectorType &type) const {
  Type *element = type.getElementType();
  unsigned all = type.getNumElements() * element->getScalarSizeInBits();
  unsigned bits = std::min(all, 512u);
  bool isSupported = (element->isFloatTy() || element->isDoubleTy()) &&
                     isPowerOf2_32(all) && bits >= 128 &&
                     features.checkFeatures("+avx512dq") &&
                     (bits == 512 || features.checkFeatures("+avx512vl"));
  return isSupported ? bits : 0;
}

Value *Selector::selectRange(IntrinsicInst &copysign) {
  Value *x = copysign.getArgOperand(1);
  Value *then, *otherwise, *left, *right;
  CmpPredicate predicate;
  if (!isArithmetic(x) ||
      !match(copysign.getArgOperand(0),
             m_Select(m_FCmp(predicate, m_Value(left), m_Value(right)),
                      m_Value(then), m_Value(otherwise))))
    return nullptr;
  auto isMagnitude = [&](Value *value) {
    return match(value, m_FAbs(m_Specific(x)));
  };
  // |x| on the left, then the bound where the comparison holds: also for NaN.
  CmpInst::Predicate is = predicate;
  if (isMagnitude(right)) {
    std::swap(left, right);
    is = CmpInst::getSwappedPredicate(is);
  }
  if (isMagnitude(then)) {
    std::swap(then, otherwise);
    is = CmpInst::getInversePredicate(is);
  }
  const APFloat *bound;
  if (!isMagnitude(left) || !isMagnitude(otherwise) || right != then ||
      !match(then, m_APFloat(bound)) || bound->isNegative() || bound->isNaN())
    return nullptr;
  IRBuilder<> builder(&copysign);
  switch (is) {
  case CmpInst::FCMP_ULT:
  case CmpInst::FCMP_ULE:
    return createRange(builder, x, then, Range::Larger);
  case CmpInst::FCMP_UGT:
  case CmpInst::FCMP_UGE:
    return createRange(builder, x, then, Range::Smaller);
  default:
    return nullptr;
  }
}

Value *Selector::createRange(IRBuilder<> &builder, Value *x, Value *bound,
                             Range range) {
  Type *element = x->getType()->getScalarType();
  unsigned width = element->getScalarSizeInBits();
  unsigned bits = bitsAtOnce(*cast<FixedVectorType>(x->getType()));
  if (bits == 0)
    return nullptr;
  static constexpr Intrinsic::ID floats[] = {
      Intrinsic::x86_avx512_mask_range_ps_128,
      Intrinsic::x86_avx512_mask_range_ps_256,
      Intrinsic::x86_avx512_mask_range_ps_512};
  static constexpr Intrinsic::ID doubles[] = {
      Intrinsic::x86_avx512_mask_range_pd_128,
      Intrinsic::x86_avx512_mask_range_pd_256,
      Intrinsic::x86_avx512_mask_range_pd_512};
  Intrinsic::ID id =
      (element->isFloatTy() ? floats : doubles)[Log2_32(bits / 128)];
  unsigned lanes = bits / width;
  SmallVector<Value *> results;
  for (auto [part, limit] :
       zip_equal(partsOf(builder, x, lanes), partsOf(builder, bound, lanes))) {
    SmallVector<Value *> arguments = {
        part, limit, builder.getInt32(static_cast<int>(range)),
        PoisonValue::get(part->getType()),
        Constant::getAllOnesValue(builder.getIntNTy(std::max(lanes, 8u)))};
    if (bits == 512)
      arguments.push_back(builder.getInt32(4)); // the current rounding
    results.push_back(builder.CreateIntrinsic(id, {}, arguments));
  }
  return concatenateVectors(builder, results);
}

Value *Selector::selectFix(SelectInst &choice) {
  auto found = matchNaNReplacement(choice);
  Constant *constant = found ? found->constant->getSplatValue() : nullptr;
  if (!constant)
    return nullptr;
  Value *x = found->x;
  const APInt *word;
  const APFloat *number;
  APFloat replacement(0.0);
  if (match(constant, m_APFloat(number)))
    replacement = *number;
  else if (match(constant, m_APInt(word)))
    replacement =
        APFloat(x->getType()->getScalarType()->getFltSemantics(), *word);
  else
    return nullptr;
  unsigned bits = bitsAtOnce(*cast<FixedVectorType>(x->getType()));
  if (bits == 0)
    return nullptr;
  Type *element = x->getType()->getScalarType();
  static constexpr Intrinsic::ID floats[] = {
      Intrinsic::x86_avx512_mask_fixupimm_ps_128,
      Intrinsic::x86_avx512_mask_fixupimm_ps_256,
      Intrinsic::x86_avx512_mask_fixupimm_ps_512};
  static constexpr Intrinsic::ID doubles[] = {
      Intrinsic::x86_avx512_mask_fixupimm_pd_128,
      Intrinsic::x86_avx512_mask_fixupimm_pd_256,
      Intrinsic::x86_avx512_mask_fixupimm_pd_512};
  Intrinsic::ID id =
      (element->isFloatTy() ? floats : doubles)[Log2_32(bits / 128)];
  // A digit for each class of numbers: 0 takes the first operand, 1 the second.
  // Quiet and signalling NaN are the last two.
  constexpr uint32_t replaceNaN = 0x11111100;
  unsigned width = element->getScalarSizeInBits(), lanes = bits / width;
  IRBuilder<> builder(&choice);
  SmallVector<Value *> results;
  for (Value *part : partsOf(builder, x, lanes)) {
    SmallVector<Value *> arguments = {
        ConstantFP::get(part->getType(), replacement), part,
        ConstantInt::get(FixedVectorType::get(builder.getIntNTy(width), lanes),
                         replaceNaN),
        builder.getInt32(0),
        Constant::getAllOnesValue(builder.getIntNTy(std::max(lanes, 8u)))};
    if (bits == 512)
      arguments.push_back(builder.getInt32(4)); // the current rounding
    results.push_back(builder.CreateIntrinsic(id, {}, arguments));
  }
  return builder.CreateBitCast(concatenateVectors(builder, results),
                               choice.getType());
}

/// LLVM puts arithmetic under a mask where the mask is set.
Value *Selector::selectMasked(SelectInst &choice) {
  auto *comparison = dyn_cast<FCmpInst>(choice.getCondition());
  Value *arithmetic = choice.getFalseValue();
  if (!comparison || !comparison->hasOneUse() ||
      !isa<BinaryOperator>(arithmetic) || !arithmetic->hasOneUse() ||
      !isa<Constant>(choice.getTrueValue()) ||
      bitsAtOnce(*cast<FixedVectorType>(choice.getType())) == 0)
    return nullptr;
  IRBuilder<> builder(comparison);
  Value *inverse =
      builder.CreateFCmp(comparison->getInversePredicate(),
                         comparison->getOperand(0), comparison->getOperand(1));
  builder.SetInsertPoint(&choice);
  return builder.CreateSelect(inverse, arithmetic, choice.getTrueValue());
}

/// The table and the index of each lane of a gather's addresses, if that is
/// what they are.
static std::pair<const ConstantDataArray *, Value *>
matchTable(Value *addresses) {
  auto *address = dyn_cast<GetElementPtrInst>(addresses);
  if (!address)
    return {};
  Value *base = address->getPointerOperand();
  if (base->getType()->isVectorTy())
    base = getSplatValue(base);
  auto *global = dyn_cast_or_null<GlobalVariable>(base);
  if (!global || !global->isConstant() || !global->hasDefinitiveInitializer())
    return {};
  auto *table = dyn_cast<ConstantDataArray>(global->getInitializer());
  if (!table)
    return {};
  bool isOfElements =
      address->getNumIndices() == 1 &&
      address->getSourceElementType() == table->getElementType();
  bool isOfArray = address->getNumIndices() == 2 &&
                   address->getSourceElementType() == table->getType() &&
                   match(address->getOperand(1), m_Zero());
  if (!isOfElements && !isOfArray)
    return {};
  return {table, address->getOperand(address->getNumOperands() - 1)};
}

/// `index` without what makes it less than `entries`, a power of two: a look-up
/// goes by the low bits. Indices are inside of the table, or the gather would
/// be undefined.
static Value *lowBitsOf(Value *index, unsigned entries) {
  const APInt *mask;
  Value *whole;
  bool isMasked = match(index, m_And(m_Value(whole), m_APInt(mask))) &&
                  mask->countr_one() >= Log2_32(entries);
  return isMasked ? whole : index;
}

Value *Selector::selectTable(IntrinsicInst &gather) {
  auto [table, index] = matchTable(gather.getArgOperand(0));
  auto *type = cast<FixedVectorType>(gather.getType());
  if (!table || table->getElementType() != type->getElementType() ||
      !index->getType()->isVectorTy())
    return nullptr;
  IRBuilder<> builder(&gather);
  Value *result = nullptr;
  if (type->getScalarSizeInBits() == 32)
    result = createLookup(builder, *table, index, *type);
  else if (type->getElementType()->isDoubleTy())
    result = createWordLookup(builder, *table, index, *type);
  // Lanes that are off keep what is given for them.
  Value *mask = gather.getArgOperand(1), *rest = gather.getArgOperand(2);
  if (!result || match(mask, m_AllOnes()) || isa<UndefValue>(rest))
    return result;
  return builder.CreateSelect(mask, result, rest);
}

Value *Selector::createLookup(IRBuilder<> &builder,
                              const ConstantDataArray &table, Value *index,
                              FixedVectorType &type) {
  bool hasAVX512 = features.checkFeatures("+avx512f");
  unsigned lanes = hasAVX512 ? 16 : 8;
  if (type.getNumElements() % lanes != 0 ||
      table.getNumElements() > 4 * lanes || !features.checkFeatures("+avx2"))
    return nullptr;
  SmallVector<Value *> parts = entriesOf(table, lanes);
  bool isZeroExtended = false;
  if (Value *narrow; match(index, m_ZExt(m_Value(narrow)))) {
    isZeroExtended = narrow->getType()->getScalarSizeInBits() <= 32;
    index = isZeroExtended ? narrow : index;
  }
  index = lowBitsOf(index, parts.size() * lanes);
  Type *i32s =
      FixedVectorType::get(builder.getInt32Ty(), type.getNumElements());
  index = isZeroExtended ? builder.CreateZExt(index, i32s)
                         : builder.CreateTrunc(index, i32s);
  bool isFloat = type.getElementType()->isFloatTy();
  SmallVector<Value *> results;
  for (Value *part : partsOf(builder, index, lanes))
    results.push_back(hasAVX512
                          ? permuteWithAVX512(builder, parts, part, isFloat)
                          : permuteWithAVX2(builder, parts, part, isFloat));
  return concatenateVectors(builder, results);
}

/// A multiplication brings the index from the middle of a double's first word
/// to its end, and zero into the other words, for which entry 0 is looked up.
Value *Selector::createWordLookup(IRBuilder<> &builder,
                                  const ConstantDataArray &table, Value *index,
                                  FixedVectorType &type) {
  constexpr unsigned lanes = 8, words = 32, top = 48, indexBits = 5;
  const APInt *shift;
  Value *bits;
  if (type.getNumElements() % lanes != 0 || table.getNumElements() > words ||
      !match(lowBitsOf(index, words), m_LShr(m_Value(bits), m_APInt(shift))) ||
      shift->ule(top) || shift->ugt(64 - indexBits) ||
      !features.checkFeatures("+avx512bw"))
    return nullptr;
  SmallVector<Constant *> entries;
  for (unsigned i = 0; i < words; ++i) {
    APInt entry(64, 0);
    if (i < table.getNumElements())
      entry = table.getElementAsAPFloat(i).bitcastToAPInt();
    if (entry.countr_zero() < top || (i == 0 && !entry.isZero()))
      return nullptr;
    entries.push_back(builder.getInt16(entry.extractBitsAsZExtValue(16, top)));
  }
  unsigned toEnd = 64 - static_cast<unsigned>(shift->getZExtValue());
  SmallVector<Constant *> factors(words, builder.getInt16(0));
  for (unsigned i = 3; i < words; i += 4)
    factors[i] = builder.getInt16(static_cast<uint16_t>(1u << toEnd));
  Type *i16s = FixedVectorType::get(builder.getInt16Ty(), words);
  SmallVector<Value *> results;
  for (Value *part : partsOf(builder, bits, lanes)) {
    Value *indices = builder.CreateIntrinsic(
        Intrinsic::x86_avx512_pmulhu_w_512, {},
        {builder.CreateBitCast(part, i16s), ConstantVector::get(factors)});
    Value *found =
        builder.CreateIntrinsic(Intrinsic::x86_avx512_permvar_hi_512, {},
                                {ConstantVector::get(entries), indices});
    results.push_back(builder.CreateBitCast(
        found, FixedVectorType::get(type.getElementType(), lanes)));
  }
  return concatenateVectors(builder, results);
}

void numera::selectLaneInstructions(Module &module,
                                    const TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86())
    return;
  Selector selector(*machine.getMCSubtargetInfo());
  for (Function &function : module) {
    keepCanonicalNaNs(function);
    dropNaNReplacements(function);
    selector.run(function);
  }
}
