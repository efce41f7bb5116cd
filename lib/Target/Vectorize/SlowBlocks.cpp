// SPDX-License-Identifier: MIT

#include "SlowBlocks.h"
#include "BfloatConversions.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace numera;

bool numera::isLaneType(const Type *type) {
  if (auto *integer = dyn_cast<IntegerType>(type))
    return integer->getBitWidth() <= 64;
  return type->isHalfTy() || type->isBFloatTy() || type->isFloatTy() ||
         type->isDoubleTy() || type->isPointerTy();
}

static bool hasVectorType(const Type *type) {
  if (auto *members = dyn_cast<StructType>(type))
    return all_of(members->elements(), isLaneType);
  return isLaneType(type);
}

/// A load of a constant table.
static bool isTableLoad(const LoadInst &load) {
  auto *table =
      dyn_cast<GlobalVariable>(getUnderlyingObject(load.getPointerOperand()));
  return load.isSimple() && table && table->isConstant() &&
         table->hasDefinitiveInitializer();
}

/// Notes to the optimiser, which no lane needs.
bool numera::isNote(const Instruction &instruction) {
  auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  return intrinsic && (intrinsic->isAssumeLikeIntrinsic() ||
                       isa<DbgInfoIntrinsic>(intrinsic));
}

bool numera::isBfloatConversion(const CallInst &call) {
  const Function *called = call.getCalledFunction();
  return called && called == bfloatConversion(*called->getParent());
}

static bool isWidenableCall(const CallInst &call) {
  Intrinsic::ID id = call.getIntrinsicID();
  if (isa<WithOverflowInst>(call) || isBfloatConversion(call))
    return true;
  if (!isTriviallyVectorizable(id) || call.getType()->isStructTy())
    return false;
  for (auto [i, argument] : enumerate(call.args()))
    if (isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr) &&
        !isa<Constant>(argument))
      return false;
  return true;
}

static bool isWidenable(const Instruction &instruction) {
  if (isNote(instruction))
    return true;
  if (isa<ReturnInst, BranchInst>(instruction))
    return true;
  if (!hasVectorType(instruction.getType()) ||
      !all_of(instruction.operands(), [](const Use &operand) {
        return isa<BasicBlock, Function>(operand) ||
               hasVectorType(operand->getType());
      }))
    return false;
  if (auto *call = dyn_cast<CallInst>(&instruction))
    return isWidenableCall(*call);
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return isTableLoad(*load);
  return isa<BinaryOperator, UnaryOperator, CastInst, CmpInst, SelectInst,
             FreezeInst, PHINode, GetElementPtrInst, ExtractValueInst,
             InsertValueInst>(instruction);
}

/// The scalar function's own memory, if nothing but `slow` blocks uses it.
static bool isMemoryOf(const SmallPtrSetImpl<BasicBlock *> &slow,
                       Instruction &instruction) {
  return isa<AllocaInst>(instruction) &&
         all_of(instruction.users(), [&](User *user) {
           auto *use = cast<Instruction>(user);
           return isNote(*use) || slow.contains(use->getParent());
         });
}

/// Blocks that have no vector form: those of loops, those with an instruction
/// that has none, and those that only lead to such.
static SmallPtrSet<BasicBlock *, 8> slowBlocks(Function &function) {
  SmallPtrSet<BasicBlock *, 8> slow;
  for (auto component = scc_begin(&function); !component.isAtEnd(); ++component)
    if (component.hasCycle())
      slow.insert_range(*component);
  for (BasicBlock *block : post_order(&function))
    if (!all_of(*block,
                [&](Instruction &instruction) {
                  return isWidenable(instruction) ||
                         isMemoryOf(slow, instruction);
                }) ||
        (succ_size(block) != 0 && all_of(successors(block), [&](auto *next) {
           return slow.contains(next);
         })))
      slow.insert(block);
  return slow;
}

/// Memory that only notes mention.
static void eraseUnusedMemory(Function &function) {
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    if (isNote(instruction) &&
        any_of(instruction.operands(),
               [](Value *operand) { return isa<AllocaInst>(operand); }))
      instruction.eraseFromParent();
  }
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (isa<AllocaInst>(instruction) && instruction.use_empty())
      instruction.eraseFromParent();
}

std::optional<SmallVector<numera::SlowExit>>
numera::cutOffSlowBlocks(Function &function) {
  SmallPtrSet<BasicBlock *, 8> slow = slowBlocks(function);
  if (slow.contains(&function.front()))
    return std::nullopt;
  SmallVector<SlowExit> exits;
  // In topological order: only what is still reachable has exits.
  ReversePostOrderTraversal<Function *> blocks(&function);
  SmallPtrSet<BasicBlock *, 8> reached = {&function.front()};
  for (BasicBlock *block : blocks) {
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !reached.contains(block))
      continue;
    if (any_of(branch->successors(),
               [&](BasicBlock *next) { return slow.contains(next); })) {
      // The other one is fast, or this block would be slow.
      unsigned cut = slow.contains(branch->getSuccessor(0)) ? 0 : 1;
      exits.push_back({block, branch->getCondition(), cut == 0});
      branch->getSuccessor(cut)->removePredecessor(block);
      BasicBlock *next = branch->getSuccessor(1 - cut);
      branch->eraseFromParent();
      BranchInst::Create(next, block);
    }
    reached.insert_range(successors(block));
  }
  removeUnreachableBlocks(function);
  eraseUnusedMemory(function);
  return exits;
}
