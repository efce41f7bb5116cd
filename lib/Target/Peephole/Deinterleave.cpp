// SPDX-License-Identifier: MIT
//
// The vectoriser widens 32 codes in order, lanes 0 to 15 and 16 to 31. This
// takes two permutations for each operand, and three to narrow the results. Any
// other order is correct too, if all operands have the same. Splitting into
// even and odd codes is free: in words of 32 bits an even code is the lower
// half and an odd one the upper half.
//
//   %a = zext <32 x i16> %x              %w = bitcast %x to <16 x i32>
//   …              (lane by lane)        %a = concat (and %w, 65535), (lshr %w,
//   16) %z = trunc <32 x i32> %c   becomes   …
//                                        %z = bitcast (or (and %even, 65535),
//                                                         (shl %odd, 16))
//
// All users and operands of such values must be lane-wise, so that the order is
// not visible: splats, halves, a test whether any lane of a mask is set. If one
// is not, nothing is changed.

#include "Deinterleave.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// What a vector holds in place of the lanes that it held.
enum class Order {
  Whole, ///< those of even codes, then those of odd ones
  First, ///< half of the lanes: even codes
  Last,  ///< odd codes
  Mixed, ///< a mask of which only counts whether any lane is set
};

/// The instructions that take part, once one of them does.
class Region {
public:
  Region(unsigned lanes) : lanes(lanes) {}

  /// False if they cannot.
  bool collect(Instruction &seed);
  void rewrite();

  const MapVector<Instruction *, Order> &members() const { return orders; }

private:
  bool add(Instruction *instruction, Order order);
  bool addUsers(Instruction &instruction, Order order);
  bool addOperands(Instruction &instruction, Order order);
  bool addOperand(Value *operand, Order order);
  std::optional<Order> orderOfUser(Instruction &user, Order order) const;
  bool addSelect(SelectInst &select);
  bool addCompare(ICmpInst &compare);

  Type *codesType(LLVMContext &context) const {
    return FixedVectorType::get(Type::getInt16Ty(context), lanes);
  }
  void widen(CastInst &cast);
  void narrow(TruncInst &trunc);
  void narrow(IntrinsicInst &conversion);
  Value *separate(IRBuilder<> &builder, Value *codes, bool isUpper);
  Value *wordsOf(Value *codes, IRBuilder<> &builder);
  void compareWords(ICmpInst &compare);

  unsigned lanes;
  MapVector<Instruction *, Order> orders;
  SmallVector<Instruction *> work;
  SmallSetVector<TruncInst *, 4> narrowed;
  SmallSetVector<SelectInst *, 4> selects; ///< of what is narrowed
  SmallSetVector<IntrinsicInst *, 4> conversions;
  MapVector<Value *, Value *> compares; ///< of codes, and then of their words
};

unsigned lanesOf(const Value &value) {
  auto *type = dyn_cast<FixedVectorType>(value.getType());
  return type ? type->getNumElements() : 0;
}

bool isMask(const Value &value) {
  return value.getType()->isIntOrIntVectorTy(1);
}

/// Codes that become words.
bool isSeed(const Instruction &instruction, unsigned lanes) {
  return isa<ZExtInst, SExtInst>(instruction) &&
         lanesOf(instruction) == lanes &&
         instruction.getType()->getScalarType()->isIntegerTy(32) &&
         instruction.getOperand(0)->getType()->getScalarType()->isIntegerTy(16);
}

bool isLaneByLane(const Instruction &instruction) {
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
    return intrinsic->getIntrinsicID() ==
               Intrinsic::x86_avx512_fpclass_ps_512 ||
           isTriviallyVectorizable(intrinsic->getIntrinsicID());
  if (auto *cast = dyn_cast<CastInst>(&instruction))
    return lanesOf(*cast) == lanesOf(*cast->getOperand(0));
  return isa<BinaryOperator, UnaryOperator, CmpInst, SelectInst, FreezeInst,
             PHINode>(instruction);
}

/// The half of a vector that a shuffle takes.
std::optional<Order> halfOf(const ShuffleVectorInst &shuffle) {
  unsigned from = lanesOf(*shuffle.getOperand(0));
  ArrayRef<int> mask = shuffle.getShuffleMask();
  for (auto [first, order] :
       {std::pair{0u, Order::First}, {from / 2, Order::Last}})
    if (mask.size() == from / 2 &&
        equal(mask, createSequentialMask(first, from / 2, 0)))
      return order;
  return std::nullopt;
}

