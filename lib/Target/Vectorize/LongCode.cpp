// SPDX-License-Identifier: MIT

#include "LongCode.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// What 300 additions of posit16 become.
static constexpr unsigned mostInstructions = 16384;

/// The calls outside loops of functions that may be inlined.
static SmallVector<CallInst *> callsOutsideLoops(Function &function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  SmallVector<CallInst *> calls;
  for (BasicBlock &block : function) {
    if (loops.getLoopFor(&block))
      continue;
    for (Instruction &instruction : block) {
      auto *call = dyn_cast<CallInst>(&instruction);
      Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration())
        calls.push_back(call);
    }
  }
  return calls;
}

void numera::keepCallsOfLongCode(Module &module) {
  DenseMap<Function *, unsigned> sizes;
  auto sizeOf = [&](const CallInst *call) {
    auto [place, isNew] = sizes.try_emplace(call->getCalledFunction(), 0);
    if (isNew)
      place->second = place->first->getInstructionCount();
    return place->second;
  };
  for (Function &function : module) {
    // Few calls are little code, mostly.
    if (function.isDeclaration() || function.getInstructionCount() < 64)
      continue;
    SmallVector<CallInst *> calls = callsOutsideLoops(function);
    uint64_t size = 0;
    for (const CallInst *call : calls)
      size += sizeOf(call);
    if (size > mostInstructions)
      for (CallInst *call : calls)
        call->setIsNoInline();
  }
}
