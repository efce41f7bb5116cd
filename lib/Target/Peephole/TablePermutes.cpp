// SPDX-License-Identifier: MIT

#include "TablePermutes.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

SmallVector<Value *> numera::entriesOf(const ConstantDataArray &table,
                                       unsigned lanes) {
  Constant *none = Constant::getNullValue(table.getElementType());
  unsigned count = table.getNumElements();
  SmallVector<Value *> parts;
  for (unsigned part = 0; part < PowerOf2Ceil(divideCeil(count, lanes));
       ++part) {
    SmallVector<Constant *> entries;
    for (unsigned i = part * lanes; i < (part + 1) * lanes; ++i)
      entries.push_back(i < count ? table.getElementAsConstant(i) : none);
    parts.push_back(ConstantVector::get(entries));
  }
  return parts;
}

/// Five bits of the index pick an entry of two parts; the sixth picks the pair.
Value *numera::permuteWithAVX512(IRBuilder<> &builder, ArrayRef<Value *> parts,
                                 Value *index, bool isFloat) {
  constexpr uint64_t upperBit = 32;
  if (parts.size() == 4) {
    Value *isUpper =
        builder.CreateICmpNE(builder.CreateAnd(index, upperBit),
                             Constant::getNullValue(index->getType()));
    return builder.CreateSelect(
        isUpper,
        permuteWithAVX512(builder, parts.drop_front(2), index, isFloat),
        permuteWithAVX512(builder, parts.take_front(2), index, isFloat));
  }
  Intrinsic::ID whole = isFloat ? Intrinsic::x86_avx512_permvar_sf_512
                                : Intrinsic::x86_avx512_permvar_si_512;
  Intrinsic::ID pair = isFloat ? Intrinsic::x86_avx512_vpermi2var_ps_512
                               : Intrinsic::x86_avx512_vpermi2var_d_512;
  return parts.size() == 1
             ? builder.CreateIntrinsic(whole, {}, {parts[0], index})
             : builder.CreateIntrinsic(pair, {}, {parts[0], index, parts[1]});
}

/// The last three bits of the index pick an entry of each
/// part; the bits above them pick the part: a blend goes by the sign's place.
Value *numera::permuteWithAVX2(IRBuilder<> &builder, ArrayRef<Value *> parts,
                               Value *index, bool isFloat) {
  constexpr unsigned lanes = 8, entryBits = 3, signBit = 31;
  auto *floats = FixedVectorType::get(builder.getFloatTy(), lanes);
  Intrinsic::ID permute =
      isFloat ? Intrinsic::x86_avx2_permps : Intrinsic::x86_avx2_permd;
  Type *type = parts.front()->getType();
  SmallVector<Value *> found;
  for (Value *part : parts)
    found.push_back(builder.CreateBitCast(
        builder.CreateIntrinsic(permute, {}, {part, index}), floats));
  for (unsigned bit = entryBits; found.size() > 1; ++bit) {
    Value *isUpper =
        builder.CreateBitCast(builder.CreateShl(index, signBit - bit), floats);
    SmallVector<Value *> halves;
    for (size_t i = 0; i < found.size(); i += 2)
      halves.push_back(
          builder.CreateIntrinsic(Intrinsic::x86_avx_blendv_ps_256, {},
                                  {found[i], found[i + 1], isUpper}));
    found = std::move(halves);
  }
  return builder.CreateBitCast(found.front(), type);
}