bool isConcatenation(const ShuffleVectorInst &shuffle) {
  return shuffle.getShuffleMask().size() ==
             2 * lanesOf(*shuffle.getOperand(0)) &&
         shuffle.isConcat();
}

/// Whether any lane is set.
bool asksForAny(const Instruction &user) {
  return isa<BitCastInst>(user) && user.getType()->isIntegerTy() &&
         all_of(user.users(), [](const User *next) {
           return match(next, m_ICmp(m_Value(), m_Zero()));
         });
}

bool isConversion(const Instruction &instruction) {
  auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  return intrinsic && intrinsic->getIntrinsicID() ==
                          Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512;
}

} // namespace

bool Region::collect(Instruction &seed) {
  if (!add(&seed, Order::Whole))
    return false;
  while (!work.empty()) {
    Instruction *member = work.pop_back_val();
    Order order = orders.lookup(member);
    if (!addOperands(*member, order) || !addUsers(*member, order))
      return false;
  }
  return !narrowed.empty() || !conversions.empty();
}

bool Region::add(Instruction *instruction, Order order) {
  // Codes stay in their order.
  if (instruction->getType()->getScalarSizeInBits() == 16)
    return false;
  auto [place, isNew] = orders.insert({instruction, order});
  if (isNew)
    work.push_back(instruction);
  return place->second == order;
}

bool Region::addOperand(Value *operand, Order order) {
  if (!operand->getType()->isVectorTy())
    return true;
  if (auto *constant = dyn_cast<Constant>(operand))
    return constant->getSplatValue() || isa<UndefValue>(constant);
  if (getSplatValue(operand))
    return true;
  if (auto *compare = dyn_cast<ICmpInst>(operand);
      compare && order == Order::Whole &&
      compare->getOperand(0)->getType() == codesType(compare->getContext()))
    return addCompare(*compare);
  auto *instruction = dyn_cast<Instruction>(operand);
  if (!instruction)
    return false;
  auto *shuffle = dyn_cast<ShuffleVectorInst>(instruction);
  bool canJoin = isSeed(*instruction, lanes) || isLaneByLane(*instruction) ||
                 (shuffle && (halfOf(*shuffle) || isConcatenation(*shuffle)));
  return canJoin && add(instruction, order);
}

bool Region::addOperands(Instruction &instruction, Order order) {
  if (isSeed(instruction, lanes) || order == Order::Mixed)
    return true;
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) {
    if (order == Order::Whole)
      return addOperand(shuffle->getOperand(0), Order::First) &&
             addOperand(shuffle->getOperand(1), Order::Last);
    return halfOf(*shuffle) == order &&
           addOperand(shuffle->getOperand(0), Order::Whole);
  }
  unsigned expected = order == Order::Whole ? lanes : lanes / 2;
  return lanesOf(instruction) == expected && isLaneByLane(instruction) &&
         all_of(instruction.operands(), [&](Value *operand) {
           return isa<Function, BasicBlock>(operand) ||
                  addOperand(operand, order);
         });
}

/// A choice between codes, by a mask of words: made between words then.
bool Region::addSelect(SelectInst &select) {
  if (!selects.insert(&select))
    return true;
  return addOperand(select.getCondition(), Order::Whole) &&
         all_of(drop_begin(select.operands()), [&](Value *operand) {
           if (auto *inner = dyn_cast<SelectInst>(operand))
             return addSelect(*inner);
           auto *trunc = dyn_cast<TruncInst>(operand);
           return trunc ? addOperand(trunc->getOperand(0), Order::Whole)
                        : isa<Constant>(operand) &&
                              cast<Constant>(operand)->getSplatValue();
         });
}

/// A question about codes in their order is asked of their words as well.
bool Region::addCompare(ICmpInst &compare) {
  compares.insert({&compare, nullptr});
  return all_of(compare.operands(), [](Value *operand) {
    auto *constant = dyn_cast<Constant>(operand);
    return !constant || isa_and_nonnull<ConstantInt>(constant->getSplatValue());
  });
}

