// SPDX-License-Identifier: MIT

#include "WideCodes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace numera;

static bool isWide(const CNumber &number) { return number.isWideCode(); }

bool numera::hasWideCodes(const CSignature &signature) {
  return isWide(signature.result) || any_of(signature.operands, isWide);
}

//===----------------------------------------------------------------------===//
// Pieces of a code
//===----------------------------------------------------------------------===//

/// The scalars that a code is made of in registers, each with its first bit.
/// A scalar lies at a multiple of its size, as in a struct.
namespace {
struct Pieces {
  unsigned end = 0; ///< the first bit behind the last piece

  /// Takes a type of registers; false if it is none.
  bool add(Type *type) {
    if (auto *structure = dyn_cast<StructType>(type))
      return structure->getNumElements() != 0 &&
             all_of(structure->elements(),
                    [&](Type *each) { return add(each); });
    if (auto *array = dyn_cast<ArrayType>(type)) {
      for (uint64_t i = 0; i < array->getNumElements(); ++i)
        if (i == 4 || !add(array->getElementType()))
          return false;
      return array->getNumElements() != 0;
    }
    bool isScalar = type->isIntegerTy() || type->isFloatingPointTy() ||
                    isa<FixedVectorType>(type);
    unsigned bits = isScalar ? type->getPrimitiveSizeInBits() : 0;
    if (bits < 8)
      return false;
    place(bits);
    return true;
  }

  /// The first bit of the next scalar, which has `bits`.
  unsigned place(unsigned bits) {
    unsigned first = alignTo(end, PowerOf2Ceil(bits));
    end = first + bits;
    return first;
  }
};
} // namespace

/// True if `bits` are those of a C type for the code.
static bool fits(const CNumber &number, uint64_t bits) {
  return bits >= number.width && bits <= number.bits;
}

/// True if the bytes of a struct in memory are those of the code.
static bool fitsInMemory(const CNumber &number, Type *type,
                         const Function &function) {
  if (!type) // a pointer, which does not say how much lies there
    return isWide(number);
  const DataLayout &layout = function.getParent()->getDataLayout();
  return fits(number, 8 * layout.getTypeAllocSize(type).getFixedValue());
}

/// The number of parameters from `first` on that hold the code; 0: none do. One
/// that is not wide is in one.
static unsigned parametersOf(const CNumber &number, const Function &function,
                             unsigned first) {
  FunctionType *type = function.getFunctionType();
  if (first < type->getNumParams() && type->getParamType(first)->isPointerTy())
    return !function.hasParamAttribute(first, Attribute::StructRet) &&
           fitsInMemory(number, function.getParamByValType(first), function);
  Pieces pieces;
  for (unsigned i = first; i < type->getNumParams(); ++i)
    if (!pieces.add(type->getParamType(i)) || pieces.end > number.bits)
      return 0;
    else if (pieces.end >= number.width)
      return i + 1 - first;
    else if (!isWide(number))
      return 0;
  return 0;
}

/// True if the code is returned, or written to where the first parameter
/// points.
static bool isReturned(const CNumber &number, const Function &function) {
  Type *type = function.getReturnType();
  if (type->isVoidTy())
    return function.arg_size() != 0 &&
           function.getArg(0)->getType()->isPointerTy() &&
           !function.getArg(0)->hasByValAttr() &&
           // Who only reads there has the result elsewhere.
           !function.hasParamAttribute(0, Attribute::ReadOnly) &&
           !function.hasParamAttribute(0, Attribute::ReadNone) &&
           fitsInMemory(number, function.getParamStructRetType(0), function);
  Pieces pieces;
  return pieces.add(type) && fits(number, pieces.end);
}

