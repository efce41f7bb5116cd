// SPDX-License-Identifier: MIT
//
// Calls of registered functions and of the runtime's entries, and the error if
// there is neither.

#include "Lowerings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "numera/Registry/Symbols/PackedLoad.h"
#include "numera/Registry/Symbols/VectorForm.h"

using namespace mlir;

namespace numera {

Lowering Lowerings::key(const Request &request,
                        ArrayRef<Scalar> operands) const {
  Lowering key;
  key.operation = request.operation;
  key.target = target;
  key.result = request.result.format;
  key.rounding = request.rules.rounding.rounding;
  key.randomBits = request.rules.rounding.randomBits;
  if (!request.result.isFormat())
    key.toInteger = request.result.integer.getWidth();
  for (const Scalar &operand : operands) {
    key.operands.push_back(operand.kind.format);
    if (!operand.kind.isFormat())
      key.fromInteger = operand.kind.integer.getWidth();
  }
  if (auto cmp = dyn_cast<CmpOp>(request.op.getOperation()))
    key.predicate = arith::stringifyCmpFPredicate(cmp.getPredicate()).str();
  if (auto cast = dyn_cast<CastOp>(request.op.getOperation()))
    key.integerIsSigned = !cast.getIsUnsigned();
  return key;
}

Value Lowerings::registered(OpBuilder &builder, const Request &request,
                            ArrayRef<Scalar> operands) {
  // A registered step knows no rounding of its product.
  auto step = dyn_cast<MacOp>(request.op.getOperation());
  if (request.operation == OpKind::Mac && step.getProduct())
    return {};
  // Nor does a registered function know another overflow rule than its
  // format's.
  if (request.rules.encoding != request.rules.result)
    return {};
  const Lowering *found = registry.findLowering(key(request, operands));
  if (!found)
    return {};
  Location loc = request.op.getLoc();
  SmallVector<Value> values;
  for (const Scalar &operand : operands)
    values.push_back(operand.value);
  if (request.random)
    values.push_back(request.random);
  bool givesTruth = isTest(request.operation);
  Type result = givesTruth ? builder.getI8Type()
                           : storageType(builder.getContext(), request.result);
  Value value = callRegistered(builder, loc, *found, values, result);
  if (givesTruth)
    return isNonZero(builder, loc, value);
  return request.result.isFormat()
             ? canonical(builder, loc, value, request.result.format)
             : value;
}

/// The canonical NaN in place of any other.
Value withCanonicalNaN(OpBuilder &builder, Location loc, Value x) {
  auto type = cast<FloatType>(getElementTypeOrSelf(x));
  TypedAttr number =
      builder.getFloatAttr(type, APFloat::getQNaN(type.getFloatSemantics()));
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    number = DenseElementsAttr::get(vector, number);
  Value nan = arith::ConstantOp::create(builder, loc, number);
  Value isNaN =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(builder, loc, isNaN, nan, x);
}

Value Lowerings::canonical(OpBuilder &builder, Location loc, Value value,
                           const Format &format) {
  Type result = getElementTypeOrSelf(value);
  if (isa<FloatType>(result))
    return withCanonicalNaN(builder, loc, value);
  unsigned width = format.width();
  if (!isa<IntegerType>(result) || width == result.getIntOrFloatBitWidth())
    return value;
  APInt mask = APInt::getLowBitsSet(result.getIntOrFloatBitWidth(), width);
  TypedAttr bits = builder.getIntegerAttr(result, mask);
  if (auto type = dyn_cast<VectorType>(value.getType()))
    bits = DenseElementsAttr::get(type, mask);
  return arith::AndIOp::create(builder, loc, value,
                               arith::ConstantOp::create(builder, loc, bits));
}

/// True if the library that the lowering names, or the only one, has codes as
/// signed integers.
static bool hasSignedCodes(const Registry &registry, const Lowering &lowering) {
  const Library *library = registry.libraries().size() == 1
                               ? registry.libraries().data()
                               : registry.findLibrary(lowering.library);
  return library && library->hasSignedCodes;
}

/// Has narrow numbers that are signed in C extended by their sign.
static void extendBySign(func::FuncOp function, const Lowering &lowering,
                         bool hasSignedCodes) {
  MLIRContext *context = function.getContext();
  StringAttr zeroExtended = StringAttr::get(context, "llvm.zeroext");
  StringAttr signExtended = StringAttr::get(context, "llvm.signext");
  bool takesSigned =
      lowering.fromInteger != 0 ? lowering.integerIsSigned : hasSignedCodes;
  bool givesSigned =
      lowering.toInteger != 0 ? lowering.integerIsSigned : hasSignedCodes;
  for (unsigned i = 0; takesSigned && i < function.getNumArguments(); ++i)
    if (function.removeArgAttr(i, zeroExtended))
      function.setArgAttr(i, signExtended, UnitAttr::get(context));
  bool givesTruth =
      lowering.operation == OpKind::Cmp || lowering.operation == OpKind::IsNaN;
  if (givesSigned && !givesTruth && function.getNumResults() != 0 &&
      function.removeResultAttr(0, zeroExtended))
    function.setResultAttr(0, signExtended, UnitAttr::get(context));
}

/// The name that the module calls it by. Where the model has that name for
/// something of its own, it is `library::symbol`, or `::symbol` where the
/// lowering names no library.
static std::string symbolIn(ModuleOp module, const Registry &registry,
                            const Lowering &lowering) {
  std::string symbol = registry.symbolOf(lowering);
  Operation *present = module.lookupSymbol(symbol);
  auto function = dyn_cast_or_null<func::FuncOp>(present);
  bool isFree = !present || (function && function.isExternal());
  return isFree ? symbol : lowering.library + "::" + lowering.symbol;
}

Value Lowerings::callRegistered(OpBuilder &builder, Location loc,
                                const Lowering &lowering,
                                ArrayRef<Value> values, Type result) {
  std::string symbol = symbolIn(module, registry, lowering);
  Value value = call(builder, loc, symbol, values, result);
  auto function = module.lookupSymbol<func::FuncOp>(symbol);
  if (!lowering.library.empty())
    function->setAttr("numera.library",
                      builder.getStringAttr(lowering.library));
  extendBySign(function, lowering, hasSignedCodes(registry, lowering));
  return value;
}

/// The declaration of a function on scalars.
func::FuncOp Lowerings::declare(StringRef symbol, FunctionType type) {
  if (auto function = module.lookupSymbol<func::FuncOp>(symbol))
    return function;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), symbol, type);
  function.setPrivate();
  // clang's callee takes the upper bits of a narrow integer to be zero.
  auto narrow = [](Type type) {
    return type.isInteger() && type.getIntOrFloatBitWidth() < 32;
  };
  StringAttr zeroExtended = builder.getStringAttr("llvm.zeroext");
  for (auto [i, argument] : llvm::enumerate(type.getInputs()))
    if (narrow(argument))
      function.setArgAttr(i, zeroExtended, builder.getUnitAttr());
  if (type.getNumResults() != 0 && narrow(type.getResult(0)))
    function.setResultAttr(0, zeroExtended, builder.getUnitAttr());
  return function;
}

