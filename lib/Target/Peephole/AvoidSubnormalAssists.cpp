// SPDX-License-Identifier: MIT
//
// On Intel, a multiply of a vector takes a microcode assist of about 100 cycles
// if the product of any lane is subnormal, or if a factor is subnormal and the
// product is not 0. Additions take none. With uniformly distributed codes of
// bf16, every second vector has such a lane. So the codes are tested, and a
// vector without such a lane is multiplied as before. Otherwise the lanes
// compute
//
//   q = (|a| * 2^64) * (|b| * 2^64)     |a * b| = q * 2^-128
//
// An exponent grows by an addition to the word. For a subnormal number of the
// word m it is done by an adder: the word of 2^-62, or m, is the number
// 2^-62 + m * 2^-85, less 2^-62. A factor from 2^63 on is left as it is: the
// other one is subnormal then, and their product normal. q has the 24 bits of a
// float, for factors of 12; it is not subnormal but where the product is 0.
//
//   q >= 4      the word of q less 128 exponents
//   q < 4       the word of q + 4 less that of 4: the unit of both is 2^-21,
//               that of subnormal numbers times 2^128. The sum is rounded as
//               the product would be.

#include "AvoidSubnormalAssists.h"

#include "llvm/ADT/bit.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// Of codes that are the upper halves of words.
constexpr uint64_t codeMagnitude = 0x7fff, codeExponent = 1 << 7;
/// Of floats of 32 bits.
constexpr uint64_t magnitude = 0x7fffffff, exponent = 1 << 23;
constexpr uint64_t infinity = 255 * exponent;
/// A sum of two words from here on means a normal product, of normal numbers:
/// with exponents e and f and fractions x and y, (1 + x) * (1 + y) >= 1 + x +
/// y, and at least 2 where x + y >= 1, so that e + f + x + y >= 128 has the
/// product
/// >= 2^(128 - 2 * 127).
constexpr uint64_t leastSum = 128;

struct Vector {
  IRBuilder<> &builder;
  unsigned lanes;

  Constant *constant(Type *element, uint64_t value) const {
    return ConstantVector::getSplat(ElementCount::getFixed(lanes),
                                    ConstantInt::get(element, value));
  }
  Constant *word(uint64_t value) const {
    return constant(builder.getInt32Ty(), value);
  }
  Value *asFloats(Value *words) const {
    return builder.CreateBitCast(
        words, FixedVectorType::get(builder.getFloatTy(), lanes));
  }
  Value *asWords(Value *floats) const {
    return builder.CreateBitCast(
        floats, FixedVectorType::get(builder.getInt32Ty(), lanes));
  }
  Constant *number(float value) const {
    return ConstantVector::getSplat(
        ElementCount::getFixed(lanes),
        ConstantFP::get(builder.getFloatTy(), value));
  }
};

/// The codes of a factor as upper halves of words; null if it has none.
Value *codesOf(IRBuilder<> &builder, Value *factor) {
  Value *codes;
  const APInt *shift;
  if (!match(factor,
             m_BitCast(m_Shl(m_ZExt(m_Value(codes)), m_APInt(shift)))) ||
      !codes->getType()->getScalarType()->isIntegerTy(16) || shift->ult(16) ||
      shift->uge(32))
    return nullptr;
  return builder.CreateShl(codes, shift->getZExtValue() - 16);
}

/// Questions about codes: half as many operations as about words.
class Question {
public:
  Question(IRBuilder<> &builder, Value *x, Value *y)
      : builder(builder), x(x), y(y) {}

  /// True if a factor lies below 2^-63: if none does, all products are normal.
  Value *isAnySmall() const {
    auto isSmall = [this](Value *code) {
      // The upper two bits of the exponent.
      uint64_t bits = 192 * codeExponent;
      return builder.CreateIsNull(builder.CreateAnd(code, constant(bits)));
    };
    return any(builder.CreateOr(isSmall(x), isSmall(y)));
  }
  /// True if such a factor is not 0.
  Value *isAnySmallNumber() const {
    auto magnitudeOf = [this](Value *code) {
      return builder.CreateAnd(code, constant(codeMagnitude));
    };
    Value *least = builder.CreateBinaryIntrinsic(
        Intrinsic::umin, magnitudeOf(x), magnitudeOf(y));
    // Zero becomes the largest of all.
    return any(builder.CreateICmpULT(builder.CreateSub(least, constant(1)),
                                     constant(64 * codeExponent - 1)));
  }

private:
  Constant *constant(uint64_t value) const {
    return ConstantInt::get(x->getType(), value);
  }
  Value *any(Value *mask) const {
    unsigned lanes = cast<FixedVectorType>(mask->getType())->getNumElements();
    return builder.CreateIsNotNull(
        builder.CreateBitCast(mask, builder.getIntNTy(lanes)));
  }

  IRBuilder<> &builder;
  Value *x, *y;
};