std::optional<Order> Region::orderOfUser(Instruction &user, Order order) const {
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&user)) {
    if (order == Order::Whole)
      return halfOf(*shuffle);
    return order != Order::Mixed && isConcatenation(*shuffle)
               ? std::optional(Order::Whole)
               : std::nullopt;
  }
  if (!isLaneByLane(user))
    return std::nullopt;
  // Of even or of odd codes: of which does not count when they are put
  // together.
  bool isUnion = isMask(user) && order != Order::Whole &&
                 match(&user, m_Or(m_Value(), m_Value()));
  if (order == Order::Mixed && !isUnion)
    return std::nullopt;
  return isUnion ? Order::Mixed : order;
}

bool Region::addUsers(Instruction &instruction, Order order) {
  for (User *each : instruction.users()) {
    auto *user = cast<Instruction>(each);
    if (asksForAny(*user) && isMask(instruction))
      continue;
    if (auto *trunc = dyn_cast<TruncInst>(user);
        trunc && order == Order::Whole &&
        trunc->getType() == codesType(trunc->getContext())) {
      narrowed.insert(trunc);
      continue;
    }
    if (isConversion(*user)) {
      if (!addOperand(user->getOperand(0), Order::Last) ||
          !addOperand(user->getOperand(1), Order::First))
        return false;
      conversions.insert(cast<IntrinsicInst>(user));
      continue;
    }
    if (auto *select = dyn_cast<SelectInst>(user);
        select && order == Order::Whole &&
        select->getType() == codesType(select->getContext())) {
      if (!addSelect(*select))
        return false;
      continue;
    }
    std::optional<Order> next = orderOfUser(*user, order);
    if (!next || !add(user, *next))
      return false;
  }
  return true;
}

/// Words of even codes, then those of odd ones: in their upper halves, or
/// without sign.
Value *Region::separate(IRBuilder<> &builder, Value *codes, bool isUpper) {
  auto *type = FixedVectorType::get(builder.getInt32Ty(), lanes / 2);
  Value *words = builder.CreateBitCast(codes, type);
  Value *even =
      isUpper ? builder.CreateShl(words, 16) : builder.CreateAnd(words, 0xffff);
  Value *odd = isUpper ? builder.CreateAnd(words, 0xffff0000)
                       : builder.CreateLShr(words, 16);
  return concatenateVectors(builder, {even, odd});
}

void Region::widen(CastInst &cast) {
  IRBuilder<> builder(&cast);
  bool isSigned = isa<SExtInst>(cast);
  Value *words = separate(builder, cast.getOperand(0), isSigned);
  cast.replaceAllUsesWith(isSigned ? builder.CreateAShr(words, 16) : words);
  cast.eraseFromParent();
}

void Region::compareWords(ICmpInst &compare) {
  IRBuilder<> builder(&compare);
  bool isSigned = compare.isSigned();
  SmallVector<Value *, 2> words;
  for (Value *codes : compare.operands()) {
    auto *constant = dyn_cast<Constant>(codes);
    if (!constant) {
      words.push_back(separate(builder, codes, isSigned));
      continue;
    }
    APInt code = cast<ConstantInt>(constant->getSplatValue())->getValue();
    words.push_back(
        ConstantInt::get(FixedVectorType::get(builder.getInt32Ty(), lanes),
                         isSigned ? code.sext(32).shl(16) : code.zext(32)));
  }
  Value *result =
      builder.CreateICmp(compare.getPredicate(), words[0], words[1]);
  compares[&compare] = result;
  // The sign of a code, where it was: no question any more.
  if (match(&compare,
            m_SpecificICmp(ICmpInst::ICMP_SGT, m_Value(), m_AllOnes())))
    for (User *user : make_early_inc_range(compare.users()))
      if (match(user, m_Select(m_Specific(&compare), m_Zero(), m_SignMask())) &&
          orders.contains(cast<Instruction>(user)))
        user->replaceAllUsesWith(
            builder.CreateAnd(words[0], uint64_t{1} << 31));
  compare.replaceUsesWithIf(result, [&](const Use &use) {
    return orders.contains(cast<Instruction>(use.getUser()));
  });
}

static Value *halfAt(IRBuilder<> &builder, Value *whole, unsigned first,
                     unsigned count) {
  return builder.CreateShuffleVector(whole,
                                     createSequentialMask(first, count, 0));
}