/// A call on vectors is one of the function's vector form, which lib/Target
/// makes of the function: it is declared too.
Value Lowerings::call(OpBuilder &builder, Location loc, StringRef symbol,
                      ArrayRef<Value> operands, Type result) {
  VectorForm form{symbol.str(), 0, {}};
  SmallVector<Type> scalars;
  for (Value operand : operands) {
    auto vector = dyn_cast<VectorType>(operand.getType());
    if (vector)
      form.lanes = vector.getNumElements();
    form.isVector.push_back(vector != nullptr);
    scalars.push_back(getElementTypeOrSelf(operand));
  }
  func::FuncOp function =
      declare(symbol, builder.getFunctionType(
                          scalars, result ? TypeRange(result) : TypeRange()));
  if (form.lanes != 0) {
    Type results = VectorType::get(form.lanes, result);
    function = declare(
        form.symbol(),
        builder.getFunctionType(ValueRange(operands).getTypes(), results));
  }
  auto call = func::CallOp::create(builder, loc, function, operands);
  return result ? call.getResult(0) : Value();
}

Value Lowerings::callEntry(OpBuilder &builder, Location loc,
                           const Format &format, Twine op,
                           ArrayRef<Value> operands, ArrayRef<int32_t> trailing,
                           Type result, Value last) {
  return callFamily(builder, loc, format,
                    op + "_" + Twine(format.storageBits()), operands, trailing,
                    result, last);
}

Value Lowerings::callFamily(OpBuilder &builder, Location loc,
                            const Format &format, Twine op,
                            ArrayRef<Value> operands,
                            ArrayRef<int32_t> trailing, Type result,
                            Value last) {
  SmallVector<Value> values(operands);
  auto constant = [&](int32_t value) {
    values.push_back(arith::ConstantIntOp::create(builder, loc,
                                                  builder.getI32Type(), value));
  };
  llvm::for_each(format.getParameters(), constant);
  llvm::for_each(trailing, constant);
  if (last)
    values.push_back(last);
  std::string symbol = ("numera_" + format.getFamily().name() + "_" + op).str();
  return call(builder, loc, symbol, values, result);
}

