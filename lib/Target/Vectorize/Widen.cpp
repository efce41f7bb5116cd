// SPDX-License-Identifier: MIT
//
// A function without loops is a list of blocks in topological order. The
// instructions of each block become instructions on vectors, one block after
// the other, and a phi becomes selects. Lanes that would not enter a block
// compute unused results there. So an instruction that may trap is guarded by
// the block's mask, the set of lanes that enter it.
//
//   entry: br %c, a, b                      %x = …            all lanes
//   a:     %x = …   br end       becomes    %y = …            all lanes
//   b:     %y = …   br end                  %z = select %c, %x, %y
//   end:   %z = phi [%x, a], [%y, b]
//
// Blocks without a vector form are removed first. The lanes that would enter
// one are collected, and computed by the scalar function at the end:
//
//   %slow = lanes that enter such a block
//   %z' = %z, but for every lane i of %slow: scalar(lane i of the arguments)

#include "Widen.h"
#include "BfloatConversions.h"
#include "SlowBlocks.h"
#include "VectorForms.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Utils/UnifyFunctionExitNodes.h"

using namespace llvm;
using namespace numera;

Type *numera::widenType(Type *type, unsigned lanes) {
  if (auto *members = dyn_cast<StructType>(type)) {
    SmallVector<Type *> wide;
    for (Type *member : members->elements())
      wide.push_back(widenType(member, lanes));
    return StructType::get(type->getContext(), wide);
  }
  return FixedVectorType::get(type, lanes);
}

namespace {

/// The declaration of a form, its blocks to be filled.
Function *declare(Function &scalar, unsigned lanes, ArrayRef<bool> isVector) {
  SmallVector<Type *> types;
  std::string name = scalar.getName().str() + "." + std::to_string(lanes);
  for (auto [argument, isVector] : zip_equal(scalar.args(), isVector)) {
    Type *type = argument.getType();
    types.push_back(isVector ? widenType(type, lanes) : type);
    name += isVector ? "v" : "u";
  }
  auto *type =
      FunctionType::get(widenType(scalar.getReturnType(), lanes), types, false);
  Function *form = Function::Create(type, GlobalValue::InternalLinkage, name,
                                    scalar.getParent());
  for (const char *attribute :
       {"target-cpu", "target-features", "tune-cpu", "prefer-vector-width"})
    if (scalar.hasFnAttribute(attribute))
      form->addFnAttr(scalar.getFnAttribute(attribute));
  form->addFnAttr(Attribute::NoUnwind);
  form->addFnAttr(Attribute::AlwaysInline);
  return form;
}

class Widener {
public:
  Widener(Function &scalar, unsigned lanes, ArrayRef<bool> isVector)
      : scalar(scalar), lanes(lanes), isVector(isVector),
        builder(scalar.getContext()) {}

  Function *run();

private:
  void widen(Instruction &instruction);
  void widenPhi(PHINode &phi);
  Value *select(Value *condition, Value *a, Value *b);
  void widenLoad(LoadInst &load);
  void widenCall(CallInst &call);
  /// Emits the copy with other operands; of a wide type if one of them is.
  void widenCopy(Instruction &instruction);
  Value *computeSlowLanes(Value *result);

  /// The value of an operand: of all lanes, or of each.
  Value *at(Value *operand) {
    if (isa<Constant>(operand))
      return operand;
    return values.lookup(operand);
  }
  static bool isWide(const Value *value) {
    Type *type = value->getType();
    return type->isVectorTy() ||
           (type->isStructTy() && type->getStructNumElements() != 0 &&
            type->getStructElementType(0)->isVectorTy());
  }
  /// A value of each lane.
  Value *splat(Value *value);
  Value *splatMask(Value *mask) {
    return mask ? splat(mask) : Constant::getAllOnesValue(maskType());
  }
  Type *maskType() { return widenType(builder.getInt1Ty(), lanes); }

  /// The lanes that go from `top` to `block`, which `top` dominates; null for
  /// all that are at `top`. Only these lanes of the mask mean anything.
  Value *mask(BasicBlock *block, BasicBlock *top);
  Value *edgeMask(BasicBlock *from, BasicBlock *to, BasicBlock *top);
  Value *both(Value *a, Value *b) {
    if (!a || !b)
      return a ? a : b;
    if (isWide(a) != isWide(b)) {
      a = splat(a);
      b = splat(b);
    }
    // Not an `and`: b may be poison in lanes that are not at its block.
    return builder.CreateLogicalAnd(a, b);
  }
  /// The lanes for which the scalar function gets to `block`; null for all.
  Value *lanesAt(BasicBlock *block);
  /// The lanes that leave by an exit.
  Value *lanesLeaving(const SlowExit &exit);
  Value *conditionOf(Value *condition);

