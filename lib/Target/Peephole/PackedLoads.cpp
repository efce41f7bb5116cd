// SPDX-License-Identifier: MIT
//
// Neighbouring codes without gaps are loaded as whole bytes: 16 codes of 6 bits
// are 12 bytes. A permutation moves the bytes of each code to its lane, a shift
// by a constant moves the code down, and a mask clears the rest. This takes
// four instructions, and some to narrow lanes, for 32 codes of 4 bits. The
// first code must start at a byte, which the compiler knows if rows have a
// multiple of 8 elements. Otherwise each lane loads its own code.
//
// LLVM's vectoriser finds the vector function by the attribute of the scalar
// one (VectorVariants.cpp), whose argument is the index.

#include "PackedLoads.h"
#include "Vectorize/VectorVariants.h"
#include "numera/Registry/Symbols/PackedLoad.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;

static bool isPackedLoad(const Function &function) {
  return function.getName().starts_with(numera::packedLoadPrefix);
}

static unsigned widthOf(const Function &load) {
  unsigned width = 0;
  load.getName()
      .drop_front(StringRef(numera::packedLoadPrefix).size())
      .consumeInteger(10, width);
  return width;
}

static void becomeInternal(Function &function) {
  function.setLinkage(GlobalValue::InternalLinkage);
  function.setOnlyReadsMemory();
  function.setDoesNotThrow();
  function.setWillReturn();
}

/// One code: the bytes that it lies in, none behind them.
static void defineScalar(Function &load) {
  unsigned width = widthOf(load);
  IRBuilder<> builder(BasicBlock::Create(load.getContext(), "", &load));
  Type *byte = builder.getInt8Ty();
  Type *wide = builder.getIntNTy(width <= 24 ? 32 : width <= 56 ? 64 : 128);
  Value *bit = builder.CreateMul(load.getArg(1), builder.getInt64(width));
  Value *first = builder.CreateLShr(bit, 3);
  Value *last = builder.CreateLShr(
      builder.CreateAdd(bit, builder.getInt64(width - 1)), 3);
  Value *bytes = builder.CreateIntToPtr(load.getArg(0), builder.getPtrTy());
  Value *bits = ConstantInt::get(wide, 0);
  for (unsigned i = 0; i <= (width + 6) / 8; ++i) {
    // A byte behind the last one says nothing: the last will do.
    Value *place = builder.CreateBinaryIntrinsic(
        Intrinsic::umin, builder.CreateAdd(first, builder.getInt64(i)), last);
    Value *loaded = builder.CreateZExt(
        builder.CreateLoad(byte, builder.CreateGEP(byte, bytes, place)), wide);
    bits = builder.CreateOr(bits, builder.CreateShl(loaded, 8 * i));
  }
  Value *shift = builder.CreateAnd(bit, 7);
  bits = builder.CreateLShr(bits, builder.CreateZExtOrTrunc(shift, wide));
  bits = builder.CreateAnd(
      bits, ConstantInt::get(
                wide, APInt::getLowBitsSet(wide->getIntegerBitWidth(), width)));
  builder.CreateRet(builder.CreateZExtOrTrunc(bits, load.getReturnType()));
}