bool numera::isServedInPieces(const CSignature &signature,
                              const Function &function) {
  const FunctionType &type = *function.getFunctionType();
  Type *result = type.getReturnType();
  unsigned next = 0;
  if (signature.result.isCode()) {
    if (!isReturned(signature.result, function))
      return false;
    next = result->isVoidTy();
  } else if (!signature.returns(*result)) {
    return false;
  }
  for (const CNumber &operand : signature.operands) {
    unsigned taken = operand.isCode()
                         ? parametersOf(operand, function, next)
                         : next < type.getNumParams() &&
                               operand.converts(*type.getParamType(next));
    if (taken == 0)
      return false;
    next += taken;
  }
  return next == type.getNumParams() && !type.isVarArg();
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

FunctionType *numera::wideType(const CSignature &signature, WideCodes codes,
                               LLVMContext &context) {
  bool usesPointers = codes == WideCodes::Pointers;
  auto isTooLarge = [](const CNumber &number) {
    return isWide(number) && number.bits != 128;
  };
  if (!usesPointers &&
      (isTooLarge(signature.result) || any_of(signature.operands, isTooLarge)))
    return nullptr;
  Type *pointer = PointerType::getUnqual(context);
  SmallVector<Type *> pieces =
      usesPointers ? SmallVector<Type *>{pointer}
      : codes == WideCodes::Float128
          ? SmallVector<Type *>{Type::getFP128Ty(context)}
      : codes == WideCodes::Doubles
          ? SmallVector<Type *>(2, Type::getDoubleTy(context))
          : SmallVector<Type *>(2, Type::getInt64Ty(context));
  SmallVector<Type *> parameters;
  Type *result = signature.result.type(context);
  if (isWide(signature.result) && usesPointers) {
    parameters.push_back(pointer);
    result = Type::getVoidTy(context);
  } else if (isWide(signature.result)) {
    result = pieces.size() == 1 ? pieces[0] : StructType::get(context, pieces);
  }
  for (const CNumber &operand : signature.operands)
    if (isWide(operand))
      append_range(parameters, pieces);
    else
      parameters.push_back(operand.type(context));
  return FunctionType::get(result, parameters, false);
}

AttributeList numera::wideExtensions(const CSignature &signature,
                                     WideCodes codes, LLVMContext &context) {
  bool usesPointers = codes == WideCodes::Pointers;
  unsigned pieces = usesPointers || codes == WideCodes::Float128 ? 1 : 2;
  unsigned next = usesPointers && isWide(signature.result);
  AttributeList attributes;
  for (const CNumber &operand : signature.operands) {
    if (!isWide(operand) && !operand.isFloat && operand.bits < 32)
      attributes = attributes.addParamAttribute(
          context, next, operand.isSigned ? Attribute::SExt : Attribute::ZExt);
    next += isWide(operand) ? pieces : 1;
  }
  return attributes;
}

//===----------------------------------------------------------------------===//
// Adapters
//===----------------------------------------------------------------------===//

namespace {
/// Builds the call of an adapter.
class CallOfPieces {
public:
  CallOfPieces(Function &adapter, Function &callee, const CSignature &signature)
      : adapter(adapter), callee(callee), signature(signature),
        builder(BasicBlock::Create(adapter.getContext(), "", &adapter)) {}

  void build() {
    Value *place = nullptr;
    bool isCode = signature.result.isCode();
    if (isCode && callee.getReturnType()->isVoidTy()) {
      place = allocate(signature.result);
      operands.push_back(place);
    }
    for (auto [argument, number] :
         zip_equal(make_pointer_range(adapter.args()), signature.operands))
      if (number.isCode())
        pass(argument, number);
      else
        operands.push_back(
            convertNumber(builder, argument, parameter(), number.isSigned));
    CallInst *call = builder.CreateCall(&callee, operands);
    call->setCallingConv(callee.getCallingConv());
    call->setAttributes(
        callee.getAttributes().removeFnAttributes(adapter.getContext()));
    Type *type = adapter.getReturnType();
    if (type->isVoidTy()) {
      builder.CreateRetVoid();
      return;
    }
    Value *result = call;
    if (place)
      result = builder.CreateAlignedLoad(type, place, mostAlign);
    else if (isCode)
      result = join(call, type);
    else if (signature.isTest)
      result =
          convertNumber(builder, builder.CreateIsNotNull(call), type, false);
    else
      result = convertNumber(builder, call, type, signature.result.isSigned);
    builder.CreateRet(result);
  }

private:
  /// As any C type of up to 256 bits has it.
  const Align mostAlign = Align(32);

  Type *parameter() const {
    return callee.getFunctionType()->getParamType(operands.size());
  }

  /// Memory for a code, all zero: a C type may have fewer bits than storage.
  Value *allocate(const CNumber &number) {
    Type *type = number.type(adapter.getContext());
    AllocaInst *place = builder.CreateAlloca(type);
    place->setAlignment(mostAlign);
    builder.CreateAlignedStore(Constant::getNullValue(type), place, mostAlign);
    return place;
  }

  void pass(Value *code, const CNumber &number) {
    if (parameter()->isPointerTy()) {
      Value *place = allocate(number);
      builder.CreateAlignedStore(code, place, mostAlign);
      operands.push_back(place);
      return;
    }
    Pieces pieces;
    while (pieces.end < number.width)
      operands.push_back(split(code, parameter(), pieces));
  }

  /// The part of a code that a value of this type is.
  Value *split(Value *code, Type *type, Pieces &pieces) {
    if (type->isAggregateType()) {
      Value *whole = PoisonValue::get(type);
      unsigned count = type->isStructTy() ? type->getStructNumElements()
                                          : type->getArrayNumElements();
      for (unsigned i = 0; i < count; ++i) {
        Type *part = GetElementPtrInst::getTypeAtIndex(type, i);
        whole = builder.CreateInsertValue(whole, split(code, part, pieces), i);
      }
      return whole;
    }
    unsigned bits = type->getPrimitiveSizeInBits();
    Value *part = builder.CreateLShr(code, pieces.place(bits));
    return builder.CreateBitCast(
        builder.CreateTrunc(part, builder.getIntNTy(bits)), type);
  }

  /// The code that a value of registers is.
  Value *join(Value *value, Type *code) {
    Pieces pieces;
    return join(value, code, pieces);
  }
  Value *join(Value *value, Type *code, Pieces &pieces) {
    Type *type = value->getType();
    if (type->isAggregateType()) {
      Value *whole = ConstantInt::get(code, 0);
      unsigned count = type->isStructTy() ? type->getStructNumElements()
                                          : type->getArrayNumElements();
      for (unsigned i = 0; i < count; ++i)
        whole = builder.CreateOr(
            whole, join(builder.CreateExtractValue(value, i), code, pieces));
      return whole;
    }
    unsigned bits = type->getPrimitiveSizeInBits();
    Value *part = builder.CreateBitCast(value, builder.getIntNTy(bits));
    return builder.CreateShl(builder.CreateZExtOrTrunc(part, code),
                             pieces.place(bits));
  }

  Function &adapter, &callee;
  const CSignature &signature;
  IRBuilder<> builder;
  SmallVector<Value *> operands;
};
} // namespace

void numera::defineAdapterOfPieces(Function &adapter, Function &callee,
                                   const CSignature &signature) {
  adapter.setLinkage(GlobalValue::InternalLinkage);
  adapter.addFnAttr(Attribute::AlwaysInline);
  CallOfPieces(adapter, callee, signature).build();
}
