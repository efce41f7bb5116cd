// SPDX-License-Identifier: MIT
//
// A table of 256 bytes is four registers of AVX-512: VPERMI2B picks 64 bytes
// out of two of them by seven bits, and the eighth bit chooses between two
// results. Three instructions for 64 codes, 0.02 ns each on Zen 4, which is the
// speed of memory; a table of 128 or 64 bytes takes one. Loads take 0.31 ns,
// whether they stand alone or their results are put together to vectors.
//
// Larger tables are read by gathers of AVX-512, which are as fast as loads,
// 0.43 ns, but leave results in vectors: LLVM's own way of putting them
// together takes 0.75. With AVX2 the same gathers are of 8 places, which LLVM
// makes of loads where the CPU's gathers are slow; without them it would leave
// a loop with a look-up scalar.
//
// LLVM's vectoriser finds the vector function by the attribute of the scalar
// one (VectorVariants.cpp), if that is still called when it comes there.
// Afterwards both are inlined, and the table stays in registers throughout a
// loop.

#include "Lookups.h"
#include "Codegen/Tuning.h"
#include "Vectorize/VectorVariants.h"
#include "numera/Registry/Symbols/Lookup.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/MC/MCSubtargetInfo.h"

#include <numeric>

using namespace llvm;

static constexpr unsigned registerBytes = 64, gatherBits = 32;

static bool isLookup(const Function &function) {
  return function.getName().starts_with(numera::lookupPrefix);
}

/// Of a lookup.
static unsigned placeBitsOf(const Function &lookup) {
  unsigned bits = 0;
  lookup.getName()
      .drop_front(StringRef(numera::lookupPrefix).size())
      .consumeInteger(10, bits);
  return bits;
}

static void becomeInternal(Function &function) {
  function.setLinkage(GlobalValue::InternalLinkage);
  function.setDoesNotAccessMemory(); // but for constants
  function.setDoesNotThrow();
  function.setWillReturn();
}

static void defineAsLoad(Function &lookup) {
  IRBuilder<> builder(BasicBlock::Create(lookup.getContext(), "", &lookup));
  Value *place = builder.CreateZExt(lookup.getArg(0), builder.getInt64Ty());
  if (unsigned bits = placeBitsOf(lookup); bits < 8)
    place = builder.CreateAnd(place, (uint64_t{1} << bits) - 1);
  Type *element = lookup.getReturnType();
  builder.CreateRet(builder.CreateLoad(
      element, builder.CreateInBoundsGEP(element, lookup.getArg(1), place)));
}

/// The lookup's own type on vectors of places and, last, a mask if it takes
/// one.
static Function *createVariant(Function &lookup, unsigned lanes,
                               bool isMasked) {
  auto lanesOf = [&](Type *type) { return FixedVectorType::get(type, lanes); };
  SmallVector<Type *, 3> arguments = {lanesOf(lookup.getArg(0)->getType()),
                                      lookup.getArg(1)->getType()};
  if (isMasked)
    arguments.push_back(lanesOf(Type::getInt1Ty(lookup.getContext())));
  auto *type =
      FunctionType::get(lanesOf(lookup.getReturnType()), arguments, false);
  auto *function = Function::Create(
      type, GlobalValue::InternalLinkage,
      lookup.getName() + (isMasked ? ".masked." : ".") + Twine(lanes),
      lookup.getParent());
  becomeInternal(*function);
  function->addFnAttr(Attribute::AlwaysInline);
  return function;
}

/// <lanes x i8> (<lanes x i8> places, ptr table), by permutations of a table of
/// as many bytes as `placeBits` bits tell apart. A mask does not matter:
/// nothing is read that is not the table.
static void permuteBytes(Function &function, unsigned lanes,
                         unsigned placeBits) {
  LLVMContext &context = function.getContext();
  auto *whole = FixedVectorType::get(Type::getInt8Ty(context), registerBytes);
  IRBuilder<> builder(BasicBlock::Create(context, "", &function));
  SmallVector<Value *, 4> parts;
  for (unsigned i = 0; i < 1u << placeBits; i += registerBytes)
    parts.push_back(builder.CreateAlignedLoad(
        whole,
        builder.CreateConstInBoundsGEP1_32(builder.getInt8Ty(),
                                           function.getArg(1), i),
        Align(1)));
  SmallVector<int> resize(registerBytes, -1);
  for (unsigned i = 0; i < lanes; ++i)
    resize[i] = static_cast<int>(i);
  Value *places = builder.CreateShuffleVector(function.getArg(0), resize);
  auto pick = [&](Value *low, Value *high) {
    return builder.CreateIntrinsic(Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                   {low, places, high});
  };
  Value *result = nullptr;
  if (placeBits == 6)
    result = builder.CreateIntrinsic(Intrinsic::x86_avx512_permvar_qi_512, {},
                                     {parts[0], places});
  else
    result = pick(parts[0], parts[1]);
  if (placeBits == 8) {
    Value *isHigh =
        builder.CreateICmpSLT(places, Constant::getNullValue(whole));
    result = builder.CreateSelect(isHigh, pick(parts[2], parts[3]), result);
  }
  builder.CreateRet(
      builder.CreateShuffleVector(result, ArrayRef(resize).take_front(lanes)));
}

