// SPDX-License-Identifier: MIT
//
// LLVM rounds to bfloat by a call of compiler-rt, which few systems have, or by
// AVX-512's instruction, which flushes subnormal numbers, so that one program
// would have two results. Instead,
//
//   %r = fadd bfloat %x, %y
//
// is an addition of floats (24 bits: as wide as two roundings being one needs,
// for + - * / and sqrt), and a rounding of its word: to nearest, ties to even,
// each NaN 0x7fc0. Operations that only move or compare bfloats are left to
// LLVM.

#include "SoftenBFloat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

static bool isBfloat(const Value *value) {
  return value->getType()->getScalarType()->isBFloatTy();
}

namespace {

/// Instructions in place of one.
class Expansion {
public:
  explicit Expansion(Instruction &instruction)
      : builder(&instruction), instruction(instruction),
        type(instruction.getType()) {
    builder.setFastMathFlags(FastMathFlags());
  }

  /// Null where the instruction is to stay.
  Value *expand() {
    Value *first =
        instruction.getNumOperands() ? instruction.getOperand(0) : nullptr;
    switch (instruction.getOpcode()) {
    case Instruction::FPTrunc:
      return round(first);
    case Instruction::SIToFP:
      return round(builder.CreateSIToFP(first, like(builder.getDoubleTy())));
    case Instruction::UIToFP:
      return round(builder.CreateUIToFP(first, like(builder.getDoubleTy())));
    case Instruction::FNeg:
      return bits(builder.CreateXor(word(first), 0x8000));
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::FDiv:
    case Instruction::FRem:
      return round(
          builder.CreateBinOp(Instruction::BinaryOps(instruction.getOpcode()),
                              wide(first), wide(instruction.getOperand(1))));
    case Instruction::Call:
      return expandCall(cast<CallInst>(instruction));
    default:
      return nullptr;
    }
  }

private:
  Value *expandCall(CallInst &call) {
    auto *intrinsic = dyn_cast<IntrinsicInst>(&call);
    if (!intrinsic || !all_of(call.args(), [&](const Value *operand) {
          return operand->getType() == type;
        }))
      return nullptr;
    if (intrinsic->getIntrinsicID() == Intrinsic::fabs)
      return bits(builder.CreateAnd(word(call.getArgOperand(0)), 0x7fff));
    if (!Intrinsic::isOverloaded(intrinsic->getIntrinsicID()))
      return nullptr;
    SmallVector<Value *> operands;
    for (Value *operand : call.args())
      operands.push_back(wide(operand));
    return round(builder.CreateIntrinsic(
        intrinsic->getIntrinsicID(), {like(builder.getFloatTy())}, operands));
  }

  Type *like(Type *element) const { return type->getWithNewType(element); }
  Value *word(Value *x) {
    return builder.CreateBitCast(x, like(builder.getInt16Ty()));
  }
  Value *bits(Value *code) { return builder.CreateBitCast(code, type); }
  Value *wide(Value *x) {
    return builder.CreateFPExt(x, like(builder.getFloatTy()));
  }
  Value *constant(uint64_t value) {
    return ConstantInt::get(like(builder.getInt32Ty()), value);
  }

  /// To f32 such that rounding once more is rounding once: to odd.
  Value *wordToOdd(Value *x) {
    Value *nearest = builder.CreateFPTrunc(x, like(builder.getFloatTy()));
    Value *back = builder.CreateFPExt(nearest, x->getType());
    Value *result = builder.CreateBitCast(nearest, like(builder.getInt32Ty()));
    Value *isFar = builder.CreateFCmpOGT(
        builder.CreateUnaryIntrinsic(Intrinsic::fabs, back),
        builder.CreateUnaryIntrinsic(Intrinsic::fabs, x));
    result =
        builder.CreateSub(result, builder.CreateZExt(isFar, result->getType()));
    Value *isInexact = builder.CreateFCmpONE(back, x);
    return builder.CreateOr(result,
                            builder.CreateZExt(isInexact, result->getType()));
  }

  Value *round(Value *x) {
    bool isDouble = x->getType()->getScalarType()->isDoubleTy();
    if (!isDouble && !x->getType()->getScalarType()->isFloatTy())
      return nullptr;
    Value *all = isDouble
                     ? wordToOdd(x)
                     : builder.CreateBitCast(x, like(builder.getInt32Ty()));
    Value *odd =
        builder.CreateAnd(builder.CreateLShr(all, constant(16)), constant(1));
    Value *sum =
        builder.CreateAdd(builder.CreateAdd(all, constant(0x7fff)), odd);
    sum = builder.CreateLShr(sum, constant(16));
    Value *isNaN = builder.CreateFCmpUNO(x, x);
    sum = builder.CreateSelect(isNaN, constant(0x7fc0), sum);
    return bits(builder.CreateTrunc(sum, like(builder.getInt16Ty())));
  }

  IRBuilder<> builder;
  Instruction &instruction;
  Type *type;
};

} // namespace

void numera::expandBfloat(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      if (!isBfloat(&instruction))
        continue;
      if (Value *value = Expansion(instruction).expand()) {
        instruction.replaceAllUsesWith(value);
        instruction.eraseFromParent();
      }
    }
}
