// SPDX-License-Identifier: MIT
//
// MLIR lowers allocations to the C library's. This file replaces them by those
// of the runtime, which keeps memory for later calls (runtime/host/Memory.h).

#include "Allocations.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace numera;

namespace {
/// What tells the optimiser that two functions are like malloc and free, so
/// that it may still leave out what is allocated for nothing.
constexpr StringLiteral family = "numera_host_allocate";
} // namespace

static FunctionCallee declareAllocate(Module &module) {
  IRBuilder<> builder(module.getContext());
  Type *size = builder.getInt64Ty();
  FunctionCallee callee = module.getOrInsertFunction(
      "numera_host_allocate", builder.getPtrTy(), size, size);
  auto *function = cast<Function>(callee.getCallee());
  function->addRetAttr(Attribute::NoAlias);
  function->addParamAttr(0, Attribute::AllocAlign);
  function->addFnAttr(Attribute::getWithAllocKind(
      module.getContext(),
      AllocFnKind::Alloc | AllocFnKind::Uninitialized | AllocFnKind::Aligned));
  function->addFnAttr(Attribute::getWithAllocSizeArgs(
      module.getContext(), /*ElemSizeArg=*/1, std::nullopt));
  function->addFnAttr("alloc-family", family);
  return callee;
}

static FunctionCallee declareRelease(Module &module) {
  IRBuilder<> builder(module.getContext());
  FunctionCallee callee = module.getOrInsertFunction(
      "numera_host_release", builder.getVoidTy(), builder.getPtrTy());
  auto *function = cast<Function>(callee.getCallee());
  function->addParamAttr(0, Attribute::AllocatedPointer);
  function->addFnAttr(
      Attribute::getWithAllocKind(module.getContext(), AllocFnKind::Free));
  function->addFnAttr("alloc-family", family);
  return callee;
}

void numera::keepMemory(Module &module) {
  auto replaceCalls = [&](StringRef name, auto &&replace) {
    Function *function = module.getFunction(name);
    if (!function || !function->isDeclaration())
      return;
    for (User *user : make_early_inc_range(function->users())) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call || call->getCalledOperand() != function)
        continue;
      IRBuilder<> builder(call);
      CallInst *other = replace(builder, *call);
      other->setDebugLoc(call->getDebugLoc());
      call->replaceAllUsesWith(other);
      call->eraseFromParent();
    }
    if (function->use_empty())
      function->eraseFromParent();
  };
  // What malloc promises on every 64-bit Linux.
  constexpr uint64_t leastAlignment = 16;
  replaceCalls("malloc", [&](IRBuilder<> &builder, CallInst &call) {
    return builder.CreateCall(
        declareAllocate(module),
        {builder.getInt64(leastAlignment), call.getArgOperand(0)});
  });
  replaceCalls("aligned_alloc", [&](IRBuilder<> &builder, CallInst &call) {
    return builder.CreateCall(declareAllocate(module),
                              {call.getArgOperand(0), call.getArgOperand(1)});
  });
  replaceCalls("free", [&](IRBuilder<> &builder, CallInst &call) {
    return builder.CreateCall(declareRelease(module), {call.getArgOperand(0)});
  });
}