/// <lanes x element> (<lanes x i16> places, ptr table, mask), by gathers of
/// `gatherLanes` times 32 bits: a table has as many behind its last element.
static void gatherElements(Function &function, unsigned lanes,
                           unsigned gatherLanes) {
  Type *element = function.getReturnType()->getScalarType();
  IRBuilder<> builder(BasicBlock::Create(function.getContext(), "", &function));
  Value *places = builder.CreateZExt(
      function.getArg(0), FixedVectorType::get(builder.getInt32Ty(), lanes));
  Value *mask = function.arg_size() > 2 ? function.getArg(2) : nullptr;
  Value *result = PoisonValue::get(function.getReturnType());
  for (unsigned first = 0; first < lanes; first += gatherLanes) {
    unsigned count = std::min(lanes, gatherLanes);
    SmallVector<int> part(count);
    std::iota(part.begin(), part.end(), first);
    Value *pointers = builder.CreateGEP(
        element, function.getArg(1), builder.CreateShuffleVector(places, part));
    Value *words = builder.CreateMaskedGather(
        FixedVectorType::get(builder.getIntNTy(gatherBits), count), pointers,
        Align(1), mask ? builder.CreateShuffleVector(mask, part) : nullptr);
    Value *elements =
        builder.CreateTrunc(words, FixedVectorType::get(element, count));
    result = builder.CreateInsertVector(result->getType(), result, elements,
                                        builder.getInt64(first));
  }
  builder.CreateRet(result);
}

static bool has(const TargetMachine &machine, StringRef features) {
  return machine.getTargetTriple().isX86() &&
         machine.getMCSubtargetInfo()->checkFeatures(features.str());
}
/// Adds the variants that the CPU is fast at.
static void addVariants(Function &lookup, const TargetMachine &machine) {
  unsigned placeBits = placeBitsOf(lookup);
  bool isOfBytes =
      placeBits <= 8 && lookup.getReturnType()->getScalarSizeInBits() == 8;
  bool isSmall = lookup.getReturnType()->getScalarSizeInBits() < gatherBits;
  bool hasWide = has(machine, "+avx512f,+avx512bw");
  if (!isSmall || (isOfBytes ? !numera::permutesBytes(machine)
                             : !hasWide && !has(machine, "+avx2")))
    return lookup.addFnAttr(Attribute::AlwaysInline);
  lookup.addFnAttr(Attribute::NoInline);
  numera::keepForVectoriser(lookup); // else a single table becomes part of it
  for (unsigned lanes : {8, 16, 32, 64})
    for (bool isMasked : {false, true}) {
      Function *variant = createVariant(lookup, lanes, isMasked);
      if (isOfBytes)
        permuteBytes(*variant, lanes, placeBits);
      else
        gatherElements(*variant, lanes, hasWide ? 16 : 8);
      numera::nameVariant(lookup, *variant, lanes, "vu", isMasked);
    }
}

void numera::defineLookups(Module &module, const TargetMachine &machine) {
  for (Function &lookup : make_early_inc_range(module)) {
    if (!lookup.isDeclaration() || !isLookup(lookup) || lookup.use_empty())
      continue;
    becomeInternal(lookup);
    defineAsLoad(lookup);
    addVariants(lookup, machine);
  }
}

bool numera::hasLookups(const Module &module) {
  return any_of(module, isLookup);
}

void numera::releaseLookups(Module &module) {
  for (Function &function : module)
    if (isLookup(function)) {
      function.removeFnAttr(Attribute::NoInline);
      function.addFnAttr(Attribute::AlwaysInline);
    }
}
