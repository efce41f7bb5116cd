// SPDX-License-Identifier: MIT

#include "CanonicalNaNs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace numera;

std::optional<NaNReplacement> numera::matchNaNReplacement(SelectInst &choice) {
  CmpPredicate predicate;
  Value *x, *other;
  if (!match(choice.getCondition(),
             m_FCmp(predicate, m_Value(x), m_Value(other))) ||
      !(x == other || match(other, m_AnyZeroFP())))
    return std::nullopt;
  bool isUnordered = predicate == CmpInst::FCMP_UNO;
  Value *kept = isUnordered ? choice.getFalseValue() : choice.getTrueValue();
  auto *constant = dyn_cast<Constant>(isUnordered ? choice.getTrueValue()
                                                  : choice.getFalseValue());
  bool isOfX = kept == x || (match(kept, m_BitCast(m_Specific(x))) &&
                             kept->getType()->getScalarSizeInBits() ==
                                 x->getType()->getScalarSizeInBits());
  if ((!isUnordered && predicate != CmpInst::FCMP_ORD) || !isOfX || !constant)
    return std::nullopt;
  return NaNReplacement{x, constant};
}

// ---- NaNs that are replaced already

static Value *bitsOf(Value *value) {
  Value *other;
  while (match(value, m_BitCast(m_Value(other))) &&
         other->getType()->getScalarSizeInBits() ==
             value->getType()->getScalarSizeInBits())
    value = other;
  return value;
}

/// The one number that all lanes are, from its bits or itself.
static std::optional<APFloat> numberOf(Value *value) {
  const APFloat *number;
  if (match(value, m_APFloat(number)))
    return *number;
  const APInt *bits;
  if (!match(value, m_APInt(bits)))
    return std::nullopt;
  if (bits->getBitWidth() == 32)
    return APFloat(APFloat::IEEEsingle(), *bits);
  if (bits->getBitWidth() == 64)
    return APFloat(APFloat::IEEEdouble(), *bits);
  return std::nullopt;
}

/// True if `value` is a number or this NaN, as far as that many choices tell.
static bool isNumberOr(Value *value, const APFloat &nan, unsigned choices = 4) {
  value = bitsOf(value);
  if (std::optional<APFloat> number = numberOf(value))
    return !number->isNaN() || number->bitwiseIsEqual(nan);
  auto *choice = dyn_cast<SelectInst>(value);
  if (!choice || choices == 0)
    return false;
  if (auto found = matchNaNReplacement(*choice)) {
    std::optional<APFloat> replacement = numberOf(found->constant);
    return replacement &&
           (!replacement->isNaN() || replacement->bitwiseIsEqual(nan));
  }
  return isNumberOr(choice->getTrueValue(), nan, choices - 1) &&
         isNumberOr(choice->getFalseValue(), nan, choices - 1);
}

/// `x is NaN ? nan : (x > c ? x : c)`, or another comparison: the inner choice,
/// which is that of x where x is NaN.
static Value *keepNaN(SelectInst &choice) {
  CmpPredicate predicate;
  Value *x, *other;
  std::optional<APFloat> nan = numberOf(choice.getTrueValue());
  auto *inner = dyn_cast<SelectInst>(bitsOf(choice.getFalseValue()));
  if (!nan || !nan->isNaN() || !inner ||
      !match(choice.getCondition(),
             m_FCmp(predicate, m_Value(x), m_Value(other))) ||
      predicate != CmpInst::FCMP_UNO ||
      !(x == other || match(other, m_AnyZeroFP())) || !isNumberOr(x, *nan))
    return nullptr;
  Value *then = inner->getTrueValue(), *otherwise = inner->getFalseValue();
  bool takesX = bitsOf(then) == bitsOf(x);
  std::optional<APFloat> number = numberOf(takesX ? otherwise : then);
  Value *left, *right;
  if ((!takesX && bitsOf(otherwise) != bitsOf(x)) || !number ||
      number->isNaN() ||
      !match(inner->getCondition(),
             m_FCmp(predicate, m_Value(left), m_Value(right))) ||
      bitsOf(left) != bitsOf(x))
    return nullptr;
  std::optional<APFloat> bound = numberOf(right);
  if (!bound || bound->isNaN())
    return nullptr;
  CmpInst::Predicate is = predicate;
  is = takesX ? CmpInst::getUnorderedPredicate(is)
              : CmpInst::getOrderedPredicate(is);
  IRBuilder<> builder(&choice);
  return builder.CreateBitCast(
      builder.CreateSelect(builder.CreateFCmp(is, left, right), then,
                           otherwise),
      choice.getType());
}

void numera::keepCanonicalNaNs(Function &function) {
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    auto *choice = dyn_cast<SelectInst>(&instruction);
    Value *kept = choice ? keepNaN(*choice) : nullptr;
    if (!kept)
      continue;
    choice->replaceAllUsesWith(kept);
    choice->eraseFromParent();
  }
}

// ---- NaNs that nobody sees

/// True if nothing looks at what kind of NaN `x` may be.
static bool isReplacedWhereNaN(Instruction &x) {
  return !x.use_empty() && all_of(x.users(), [&](User *user) {
    if (isa<FCmpInst>(user))
      return true; // a NaN compares as any other
    if (auto *bits = dyn_cast<BitCastInst>(user))
      return all_of(bits->users(), [&](User *next) {
        auto *choice = dyn_cast<SelectInst>(next);
        auto found = choice ? matchNaNReplacement(*choice) : std::nullopt;
        return found && found->x == &x;
      });
    auto *choice = dyn_cast<SelectInst>(user);
    auto found = choice ? matchNaNReplacement(*choice) : std::nullopt;
    return found && found->x == &x;
  });
}

static bool isArithmetic(const Instruction &instruction) {
  switch (instruction.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
    return true;
  default:
    return false;
  }
}

void numera::dropNaNReplacements(Function &function) {
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    auto *choice = dyn_cast<SelectInst>(&instruction);
    auto found = choice ? matchNaNReplacement(*choice) : std::nullopt;
    const APFloat *nan;
    if (!found || !match(found->constant, m_APFloat(nan)) || !nan->isNaN())
      continue;
    bool isUnseen = all_of(choice->users(), [](User *user) {
      auto *next = cast<Instruction>(user);
      return isArithmetic(*next) && isReplacedWhereNaN(*next);
    });
    if (!isUnseen)
      continue;
    choice->replaceAllUsesWith(found->x);
    choice->eraseFromParent();
  }
}