Value Lowerings::lower(OpBuilder &builder, RandomOp op) {
  Location loc = op.getLoc();
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                        static_cast<int32_t>(value));
  };
  return call(builder, loc, "numera_random_32",
              {op.getSeed(), op.getStep(), constant(op.getId()), op.getSample(),
               op.getIndex(), constant(op.getBits())},
              builder.getI32Type());
}

/// Where the elements of a buffer without offset begin, an i64.
static Value addressOf(OpBuilder &builder, Location loc, Value buffer) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                    address);
}

Value Lowerings::lower(OpBuilder &builder, LoadPackedOp op) {
  Location loc = op.getLoc();
  Value index = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                           op.getIndex());
  return call(
      builder, loc,
      packedLoadSymbol(op.getWidth(), op.getType().getIntOrFloatBitWidth()),
      {addressOf(builder, loc, op.getBytes()), index}, op.getType());
}

void Lowerings::lower(OpBuilder &builder, RandomFillOp op) {
  Location loc = op.getLoc();
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                        static_cast<int32_t>(value));
  };
  Value address = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      addressOf(builder, loc, op.getBuffer()));
  call(builder, loc, "numera_random_fill_32",
       {address, op.getSeed(), op.getStep(), constant(op.getId()),
        op.getSample(), op.getIndex(), op.getCount(), constant(op.getBits())},
       {});
}

Value Lowerings::lowerCarrierOp(OpBuilder &builder, Operation *op,
                                ValueRange values) {
  Location loc = op->getLoc();
  Value operand = values[0];
  Type from = getElementTypeOrSelf(operand);
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  if (op->getAttrOfType<FormatAttr>("format").getFormat().isOpaque())
    return lowerOpaqueCarrierOp(builder, op, operand);
  auto carrier = [](Type type) { return type.isF64() ? "_f64" : "_f32"; };
  if (auto decode = dyn_cast<DecodeOp>(op))
    return callEntry(builder, loc, decode.getFormat().getFormat(),
                     Twine("decode") + carrier(result), operand, {}, result);
  Value random =
      values.size() > 1
          ? values[1]
          : arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  if (auto encode = dyn_cast<EncodeOp>(op)) {
    Format format = encode.getFormat().getFormat();
    if (encode.isExact())
      return callEntry(builder, loc, format,
                       Twine("encode_exact") + carrier(from), operand, {},
                       result);
    return callEntry(builder, loc, format, Twine("encode") + carrier(from),
                     operand, {encode.getRoundingMode().pack()}, result,
                     random);
  }
  auto round = cast<RoundToOp>(op);
  return callFamily(builder, loc, round.getFormat().getFormat(),
                    Twine("round") + carrier(result) +
                        (result.isF64() ? "_64" : "_32"),
                    operand, {round.getRoundingMode().pack()}, result, random);
}

std::string nameOf(const Registry &registry, const ElementKind &kind) {
  if (!kind.isFormat())
    return "i" + std::to_string(kind.integer.getWidth());
  if (kind.format.isOpaque())
    return kind.format.getOpaqueName().str();
  return registry.nameOrSpelling(kind.format);
}

Value Lowerings::missing(const Request &request, ArrayRef<Scalar> operands) {
  // An opaque format's arithmetic is its library's; a family's own operations
  // always exist.
  auto diagnostic = request.op.emitError("no lowering for '")
                    << nameOf(request.operation) << "'";
  if (request.operation == OpKind::Cast)
    diagnostic << " from '" << nameOf(registry, operands[0].kind) << "' to '"
               << nameOf(registry, request.result) << "'";
  else
    diagnostic << " in format '" << nameOf(registry, request.result) << "'";
  Lowering wanted = key(request, operands);
  if (request.rules.rounding.rounding != wanted.getOwnRoundingMode().rounding)
    diagnostic << " with rounding '"
               << numera::nameOf(request.rules.rounding.rounding) << "'";
  diagnostic << " on target '" << numera::nameOf(target)
             << "'; register one under 'lowerings:': "
             << registry.suggest(wanted);
  if (isa<MacOp>(request.op.getOperation()) && request.operation == OpKind::Fma)
    diagnostic << "; or accumulate in f32 or same";
  return {};
}

} // namespace numera