  Function &scalar;
  unsigned lanes;
  ArrayRef<bool> isVector;
  IRBuilder<> builder;
  Function *work = nullptr; ///< a copy of the scalar function
  Function *form = nullptr;
  SmallVector<SlowExit> exits;
  DominatorTree dominators;
  PostDominatorTree postDominators;
  DenseMap<Value *, Value *> values;
  DenseMap<Value *, Value *> conditions;  ///< those that are frozen
  DenseMap<BasicBlock *, unsigned> order; ///< the topological one
  DenseMap<std::pair<BasicBlock *, BasicBlock *>, Value *> masks;
};

} // namespace

Value *Widener::splat(Value *value) {
  if (isWide(value))
    return value;
  if (!value->getType()->isStructTy())
    return builder.CreateVectorSplat(lanes, value);
  Value *wide = PoisonValue::get(widenType(value->getType(), lanes));
  for (unsigned i = 0; i < value->getType()->getStructNumElements(); ++i)
    wide = builder.CreateInsertValue(
        wide, splat(builder.CreateExtractValue(value, i)), i);
  return wide;
}

Value *Widener::mask(BasicBlock *block, BasicBlock *top) {
  if (block == top)
    return nullptr;
  auto [place, isNew] = masks.try_emplace({block, top});
  if (!isNew)
    return place->second;
  BasicBlock *above = dominators.getNode(block)->getIDom()->getBlock();
  Value *result = nullptr;
  if (postDominators.dominates(block, above)) {
    result = mask(above, top); // every lane that was there comes here
  } else {
    for (BasicBlock *from : predecessors(block)) {
      Value *edge = edgeMask(from, block, top);
      if (result && isWide(result) != isWide(edge)) {
        result = splat(result);
        edge = splat(edge);
      }
      result = result ? builder.CreateOr(result, edge) : edge;
    }
  }
  return masks[{block, top}] = result;
}

Value *Widener::edgeMask(BasicBlock *from, BasicBlock *to, BasicBlock *top) {
  Value *lanesThere = mask(from, top);
  auto *branch = cast<BranchInst>(from->getTerminator());
  if (branch->isUnconditional() ||
      branch->getSuccessor(0) == branch->getSuccessor(1))
    return lanesThere;
  Value *condition = conditionOf(branch->getCondition());
  if (branch->getSuccessor(0) != to)
    condition = builder.CreateNot(condition);
  return both(lanesThere, condition);
}

/// What decides a branch. After an exit it may be poison, in the lanes that
/// left; those must not spoil a mask on which the form itself branches.
Value *Widener::conditionOf(Value *condition) {
  if (exits.empty() || isa<Constant>(condition))
    return at(condition);
  Value *&frozen = conditions[condition];
  if (!frozen)
    frozen = builder.CreateFreeze(at(condition));
  return frozen;
}

Value *Widener::lanesLeaving(const SlowExit &exit) {
  Value *condition = conditionOf(exit.condition);
  return both(mask(exit.block, &work->front()),
              exit.sense ? condition : builder.CreateNot(condition));
}

Value *Widener::lanesAt(BasicBlock *block) {
  Value *lanesThere = mask(block, &work->front());
  for (const SlowExit &exit : exits)
    if (exit.block != block && order.lookup(exit.block) < order.lookup(block))
      lanesThere = both(lanesThere, builder.CreateNot(lanesLeaving(exit)));
  return lanesThere;
}

void Widener::widenPhi(PHINode &phi) {
  BasicBlock *block = phi.getParent();
  BasicBlock *top = dominators.getNode(block)->getIDom()->getBlock();
  Value *result = nullptr;
  for (auto [incoming, from] : zip_equal(phi.incoming_values(), phi.blocks())) {
    Value *value = at(incoming);
    if (!result || result == value) {
      result = value;
      continue;
    }
    Value *edge = edgeMask(from, block, top);
    if (isWide(edge) || isWide(value) || isWide(result)) {
      value = splat(value);
      result = splat(result);
    }
    result = select(edge, value, result);
  }
  values[&phi] = result;
}