/// What is narrowed, as words of 32 bits: it may come from wider ones.
static Value *asWords(Value *lanes, IRBuilder<> &builder) {
  Type *type =
      VectorType::get(builder.getInt32Ty(), cast<VectorType>(lanes->getType()));
  return builder.CreateZExtOrTrunc(lanes, type);
}

void Region::narrow(TruncInst &trunc) {
  IRBuilder<> builder(&trunc);
  Value *words = asWords(trunc.getOperand(0), builder);
  Value *even = halfAt(builder, words, 0, lanes / 2);
  Value *odd = halfAt(builder, words, lanes / 2, lanes / 2);
  Value *codes = builder.CreateOr(builder.CreateAnd(even, 0xffff),
                                  builder.CreateShl(odd, 16));
  trunc.replaceAllUsesWith(builder.CreateBitCast(codes, trunc.getType()));
  trunc.eraseFromParent();
}

/// Its codes are those of even lanes, then those of odd ones.
void Region::narrow(IntrinsicInst &conversion) {
  IRBuilder<> builder(conversion.getNextNode());
  Type *codes = codesType(builder.getContext());
  Value *apart = builder.CreateBitCast(&conversion, codes);
  Value *result = builder.CreateBitCast(
      builder.CreateShuffleVector(apart, createInterleaveMask(lanes / 2, 2)),
      conversion.getType());
  conversion.replaceUsesWithIf(
      result, [&](const Use &use) { return use.getUser() != apart; });
}

/// Codes that are chosen, as words, in the order of this region.
Value *Region::wordsOf(Value *codes, IRBuilder<> &builder) {
  if (auto *trunc = dyn_cast<TruncInst>(codes))
    return asWords(trunc->getOperand(0), builder);
  auto *select = dyn_cast<SelectInst>(codes);
  if (!select)
    return builder.CreateZExt(
        codes, FixedVectorType::get(builder.getInt32Ty(), lanes));
  Value *condition = select->getCondition();
  if (Value *ofWords = compares.lookup(condition))
    condition = ofWords;
  Value *then = wordsOf(select->getTrueValue(), builder);
  return builder.CreateSelect(condition, then,
                              wordsOf(select->getFalseValue(), builder));
}

void Region::rewrite() {
  for (auto &[compare, ofWords] : compares)
    compareWords(*cast<ICmpInst>(compare));
  SmallVector<std::pair<SelectInst *, TruncInst *>> replacements;
  for (SelectInst *select : selects) {
    IRBuilder<> builder(select);
    auto *trunc = cast<TruncInst>(builder.Insert(
        new TruncInst(wordsOf(select, builder), select->getType())));
    replacements.push_back({select, trunc});
    narrowed.insert(trunc);
  }
  for (auto [select, trunc] : replacements)
    select->replaceAllUsesWith(trunc);
  for (auto [select, trunc] : replacements)
    select->eraseFromParent();
  for (TruncInst *trunc : narrowed) {
    if (trunc->use_empty())
      trunc->eraseFromParent();
    else
      narrow(*trunc);
  }
  for (IntrinsicInst *conversion : conversions)
    narrow(*conversion);
  for (auto [member, order] : orders)
    if (isSeed(*member, lanes))
      widen(cast<CastInst>(*member));
}

/// Codes that fill a register.
static unsigned lanesOfRegister(const MCSubtargetInfo &features) {
  return features.checkFeatures("+avx512bw") ? 32
         : features.checkFeatures("+avx2")   ? 16
                                             : 0;
}

void numera::deinterleaveLanes(Module &module, const TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86())
    return;
  unsigned lanes = lanesOfRegister(*machine.getMCSubtargetInfo());
  for (Function &function : module) {
    SmallVector<Instruction *> seeds;
    for (Instruction &instruction : instructions(function))
      if (lanes != 0 && isSeed(instruction, lanes))
        seeds.push_back(&instruction);
    SmallPtrSet<Instruction *, 8> done;
    for (Instruction *seed : seeds) {
      if (done.contains(seed))
        continue;
      Region region(lanes);
      bool isFree = region.collect(*seed);
      for (Instruction *other : seeds)
        if (region.members().contains(other))
          done.insert(other);
      if (isFree)
        region.rewrite();
    }
  }
}
