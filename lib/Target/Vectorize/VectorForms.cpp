// SPDX-License-Identifier: MIT
//
// Vector forms while programs are linked. What the program calls,
//
//   declare <16 x i16> @_ZGV_LLVM_N16vvu_add(<16 x i16>, <16 x i16>, i32)
//
// becomes sixteen calls of @add. So the linker finds the functions that are
// needed, and the program is correct for any @add. Specialize.cpp later
// replaces the definition by a better one.

#include "VectorForms.h"
#include "numera/Registry/Symbols/VectorForm.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace numera;

static constexpr StringLiteral formMark = "numera-vector-form";

/// The function of the form's scalar: as it is declared, or a declaration.
/// Null if the program has another function of that name.
static Function *findScalar(Function &form, StringRef symbol) {
  auto scalarOf = [](Type *type) { return type->getScalarType(); };
  FunctionType *type = form.getFunctionType();
  auto *scalar =
      FunctionType::get(scalarOf(type->getReturnType()),
                        map_to_vector(type->params(), scalarOf), false);
  auto *found = dyn_cast<Function>(
      form.getParent()->getOrInsertFunction(symbol, scalar).getCallee());
  return found && found->getFunctionType() == scalar ? found : nullptr;
}

CallInst *numera::callLane(IRBuilder<> &builder, Function &scalar,
                           Function &form, Value *lane) {
  SmallVector<Value *> arguments;
  for (Argument &argument : form.args())
    arguments.push_back(argument.getType()->isVectorTy()
                            ? builder.CreateExtractElement(&argument, lane)
                            : &argument);
  CallInst *call = builder.CreateCall(&scalar, arguments);
  call->setAttributes(
      scalar.getAttributes().removeFnAttributes(scalar.getContext()));
  return call;
}

void numera::callEachLane(Function &form, Function &scalar) {
  IRBuilder<> builder(BasicBlock::Create(form.getContext(), "", &form));
  auto *type = cast<FixedVectorType>(form.getReturnType());
  Value *result = PoisonValue::get(type);
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    Value *index = builder.getInt32(lane);
    result = builder.CreateInsertElement(
        result, callLane(builder, scalar, form, index), index);
  }
  builder.CreateRet(result);
}

Error numera::defineVectorForms(Module &module) {
  for (Function &form : make_early_inc_range(module)) {
    std::optional<VectorForm> shape = VectorForm::parse(form.getName());
    if (!shape || !form.isDeclaration() ||
        !isa<FixedVectorType>(form.getReturnType()))
      continue;
    Function *scalar = findScalar(form, shape->scalar);
    if (!scalar)
      return createStringError("a lowering calls '" + shape->scalar +
                               "', but the program has another function of "
                               "that name; rename one of them");
    callEachLane(form, *scalar);
    form.setLinkage(GlobalValue::InternalLinkage);
    form.addFnAttr(formMark);
  }
  return Error::success();
}

Function *numera::scalarOf(const Function &function) {
  if (!function.hasFnAttribute(formMark))
    return nullptr;
  for (const Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<CallInst>(&instruction))
      return call->getCalledFunction();
  return nullptr;
}