/// A select of numbers or of structs, whose members may be vectors.
Value *Widener::select(Value *condition, Value *a, Value *b) {
  auto *members = dyn_cast<StructType>(a->getType());
  if (!members || !isWide(condition))
    return builder.CreateSelect(condition, a, b);
  Value *result = PoisonValue::get(members);
  for (unsigned i = 0; i < members->getNumElements(); ++i)
    result = builder.CreateInsertValue(result,
                                       select(condition,
                                              builder.CreateExtractValue(a, i),
                                              builder.CreateExtractValue(b, i)),
                                       i);
  return result;
}

void Widener::widenLoad(LoadInst &load) {
  Value *lanesThere = lanesAt(load.getParent());
  Value *pointer = at(load.getPointerOperand());
  if (!isWide(pointer) && (!lanesThere || isSafeToSpeculativelyExecute(&load)))
    return widenCopy(load);
  auto *table =
      cast<GlobalVariable>(getUnderlyingObject(load.getPointerOperand()));
  pointer = splat(pointer);
  if (lanesThere) // the others read the table's first entry
    pointer = builder.CreateSelect(lanesThere, pointer, splat(table));
  values[&load] = builder.CreateMaskedGather(
      widenType(load.getType(), lanes), pointer, load.getAlign(),
      Constant::getAllOnesValue(maskType()));
}

void Widener::widenCall(CallInst &call) {
  if (none_of(call.args(),
              [&](const Use &argument) { return isWide(at(argument)); }))
    return widenCopy(call);
  if (isBfloatConversion(call)) {
    values[&call] =
        builder.CreateCall(&bfloatVariant(*call.getCalledFunction(), lanes),
                           splat(at(call.getArgOperand(0))));
    return;
  }
  Intrinsic::ID id = call.getIntrinsicID();
  SmallVector<Type *> overloads;
  if (isa<WithOverflowInst>(call))
    overloads.push_back(widenType(call.getArgOperand(0)->getType(), lanes));
  else if (isVectorIntrinsicWithOverloadTypeAtArg(id, -1, nullptr))
    overloads.push_back(widenType(call.getType(), lanes));
  SmallVector<Value *> arguments;
  for (auto [i, argument] : enumerate(call.args())) {
    bool isScalar = isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr);
    arguments.push_back(isScalar ? at(argument) : splat(at(argument)));
    if (isVectorIntrinsicWithOverloadTypeAtArg(id, i, nullptr))
      overloads.push_back(arguments.back()->getType());
  }
  CallInst *wide = builder.CreateIntrinsic(id, overloads, arguments);
  wide->copyIRFlags(&call);
  values[&call] = wide;
}

void Widener::widenCopy(Instruction &instruction) {
  Instruction *copy = instruction.clone();
  copy->setDebugLoc({});
  copy->dropUnknownNonDebugMetadata();
  bool anyWide = false;
  for (Use &operand : copy->operands()) {
    if (!isa<Function>(operand))
      operand.set(at(operand));
    anyWide |= isWide(operand);
  }
  if (instruction.isIntDivRem() && !isSafeToSpeculativelyExecute(&instruction))
    if (Value *lanesThere = lanesAt(instruction.getParent())) {
      Value *one = ConstantInt::get(instruction.getType(), 1);
      Value *divisor = copy->getOperand(1);
      if (isWide(lanesThere) || isWide(divisor)) {
        divisor = splat(divisor);
        one = splat(one);
        anyWide = true;
      }
      copy->setOperand(1, builder.CreateSelect(lanesThere, divisor, one));
    }
  if (anyWide) {
    // Addresses and conditions may be one for all.
    for (auto [i, operand] : enumerate(copy->operands()))
      if (!isa<GetElementPtrInst>(copy) && !(isa<SelectInst>(copy) && i == 0))
        operand.set(splat(operand));
    copy->mutateType(widenType(instruction.getType(), lanes));
  }
  values[&instruction] = builder.Insert(copy);
}

void Widener::widen(Instruction &instruction) {
  if (isNote(instruction) || instruction.isTerminator())
    return;
  if (auto *phi = dyn_cast<PHINode>(&instruction))
    return widenPhi(*phi);
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return widenLoad(*load);
  if (auto *call = dyn_cast<CallInst>(&instruction))
    return widenCall(*call);
  return widenCopy(instruction);
}

