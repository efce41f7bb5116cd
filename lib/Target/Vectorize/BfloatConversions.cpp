// SPDX-License-Identifier: MIT
//
// AVX-512 BF16 rounds f32 to bf16 as IEEE 754 says, but flushes subnormal
// numbers and keeps the payloads of NaNs. A vector with neither is rounded by
// that instruction, any other by integer arithmetic. The test is one branch for
// each iteration of a vector loop. LLVM's `fptrunc` to bf16 would use the
// instruction in any case.

#include "BfloatConversions.h"
#include "VectorVariants.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;

static constexpr StringLiteral symbol = "numera.to_bfloat";
/// Elements of 512 bits of f32.
static constexpr unsigned lanesAtOnce = 16;

static bool hasInstruction(const TargetMachine &machine) {
  return machine.getTargetTriple().isX86() &&
         machine.getMCSubtargetInfo()->checkFeatures("+avx512bf16,+avx512dq");
}

/// numera::toBfloat() on vectors.
static Value *roundAsIntegers(IRBuilder<> &builder, Value *x, unsigned lanes) {
  auto *words = FixedVectorType::get(builder.getInt32Ty(), lanes);
  auto *codes = FixedVectorType::get(builder.getInt16Ty(), lanes);
  auto constant = [&](uint64_t value) {
    return ConstantInt::get(words, value);
  };
  Value *word = builder.CreateBitCast(x, words);
  Value *odd =
      builder.CreateAnd(builder.CreateLShr(word, constant(16)), constant(1));
  Value *sum =
      builder.CreateAdd(builder.CreateAdd(word, constant(0x7fff)), odd);
  Value *code =
      builder.CreateTrunc(builder.CreateLShr(sum, constant(16)), codes);
  Value *ordered =
      builder.CreateFCmpORD(x, Constant::getNullValue(x->getType()));
  return builder.CreateSelect(ordered, code, ConstantInt::get(codes, 0x7fc0));
}

static Value *partOf(IRBuilder<> &builder, Value *x, unsigned first) {
  return builder.CreateShuffleVector(
      x, createSequentialMask(first, lanesAtOnce, 0));
}

/// True if an element is subnormal or NaN.
static Value *anySpecial(IRBuilder<> &builder, Value *x, unsigned lanes) {
  constexpr uint32_t quietNaN = 0x01, subnormal = 0x20, signallingNaN = 0x80;
  Value *any = nullptr;
  for (unsigned first = 0; first < lanes; first += lanesAtOnce) {
    Value *special = builder.CreateIntrinsic(
        Intrinsic::x86_avx512_fpclass_ps_512, {},
        {partOf(builder, x, first),
         builder.getInt32(quietNaN | subnormal | signallingNaN)});
    any = any ? builder.CreateOr(any, special) : special;
  }
  Value *bits = builder.CreateBitCast(any, builder.getIntNTy(lanesAtOnce));
  return builder.CreateICmpNE(bits, ConstantInt::get(bits->getType(), 0));
}

static Value *convert(IRBuilder<> &builder, Value *x, unsigned lanes) {
  SmallVector<Value *> parts;
  for (unsigned first = 0; first < lanes; first += 2 * lanesAtOnce) {
    Value *low = partOf(builder, x, first);
    bool isLast = lanes - first == lanesAtOnce;
    parts.push_back(
        isLast ? builder.CreateIntrinsic(
                     Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {low})
               : builder.CreateIntrinsic(
                     Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {},
                     {partOf(builder, x, first + lanesAtOnce), low}));
  }
  return builder.CreateBitCast(
      concatenateVectors(builder, parts),
      FixedVectorType::get(builder.getInt16Ty(), lanes));
}

static void define(Function &variant, unsigned lanes) {
  LLVMContext &context = variant.getContext();
  Value *x = variant.getArg(0);
  IRBuilder<> builder(BasicBlock::Create(context, "", &variant));
  if (lanes % lanesAtOnce != 0) {
    builder.CreateRet(roundAsIntegers(builder, x, lanes));
    return;
  }
  auto *integers = BasicBlock::Create(context, "integers", &variant);
  auto *instruction = BasicBlock::Create(context, "instruction", &variant);
  builder.CreateCondBr(anySpecial(builder, x, lanes), integers, instruction,
                       MDBuilder(context).createUnlikelyBranchWeights());
  builder.SetInsertPoint(integers);
  builder.CreateRet(roundAsIntegers(builder, x, lanes));
  builder.SetInsertPoint(instruction);
  builder.CreateRet(convert(builder, x, lanes));
}

static void setPure(Function &function) {
  function.setDoesNotAccessMemory();
  function.setDoesNotThrow();
  function.setWillReturn();
}

static Function &createVariant(Function &conversion, unsigned lanes,
                               bool isMasked) {
  std::string name =
      (conversion.getName() + (isMasked ? ".masked." : ".") + Twine(lanes))
          .str();
  if (Function *known = conversion.getParent()->getFunction(name))
    return *known;
  LLVMContext &context = conversion.getContext();
  auto lanesOf = [&](Type *type) { return FixedVectorType::get(type, lanes); };
  SmallVector<Type *, 2> arguments = {lanesOf(Type::getFloatTy(context))};
  if (isMasked) // which does not matter
    arguments.push_back(lanesOf(Type::getInt1Ty(context)));
  auto *variant = Function::Create(
      FunctionType::get(lanesOf(Type::getInt16Ty(context)), arguments, false),
      GlobalValue::InternalLinkage, name, conversion.getParent());
  for (StringRef attribute :
       {"target-cpu", "target-features", "prefer-vector-width"})
    if (conversion.hasFnAttribute(attribute))
      variant->addFnAttr(conversion.getFnAttribute(attribute));
  setPure(*variant);
  variant->addFnAttr(Attribute::AlwaysInline);
  define(*variant, lanes);
  return *variant;
}

Function &numera::bfloatVariant(Function &conversion, unsigned lanes) {
  return createVariant(conversion, lanes, /*isMasked=*/false);
}

void numera::defineBfloatConversions(Module &module,
                                     const TargetMachine &machine) {
  Function *conversion = module.getFunction(symbol);
  if (!conversion || conversion->isDeclaration())
    return;
  conversion->setLinkage(GlobalValue::InternalLinkage);
  if (!hasInstruction(machine)) {
    conversion->removeFnAttr(Attribute::NoInline);
    return;
  }
  setPure(*conversion);
  keepForVectoriser(*conversion);
  // With half as many, each result takes an instruction of its own, which is no
  // faster; LLVM does not know that.
  for (unsigned lanes : {2 * lanesAtOnce, 4 * lanesAtOnce})
    for (bool isMasked : {false, true})
      nameVariant(*conversion, createVariant(*conversion, lanes, isMasked),
                  lanes, "v", isMasked);
}

Function *numera::bfloatConversion(const Module &module) {
  Function *conversion = module.getFunction(symbol);
  return conversion && conversion->hasFnAttribute(VFABI::MappingsAttrName)
             ? conversion
             : nullptr;
}

void numera::releaseBfloatConversions(Module &module) {
  if (Function *conversion = bfloatConversion(module)) {
    conversion->removeFnAttr(Attribute::NoInline);
    conversion->addFnAttr(Attribute::AlwaysInline);
  }
}
