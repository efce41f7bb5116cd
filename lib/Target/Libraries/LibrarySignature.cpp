// SPDX-License-Identifier: MIT

#include "LibrarySignature.h"
#include "WideCodes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace numera;

//===----------------------------------------------------------------------===//
// What is expected
//===----------------------------------------------------------------------===//

std::string CNumber::name() const {
  if (memory != Memory::None) {
    CNumber pointee = *this;
    pointee.memory = Memory::None;
    std::string type = bits == 0 ? "void" : pointee.name();
    return memory == Memory::Nothing   ? "void"
           : memory == Memory::Written ? type + " *"
                                       : "const " + type + " *";
  }
  if (isFloat)
    return bits == 32 ? "float" : "double";
  if (isWideCode())
    return "T" + utostr(width);
  return (isSigned ? "int" : "uint") + utostr(bits) + "_t";
}

Type *CNumber::type(LLVMContext &context) const {
  if (memory == Memory::Nothing)
    return Type::getVoidTy(context);
  if (memory != Memory::None)
    return PointerType::getUnqual(context);
  if (isFloat)
    return bits == 32 ? Type::getFloatTy(context) : Type::getDoubleTy(context);
  return Type::getIntNTy(context, bits);
}

namespace {

using Memory = CNumber::Memory;

CNumber memoryOf(Memory memory, CNumber number = {0}) {
  number.memory = memory;
  return number;
}

/// Prototypes in a library's types.
class Prototypes {
public:
  explicit Prototypes(bool hasSignedCodes) : hasSignedCodes(hasSignedCodes) {}

  CSignature of(const Lowering &lowering) const {
    CSignature signature;
    if (isProduct(lowering.operation))
      return productOf(lowering);
    if (isIdentity(lowering.operation)) {
      signature.result = numberOf(lowering.result);
      return signature;
    }
    if (lowering.operation == OpKind::RoundTo) {
      signature.result = numberOf(lowering.operands.front());
      signature.operands = {signature.result};
      return signature;
    }
    if (isPartOfAccumulator(lowering.operation))
      return partOf(lowering);
    return operationOf(lowering);
  }

private:
  CNumber numberOf(const Format &format) const {
    bool isFloat = format.getFamily().machineWidth(format) != 0;
    CNumber number{format.storageBits(), isFloat, hasSignedCodes && !isFloat};
    number.width = isFloat ? 0 : format.width();
    return number;
  }

  CSignature operationOf(const Lowering &lowering) const {
    auto typeOf = [&](const Format &format, unsigned integer) {
      return format ? numberOf(format)
                    : CNumber{integer, false, lowering.integerIsSigned, true};
    };
    CSignature signature;
    signature.isTest = lowering.operation == OpKind::Cmp ||
                       lowering.operation == OpKind::IsNaN;
    signature.result = signature.isTest
                           ? CNumber{8}
                           : typeOf(lowering.result, lowering.toInteger);
    for (const Format &operand : lowering.operands)
      signature.operands.push_back(typeOf(operand, lowering.fromInteger));
    if (lowering.getRoundingMode() == Rounding::Stochastic)
      signature.operands.push_back({32});
    return signature;
  }

  /// `void mac(void *, uint16_t, uint16_t)`, `uint16_t round(const void *)`.
  CSignature partOf(const Lowering &part) const {
    CNumber code = numberOf(part.result);
    bool rounds = part.operation == OpKind::AccumulatorRound;
    CSignature signature;
    signature.result = rounds ? code : memoryOf(Memory::Nothing);
    signature.operands = {memoryOf(rounds ? Memory::Read : Memory::Written)};
    signature.operands.resize(1 + operandCount(part.operation), code);
    return signature;
  }

  /// `void matmul(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m,
  /// int64_t n, int64_t k)`, `uint16_t dot(const uint16_t *, const uint16_t *,
  /// int64_t)`.
  CSignature productOf(const Lowering &product) const {
    CNumber result = numberOf(product.result);
    bool isDot = product.operation == OpKind::Dot;
    CSignature signature;
    signature.result = isDot ? result : memoryOf(Memory::Nothing);
    for (const Format &factor : product.operands)
      signature.operands.push_back(memoryOf(Memory::Read, numberOf(factor)));
    if (!isDot)
      signature.operands.push_back(memoryOf(Memory::Written, result));
    signature.operands.resize(isDot ? 3 : 6, CNumber{64, false, true});
    return signature;
  }

  bool hasSignedCodes;
};

} // namespace

CSignature CSignature::of(const Lowering &lowering, bool hasSignedCodes) {
  return Prototypes(hasSignedCodes).of(lowering);
}

CSignature CSignature::of(const Lowering &lowering, const Library &library) {
  CSignature signature = of(lowering, library.hasSignedCodes);
  if (!library.passesBits)
    return signature;
  signature.result.isFloat = false;
  for (CNumber &operand : signature.operands)
    operand.isFloat = false;
  return signature;
}

static std::string print(StringRef result, StringRef symbol,
                         ArrayRef<std::string> operands) {
  return (result + " " + symbol + "(" +
          (operands.empty() ? "void" : join(operands, ", ")) + ")")
      .str();
}

std::string CSignature::prototype(StringRef symbol) const {
  std::vector<std::string> names;
  for (const CNumber &operand : operands)
    names.push_back(operand.name());
  return print(result.name(), symbol, names);
}