/// Keeps a loop of calls what it is. Unrolled, as where all lanes are known to
/// be slow, its calls would be vectorised: to one of the form that they are in.
static void keepLoop(BranchInst &back) {
  LLVMContext &context = back.getContext();
  auto note = [&](StringRef name, ArrayRef<Metadata *> value = {}) {
    SmallVector<Metadata *> operands = {MDString::get(context, name)};
    operands.append(value.begin(), value.end());
    return MDNode::get(context, operands);
  };
  Metadata *no = ConstantAsMetadata::get(ConstantInt::getFalse(context));
  MDNode *id =
      MDNode::getDistinct(context, {nullptr, note("llvm.loop.unroll.disable"),
                                    note("llvm.loop.vectorize.enable", {no})});
  id->replaceOperandWith(0, id);
  back.setMetadata(LLVMContext::MD_loop, id);
}

/// `result` with the lanes that went an exit replaced.
Value *Widener::computeSlowLanes(Value *result) {
  Value *slow = nullptr;
  for (const SlowExit &exit : exits) {
    Value *leaving = splat(lanesLeaving(exit));
    slow = slow ? builder.CreateOr(slow, leaving) : leaving;
  }
  if (!slow)
    return result;
  LLVMContext &context = form->getContext();
  BasicBlock *fast = builder.GetInsertBlock();
  auto *loop = BasicBlock::Create(context, "slow", form);
  auto *end = BasicBlock::Create(context, "end", form);
  Type *bitsType = builder.getIntNTy(lanes);
  Value *zero = ConstantInt::get(bitsType, 0);
  Value *bits = builder.CreateBitCast(slow, bitsType);
  builder.CreateCondBr(builder.CreateICmpEQ(bits, zero), end, loop,
                       MDBuilder(context).createLikelyBranchWeights());

  builder.SetInsertPoint(loop);
  PHINode *left = builder.CreatePHI(bitsType, 2);
  PHINode *sum = builder.CreatePHI(result->getType(), 2);
  Value *lane = builder.CreateZExtOrTrunc(
      builder.CreateBinaryIntrinsic(Intrinsic::cttz, left, builder.getTrue()),
      builder.getInt32Ty());
  CallInst *call = callLane(builder, scalar, *form, lane);
  call->addFnAttr(Attribute::Cold);
  call->addFnAttr(Attribute::NoInline);
  Value *next = builder.CreateInsertElement(sum, call, lane);
  Value *rest = builder.CreateAnd(
      left, builder.CreateSub(left, ConstantInt::get(bitsType, 1)));
  keepLoop(*builder.CreateCondBr(builder.CreateICmpEQ(rest, zero), end, loop));
  left->addIncoming(bits, fast);
  left->addIncoming(rest, loop);
  sum->addIncoming(result, fast);
  sum->addIncoming(next, loop);

  builder.SetInsertPoint(end);
  PHINode *all = builder.CreatePHI(result->getType(), 2);
  all->addIncoming(result, fast);
  all->addIncoming(next, loop);
  return all;
}

Function *Widener::run() {
  ValueToValueMapTy map;
  work = CloneFunction(&scalar, map);
  FunctionAnalysisManager analyses;
  PassBuilder().registerFunctionAnalyses(analyses);
  FunctionPassManager passes;
  passes.addPass(LowerSwitchPass());
  passes.addPass(UnifyFunctionExitNodesPass());
  passes.run(*work, analyses);
  if (auto cut = cutOffSlowBlocks(*work)) {
    exits = std::move(*cut);
    dominators.recalculate(*work);
    postDominators.recalculate(*work);
    form = declare(scalar, lanes, isVector);
    for (auto [argument, wide] : zip_equal(work->args(), form->args()))
      values[&argument] = &wide;
    builder.SetInsertPoint(BasicBlock::Create(form->getContext(), "", form));
    Value *result = nullptr;
    ReversePostOrderTraversal<Function *> blocks(work);
    for (auto [place, block] : enumerate(blocks))
      order[block] = place;
    for (BasicBlock *block : blocks) {
      for (Instruction &instruction : *block)
        widen(instruction);
      if (auto *last = dyn_cast<ReturnInst>(block->getTerminator()))
        result = at(last->getReturnValue());
    }
    builder.CreateRet(computeSlowLanes(splat(result)));
  }
  analyses.clear();
  work->eraseFromParent();
  return form;
}

Function *numera::widen(Function &scalar, unsigned lanes,
                        ArrayRef<bool> isVector) {
  bool isOfLanes = isLaneType(scalar.getReturnType()) &&
                   all_of(scalar.args(), [](const Argument &argument) {
                     return isLaneType(argument.getType());
                   });
  return isOfLanes ? Widener(scalar, lanes, isVector).run() : nullptr;
}