/// A factor's magnitude times 2^64, unless it is from 2^63 on.
struct Scaled {
  Value *magnitude, *isLarge, *word;
};
Scaled scale(const Vector &vector, Value *factor) {
  IRBuilder<> &builder = vector.builder;
  Value *word =
      builder.CreateAnd(vector.asWords(factor), vector.word(magnitude));
  Value *normal = builder.CreateAdd(word, vector.word(64 * exponent));
  Value *shifted =
      vector.asFloats(builder.CreateAdd(word, vector.word(65 * exponent)));
  Value *subnormal =
      vector.asWords(builder.CreateFSub(shifted, vector.number(0x1p-62f)));
  Value *isSubnormal = builder.CreateICmpULT(word, vector.word(exponent));
  Value *isLarge =
      builder.CreateICmpUGE(word, vector.word((127 + 63) * exponent));
  Value *found = builder.CreateSelect(isLarge, word, normal);
  found = builder.CreateSelect(isSubnormal, subnormal, found);
  return {vector.asFloats(found), isLarge, word};
}

Value *multiplyWithCare(const Vector &vector, Value *a, Value *b) {
  IRBuilder<> &builder = vector.builder;
  Scaled x = scale(vector, a), y = scale(vector, b);
  Value *q = builder.CreateFMul(x.magnitude, y.magnitude);
  Value *isOnce = builder.CreateOr(x.isLarge, y.isLarge);
  Value *normal =
      builder.CreateSub(vector.asWords(q),
                        builder.CreateSelect(isOnce, vector.word(64 * exponent),
                                             vector.word(128 * exponent)));
  Constant *four = vector.number(4);
  Value *subnormal =
      builder.CreateSub(vector.asWords(builder.CreateFAdd(q, four)),
                        vector.word(bit_cast<uint32_t>(4.0f)));
  Value *isSubnormal = builder.CreateAnd(builder.CreateNot(isOnce),
                                         builder.CreateFCmpOLT(q, four));
  Value *product = builder.CreateSelect(isSubnormal, subnormal, normal);
  Value *sign =
      builder.CreateAnd(builder.CreateXor(vector.asWords(a), vector.asWords(b)),
                        vector.word(magnitude + 1));
  product = vector.asFloats(builder.CreateOr(product, sign));

  auto extremeOf = [&](Intrinsic::ID which) {
    return builder.CreateBinaryIntrinsic(which, x.word, y.word);
  };
  Value *least = builder.CreateSub(extremeOf(Intrinsic::umin), vector.word(1));
  Value *sum = builder.CreateAdd(x.word, y.word);
  Value *isSmall = builder.CreateAnd(
      builder.CreateICmpULT(sum, vector.word(leastSum * exponent)),
      builder.CreateICmpULT(least, vector.word(infinity)));
  Value *isSlow = builder.CreateAnd(
      builder.CreateOr(isSmall,
                       builder.CreateICmpULT(least, vector.word(exponent - 1))),
      builder.CreateICmpULT(extremeOf(Intrinsic::umax), vector.word(infinity)));
  Value *spared = builder.CreateSelect(isSlow, vector.number(0), a);
  return builder.CreateSelect(isSlow, product, builder.CreateFMul(spared, b));
}

void spare(BinaryOperator &product) {
  IRBuilder<> builder(&product);
  Value *a = product.getOperand(0), *b = product.getOperand(1);
  auto *type = dyn_cast<FixedVectorType>(product.getType());
  if (!type || !type->getElementType()->isFloatTy() ||
      type->getNumElements() < 8)
    return;
  Vector vector = {builder, type->getNumElements()};
  Value *x = codesOf(builder, a), *y = codesOf(builder, b);
  if (!x || !y)
    return;
  Question question(builder, x, y);
  Instruction *slow, *fast;
  MDNode *unlikely =
      MDBuilder(product.getContext()).createUnlikelyBranchWeights();
  SplitBlockAndInsertIfThenElse(question.isAnySmall(), &product, &slow, &fast,
                                unlikely);
  builder.SetInsertPoint(slow);
  Value *isAnySmallNumber = question.isAnySmallNumber();
  BasicBlock *look = slow->getParent(), *care = SplitBlock(look, slow);
  builder.SetInsertPoint(look->getTerminator());
  builder.CreateCondBr(isAnySmallNumber, care, fast->getParent());
  look->getTerminator()->eraseFromParent();

  builder.SetInsertPoint(slow);
  Value *withCare = multiplyWithCare(vector, a, b);
  BasicBlock *rest = product.getParent();
  product.moveBefore(fast->getIterator());
  builder.SetInsertPoint(&rest->front());
  PHINode *result = builder.CreatePHI(type, 2);
  product.replaceAllUsesWith(result);
  result->addIncoming(withCare, care);
  result->addIncoming(&product, fast->getParent());
}

} // namespace

void numera::avoidSubnormalAssists(Module &module,
                                   const TargetMachine &machine) {
  // AMD's multipliers take a few cycles more.
  if (!machine.getTargetTriple().isX86() ||
      machine.getTargetCPU().starts_with("znver"))
    return;
  for (Function &function : module) {
    SmallVector<BinaryOperator *> products;
    for (Instruction &instruction : instructions(function))
      if (instruction.getOpcode() == Instruction::FMul)
        products.push_back(cast<BinaryOperator>(&instruction));
    for (BinaryOperator *product : products)
      spare(*product);
  }
}
