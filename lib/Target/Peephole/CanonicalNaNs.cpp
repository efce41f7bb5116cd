// SPDX-License-Identifier: MIT

#include "CanonicalNaNs.h"

#include "llvm/ADT/STLExtras.h"
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