/// As many codes as there are lanes, from one that begins at a byte.
static Value *loadAligned(IRBuilder<> &builder, Function &load, Value *address,
                          Value *index, unsigned lanes) {
  unsigned width = widthOf(load);
  unsigned word = width <= 9 ? 16 : 32, bytesOfWord = word / 8;
  unsigned count = lanes * width / 8;
  Value *first =
      builder.CreateLShr(builder.CreateMul(index, builder.getInt64(width)), 3);
  Value *bytes = builder.CreateIntToPtr(address, builder.getPtrTy());
  Value *read = builder.CreateAlignedLoad(
      FixedVectorType::get(builder.getInt8Ty(), count),
      builder.CreateGEP(builder.getInt8Ty(), bytes, first), Align(1));
  SmallVector<int> places;
  SmallVector<Constant *> shifts;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned i = 0; i < bytesOfWord; ++i)
      places.push_back(
          static_cast<int>(std::min(lane * width / 8 + i, count - 1)));
    shifts.push_back(
        ConstantInt::get(builder.getIntNTy(word), lane * width % 8));
  }
  Value *words = builder.CreateBitCast(
      builder.CreateShuffleVector(read, places),
      FixedVectorType::get(builder.getIntNTy(word), lanes));
  words = builder.CreateLShr(words, ConstantVector::get(shifts));
  words = builder.CreateAnd(
      words, ConstantVector::getSplat(
                 ElementCount::getFixed(lanes),
                 builder.getIntN(word, (uint64_t{1} << width) - 1)));
  return builder.CreateZExtOrTrunc(
      words, FixedVectorType::get(load.getReturnType(), lanes));
}

static Value *loadEach(IRBuilder<> &builder, Function &load, Value *address,
                       Value *index, unsigned lanes) {
  Value *codes =
      PoisonValue::get(FixedVectorType::get(load.getReturnType(), lanes));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value *place = builder.CreateAdd(index, builder.getInt64(lane));
    codes = builder.CreateInsertElement(
        codes, builder.CreateCall(&load, {address, place}), lane);
  }
  return codes;
}

static void addVariant(Function &load, unsigned lanes) {
  LLVMContext &context = load.getContext();
  auto *result = FixedVectorType::get(load.getReturnType(), lanes);
  auto *variant = Function::Create(
      FunctionType::get(result, load.getFunctionType()->params(), false),
      GlobalValue::InternalLinkage, load.getName() + "." + Twine(lanes),
      load.getParent());
  becomeInternal(*variant);
  variant->addFnAttr(Attribute::AlwaysInline);
  auto *entry = BasicBlock::Create(context, "", variant);
  auto *aligned = BasicBlock::Create(context, "", variant);
  auto *other = BasicBlock::Create(context, "", variant);
  Value *address = variant->getArg(0), *index = variant->getArg(1);
  IRBuilder<> builder(entry);
  Value *bit = builder.CreateMul(index, builder.getInt64(widthOf(load)));
  builder.CreateCondBr(
      builder.CreateICmpEQ(builder.CreateAnd(bit, 7), builder.getInt64(0)),
      aligned, other);
  builder.SetInsertPoint(aligned);
  builder.CreateRet(loadAligned(builder, load, address, index, lanes));
  builder.SetInsertPoint(other);
  builder.CreateRet(loadEach(builder, load, address, index, lanes));
  numera::nameVariant(load, *variant, lanes, "ul");
}

/// Wider codes are few to a vector: a load for each costs no more.
static bool hasVectors(const Function &load, const TargetMachine &machine) {
  return machine.getTargetTriple().isX86() &&
         machine.getMCSubtargetInfo()->checkFeatures("+avx2") &&
         widthOf(load) <= 25;
}

void numera::definePackedLoads(Module &module, const TargetMachine &machine) {
  for (Function &load : make_early_inc_range(module)) {
    if (!load.isDeclaration() || !isPackedLoad(load) || load.use_empty())
      continue;
    becomeInternal(load);
    defineScalar(load);
    if (!hasVectors(load, machine)) {
      load.addFnAttr(Attribute::AlwaysInline);
      continue;
    }
    load.addFnAttr(Attribute::NoInline);
    keepForVectoriser(load);
    for (unsigned lanes : {8, 16, 32, 64})
      addVariant(load, lanes);
  }
}

bool numera::hasPackedLoads(const Module &module) {
  return any_of(module, isPackedLoad);
}

void numera::releasePackedLoads(Module &module) {
  for (Function &function : module)
    if (isPackedLoad(function)) {
      function.removeFnAttr(Attribute::NoInline);
      function.addFnAttr(Attribute::AlwaysInline);
    }
}