/// By value, and for wide codes also by pointers.
std::string CSignature::expectation(StringRef symbol) const {
  std::string text = "expected '" + prototype(symbol) + "'";
  if (!hasWideCodes(*this))
    return text;
  std::vector<std::string> names;
  std::string types;
  auto name = [&](const CNumber &number, StringRef qualifier) {
    if (!number.isWideCode())
      return number.name();
    std::string what =
        number.name() + " is a type of " + utostr(number.width) + " bits";
    if (!StringRef(types).contains(what))
      types += (types.empty() ? "" : " and ") + what;
    return qualifier.str() + number.name() + " *";
  };
  bool isWritten = result.isWideCode();
  if (isWritten)
    names.push_back(name(result, ""));
  for (const CNumber &operand : operands)
    names.push_back(name(operand, "const "));
  return text + " or '" +
         print(isWritten ? "void" : result.name(), symbol, names) +
         "', where " + types;
}

FunctionType *CSignature::type(LLVMContext &context) const {
  SmallVector<Type *> types;
  for (const CNumber &operand : operands)
    types.push_back(operand.type(context));
  return FunctionType::get(result.type(context), types, false);
}

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

static std::string cNameOf(const Type &type) {
  if (type.isVoidTy())
    return "void";
  if (type.isPointerTy())
    return "void *";
  if (type.isFloatTy() || type.isDoubleTy())
    return type.isFloatTy() ? "float" : "double";
  if (type.is16bitFPTy())
    return type.isHalfTy() ? "_Float16" : "__bf16";
  if (type.isIntegerTy(1))
    return "bool";
  if (type.isIntegerTy() && isPowerOf2_32(type.getIntegerBitWidth()))
    return "uint" + utostr(type.getIntegerBitWidth()) + "_t";
  // In registers that is how structs are passed.
  if (type.isIntegerTy() || type.isVectorTy())
    return "struct of " + utostr(type.getPrimitiveSizeInBits() / 8) + " bytes";
  std::string text;
  raw_string_ostream(text) << type;
  return text;
}

std::string numera::prototypeOf(const Function &function) {
  std::vector<std::string> operands;
  for (const Argument &argument : function.args())
    operands.push_back(cNameOf(*argument.getType()));
  return print(cNameOf(*function.getReturnType()), function.getName(),
               operands);
}

bool CNumber::converts(const Type &type) const {
  if (memory != Memory::None)
    return memory == Memory::Nothing ? type.isVoidTy() : type.isPointerTy();
  if (isFloat)
    return type.isIntegerTy(bits) ||
           (bits == 32 ? type.isFloatTy() : type.isDoubleTy());
  bool isCode = type.isIntegerTy(bits) ||
                (type.is16bitFPTy() && bits == 16 && !isInteger);
  return isCode ||
         (isInteger && type.isIntegerTy() && type.getIntegerBitWidth() > bits &&
          type.getIntegerBitWidth() <= 64);
}

bool CSignature::returns(const Type &type) const {
  bool isTruth =
      isTest && type.isIntegerTy() && type.getIntegerBitWidth() <= 64;
  return isTruth || result.converts(type);
}

bool CSignature::isServedBy(const Function &definition) const {
  return (!hasWideCodes(*this) &&
          isServedPlainly(*definition.getFunctionType())) ||
         isServedInPieces(*this, definition);
}

bool CSignature::isServedPlainly(const FunctionType &type) const {
  return returns(*type.getReturnType()) && !type.isVarArg() &&
         type.getNumParams() == operands.size() &&
         all_of(zip_equal(operands, type.params()), [](const auto &pair) {
           return std::get<0>(pair).converts(*std::get<1>(pair));
         });
}

//===----------------------------------------------------------------------===//
// Adapters
//===----------------------------------------------------------------------===//

Value *numera::convertNumber(IRBuilderBase &builder, Value *value, Type *type,
                             bool isSigned) {
  if (value->getType() == type)
    return value;
  if (value->getType()->isIntegerTy() && type->isIntegerTy())
    return builder.CreateIntCast(value, type, isSigned);
  return builder.CreateBitCast(value, type);
}

void numera::defineAdapter(Function &adapter, Function &callee,
                           const CSignature &signature) {
  if (hasWideCodes(signature) ||
      !signature.isServedPlainly(*callee.getFunctionType()))
    return defineAdapterOfPieces(adapter, callee, signature);
  adapter.setLinkage(GlobalValue::InternalLinkage);
  adapter.addFnAttr(Attribute::AlwaysInline);
  IRBuilder<> builder(BasicBlock::Create(adapter.getContext(), "", &adapter));
  SmallVector<Value *> operands;
  for (auto [argument, type, number] :
       zip_equal(make_pointer_range(adapter.args()),
                 callee.getFunctionType()->params(), signature.operands))
    operands.push_back(convertNumber(builder, argument, type, number.isSigned));
  CallInst *call = builder.CreateCall(&callee, operands);
  AttributeList attributes = callee.getAttributes();
  call->setAttributes(attributes.removeFnAttributes(adapter.getContext()));
  Value *result = call;
  if (signature.isTest)
    result = builder.CreateIsNotNull(result);
  if (adapter.getReturnType()->isVoidTy()) {
    builder.CreateRetVoid();
    return;
  }
  builder.CreateRet(
      convertNumber(builder, result, adapter.getReturnType(),
                    !signature.isTest && signature.result.isSigned));
}
