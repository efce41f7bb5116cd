// SPDX-License-Identifier: MIT

#include "HalfConversions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;

static bool hasInstructions(const TargetMachine &machine) {
  const Triple &triple = machine.getTargetTriple();
  if (triple.isX86())
    return machine.getMCSubtargetInfo()->checkFeatures("+f16c");
  return triple.isAArch64() || triple.isNVPTX();
}

/// The body becomes a conversion to what the function returns.
static void replaceBody(Function &function) {
  function.deleteBody();
  IRBuilder<> builder(BasicBlock::Create(function.getContext(), "", &function));
  Value *value = function.getArg(0);
  if (value->getType()->isFloatTy())
    value =
        builder.CreateBitCast(builder.CreateFPTrunc(value, builder.getHalfTy()),
                              builder.getInt16Ty());
  else
    value =
        builder.CreateFPExt(builder.CreateBitCast(value, builder.getHalfTy()),
                            builder.getFloatTy());
  builder.CreateRet(value);
}

void numera::replaceHalfConversions(Module &module,
                                    const TargetMachine &machine) {
  for (StringRef name : {"numera.from_half", "numera.to_half"}) {
    Function *function = module.getFunction(name);
    if (!function || function->isDeclaration())
      continue;
    if (hasInstructions(machine))
      replaceBody(*function);
    function->setLinkage(GlobalValue::InternalLinkage);
    function->removeFnAttr(Attribute::NoInline);
  }
}
