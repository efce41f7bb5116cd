// SPDX-License-Identifier: MIT
//
// The candidates for the lowering of an operation, in order of precedence:
//   1. the function that the configuration registers for it;
//   2. the runtime's entry of the family, where all formats are one;
//   3. a composition: `mac` is a multiplication and an addition or a fused
//      one, a cast between families goes through a carrier that holds the
//      operand exactly, mixed operands are cast to the result's format where
//      that is exact, else computed on unpacked values.
// Each step is exact, or is the operation's one rounding. The changes of a
// format (Registry/Formats/Evaluation.h) come first: operands are truncated in
// their own formats. An operation on vectors becomes the same steps on vectors.

#include "Lowerings.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace numera {

Type storageType(MLIRContext *context, const ElementKind &kind) {
  if (!kind.isFormat())
    return kind.integer;
  if (unsigned machine = kind.format.getFamily().machineWidth(kind.format))
    return machine == 32 ? Type(Float32Type::get(context))
                         : Type(Float64Type::get(context));
  return IntegerType::get(context, kind.format.storageBits());
}

Type shapedLike(Value value, Type element) {
  auto shape = dyn_cast<VectorType>(value.getType());
  return shape ? shape.clone(element) : element;
}

/// A machine number as the integer of its bits; anything else as it is.
Value toBits(OpBuilder &builder, Location loc, Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value));
  if (!type)
    return value;
  return arith::BitcastOp::create(
      builder, loc, shapedLike(value, builder.getIntegerType(type.getWidth())),
      value);
}

Value fromBits(OpBuilder &builder, Location loc, Value value, Type element) {
  if (getElementTypeOrSelf(value) == element)
    return value;
  return arith::BitcastOp::create(builder, loc, shapedLike(value, element),
                                  value);
}

Value isNonZero(OpBuilder &builder, Location loc, Value value) {
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                               zero);
}

unsigned machineWidth(const ElementKind &kind) {
  return kind.isFormat() ? kind.format.getFamily().machineWidth(kind.format)
                         : 0;
}
bool hasArithmetic(const ElementKind &kind) {
  return kind.isFormat() && kind.format.getFamily().hasArithmetic();
}

/// Wide formats are the CPU's.
static LogicalResult checkWidth(Operation *op, const ElementKind &kind,
                                Target target) {
  if (target != Target::NVPTX || !kind.isFormat() || !kind.format.isWide())
    return success();
  return op->emitError("format '")
         << kind.format.getOpaqueName() << "' has " << kind.format.width()
         << " bits, and programs for a GPU have formats of at most 64; choose "
            "target cpu";
}

Value Lowerings::lower(OpBuilder &builder, FormatOpInterface op,
                       ValueRange values) {
  unsigned count = op.getFormatOperandCount();
  SmallVector<Scalar, 3> operands;
  for (auto [i, value] : llvm::enumerate(values.take_front(count))) {
    ElementKind kind = op.getOperandElement(i);
    // Codes of a machine format are the bits of its numbers.
    if (machineWidth(kind) != 0)
      value = fromBits(builder, op.getLoc(), value,
                       storageType(builder.getContext(), kind));
    operands.push_back({value, kind});
  }
  if (failed(checkWidth(op, op.getResultElement(), target)) ||
      llvm::any_of(operands, [&](const Scalar &operand) {
        return failed(checkWidth(op, operand.kind, target));
      }))
    return {};
  Value random = values.size() > count ? values[count] : Value();
  Request request{op, op.getFormatOperation(), op.getResultElement(),
                  op.getRules(), random};
  return dispatch(builder, request, operands);
}

Lowerings::Request Lowerings::exactCast(FormatOpInterface op,
                                        const ElementKind &result) {
  OperationRules rules;
  rules.result = rules.encoding = result.format;
  return {op, OpKind::Cast, result, rules};
}

/// An operand whose last bits are cut off.
Value Lowerings::truncate(OpBuilder &builder, Location loc,
                          const Scalar &operand, int32_t count) {
  const Format &format = operand.kind.format;
  Value code = callEntry(builder, loc, format, "truncate",
                         {toBits(builder, loc, operand.value)}, {count},
                         builder.getIntegerType(format.storageBits()));
  return fromBits(builder, loc, code, getElementTypeOrSelf(operand.value));
}

/// The operation on such operands.
Value Lowerings::truncated(OpBuilder &builder, const Request &request,
                           ArrayRef<Scalar> operands) {
  SmallVector<Scalar, 3> cut(operands);
  for (auto [operand, count] : llvm::zip(cut, request.rules.truncation)) {
    if (count == 0)
      continue;
    if (!hasArithmetic(operand.kind))
      return missing(request, operands);
    operand.value = truncate(builder, request.op.getLoc(), operand, count);
  }
  Request rest = request;
  rest.rules.truncation.clear();
  return dispatch(builder, rest, cut);
}

Value Lowerings::dispatch(OpBuilder &builder, const Request &request,
                          ArrayRef<Scalar> operands) {
  if (request.operation != OpKind::Mac && !request.rules.truncation.empty())
    return truncated(builder, request, operands);
  if (Value value = registered(builder, request, operands))
    return value;
  if (request.operation == OpKind::Cast)
    return cast(builder, request, operands[0]);
  if (auto step = dyn_cast<MacOp>(request.op.getOperation());
      step && request.operation == OpKind::Mac)
    return mac(builder, request, step, operands);
  bool same = llvm::all_of(operands, [&](const Scalar &operand) {
    return operand.kind == request.result ||
           (hasArithmetic(operand.kind) && hasArithmetic(request.result) &&
            haveSameCodes(operand.kind.format, request.result.format));
  });
  if (!same)
    return mixed(builder, request, operands);
  if (Value value = machineStep(builder, request, operands))
    return value;
  if (hasArithmetic(request.result))
    return uniform(builder, request, operands);
  return opaque(builder, request, operands);
}

/// A step of a contraction in f32 or f64: the machine's instruction, whose NaN
/// stays as it is until the contraction ends (numera.mac).
Value Lowerings::machineStep(OpBuilder &builder, const Request &request,
                             ArrayRef<Scalar> operands) {
  if (!isa<MacOp>(request.op.getOperation()) ||
      machineWidth(request.result) == 0 ||
      request.rules.encoding != request.result.format ||
      request.rules.rounding != Rounding::NearestEven)
    return {};
  Location loc = request.op.getLoc();
  // A factor may be a code of the same format with other rounding.
  SmallVector<Value, 3> numbers;
  for (const Scalar &operand : operands)
    numbers.push_back(
        fromBits(builder, loc, operand.value,
                 storageType(builder.getContext(), request.result)));
  switch (request.operation) {
  case OpKind::Fma:
    return math::FmaOp::create(builder, loc, numbers[0], numbers[1],
                               numbers[2]);
  case OpKind::Mul:
    return arith::MulFOp::create(builder, loc, numbers[0], numbers[1]);
  case OpKind::Add:
    return arith::AddFOp::create(builder, loc, numbers[0], numbers[1]);
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Entries of the runtime
//===----------------------------------------------------------------------===//

Value Lowerings::uniform(OpBuilder &builder, const Request &request,
                         ArrayRef<Scalar> operands) {
  Location loc = request.op.getLoc();
  const Format &format = request.rules.encoding;
  SmallVector<Value> values;
  for (const Scalar &operand : operands)
    values.push_back(toBits(builder, loc, operand.value));
  SmallVector<int32_t> trailing;
  Value random;
  bool givesTruth = isTest(request.operation);
  if (auto cmp = dyn_cast<CmpOp>(request.op.getOperation()))
    trailing = {relationsOf(cmp.getPredicate())};
  if (isRounded(request.operation)) {
    trailing = {request.rules.rounding.pack()};
    random = randomBits(builder, request);
  }
  Type storage = builder.getIntegerType(format.storageBits());
  Value result =
      callEntry(builder, loc, format, nameOf(request.operation), values,
                trailing, givesTruth ? builder.getI8Type() : storage, random);
  if (givesTruth)
    return isNonZero(builder, loc, result);
  return fromBits(builder, loc, result,
                  storageType(builder.getContext(), request.result));
}

//===----------------------------------------------------------------------===//
// Compositions
//===----------------------------------------------------------------------===//

Value Lowerings::unpack(OpBuilder &builder, Location loc,
                        const Scalar &operand) {
  return callEntry(builder, loc, operand.kind.format, "unpack",
                   {toBits(builder, loc, operand.value)}, {},
                   builder.getIntegerType(128));
}

Value Lowerings::pack(OpBuilder &builder, const Request &request, Value value) {
  Location loc = request.op.getLoc();
  const OperationRules &rules = request.rules;
  Value code = callEntry(builder, loc, rules.encoding, "pack", {value},
                         {rules.rounding.pack()},
                         builder.getIntegerType(rules.result.storageBits()),
                         randomBits(builder, request));
  return fromBits(builder, loc, code,
                  storageType(builder.getContext(), {rules.result, {}}));
}

/// What an entry that rounds takes last; 0 where nothing is drawn.
Value Lowerings::randomBits(OpBuilder &builder, const Request &request) {
  if (request.rules.rounding == Rounding::Stochastic)
    return request.random;
  return arith::ConstantIntOp::create(builder, request.op.getLoc(),
                                      builder.getI32Type(), 0);
}

/// An integer as the i64 that the runtime's conversions take.
static Value widen(OpBuilder &builder, Location loc, Value value,
                   bool isUnsigned) {
  Type i64 = shapedLike(value, builder.getI64Type());
  if (value.getType() == i64)
    return value;
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, loc, i64, value);
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

Value Lowerings::cast(OpBuilder &builder, const Request &request,
                      const Scalar &operand) {
  Location loc = request.op.getLoc();
  const ElementKind &from = operand.kind, &to = request.result;
  auto op = dyn_cast<CastOp>(request.op.getOperation());
  bool isUnsigned = op && op.getIsUnsigned();
  const OperationRules &rules = request.rules;
  if ((from.isFormat() && !hasArithmetic(from)) ||
      (to.isFormat() && !hasArithmetic(to)))
    return opaque(builder, request, operand);

  if (!to.isFormat()) { // to an integer
    auto width = static_cast<int32_t>(to.integer.getWidth());
    Value wide = callEntry(builder, loc, from.format, "to_integer",
                           {toBits(builder, loc, operand.value)},
                           {width, !isUnsigned}, builder.getI64Type());
    return width == 64 ? wide
                       : arith::TruncIOp::create(
                             builder, loc, shapedLike(wide, to.integer), wide)
                             .getResult();
  }
  Type storage = builder.getIntegerType(to.format.storageBits());
  Type result = storageType(builder.getContext(), to);
  auto encode = [&](Twine entry, Value value) {
    Value code = callEntry(builder, loc, rules.encoding, entry, {value},
                           {rules.rounding.pack()}, storage,
                           randomBits(builder, request));
    return fromBits(builder, loc, code, result);
  };
  if (!from.isFormat()) // from an integer
    return encode(isUnsigned ? "from_u64" : "from_i64",
                  widen(builder, loc, operand.value, isUnsigned));

  // A machine number is its own carrier; so is the result's machine type where
  // it holds the operand exactly. Else f64, else unpacked.
  if (unsigned machine = machineWidth(from))
    return encode(machine == 32 ? "encode_f32" : "encode_f64", operand.value);
  const FormatFamily &family = from.format.getFamily();
  unsigned target = rules.encoding == to.format ? machineWidth(to) : 0;
  Value bits = operand.value;
  bool isNear = rules.rounding == Rounding::NearestEven &&
                family.approximatesInF32(from.format);
  if (target == 32 && (family.embedsInF32(from.format) || isNear))
    return callEntry(builder, loc, from.format, "decode_f32", {bits}, {},
                     builder.getF32Type());
  if (target == 64 && family.embedsInF64(from.format))
    return callEntry(builder, loc, from.format, "decode_f64", {bits}, {},
                     builder.getF64Type());
  if (family.embedsInF32(from.format))
    return encode("encode_f32",
                  callEntry(builder, loc, from.format, "decode_f32", {bits}, {},
                            builder.getF32Type()));
  if (family.embedsInF64(from.format))
    return encode("encode_f64",
                  callEntry(builder, loc, from.format, "decode_f64", {bits}, {},
                            builder.getF64Type()));
  // What families compute in f64 (LnsFormat::decodeFast), else the same.
  if (target == 32 && rules.rounding == Rounding::NearestEven)
    return callEntry(builder, loc, from.format, "decode_f32", {bits}, {},
                     builder.getF32Type());
  return pack(builder, request, unpack(builder, loc, operand));
}

Value Lowerings::mac(OpBuilder &builder, const Request &request, MacOp op,
                     ArrayRef<Scalar> operands) {
  FormatOpInterface interface = op;
  if (op.getTensorcore() && target == Target::CPU) {
    op.emitError("accumulate 'tensorcore' needs the matrix instructions of a "
                 "GPU, found target 'cpu'; choose target nvptx, or accumulate "
                 "f32");
    return {};
  }
  Value random = request.random;
  ElementKind accumulator = interface.getResultElement();
  StepRules rules = stepRulesOf(op);
  if (!rules.product)
    return dispatch(builder,
                    {interface, OpKind::Fma, accumulator, rules.sum, random},
                    operands);
  ElementKind product{rules.product->result, {}};
  Value rounded =
      dispatch(builder, {interface, OpKind::Mul, product, *rules.product},
               operands.take_front(2));
  if (!rounded)
    return {};
  return dispatch(builder,
                  {interface, OpKind::Add, accumulator, rules.sum, random},
                  {operands[2], {rounded, product}});
}

Value Lowerings::mixed(OpBuilder &builder, const Request &request,
                       ArrayRef<Scalar> operands) {
  Location loc = request.op.getLoc();
  // Operands that the result's format holds exactly are cast to it. What an
  // opaque format's values are, only its library knows: the cast to f32 or f64
  // that it registers is its meaning.
  Request widening = exactCast(request.op, request.result);
  auto exact = [&](const Scalar &operand) {
    if (operand.kind == request.result)
      return true;
    if (!operand.kind.isFormat() || !request.result.isFormat())
      return false;
    if (!hasArithmetic(operand.kind))
      return machineWidth(request.result) != 0 && !operand.kind.format.isWide();
    return hasArithmetic(request.result) &&
           isExactCast(operand.kind.format, widening.rules);
  };
  if (llvm::all_of(operands, exact)) {
    SmallVector<Scalar, 3> widened;
    for (const Scalar &operand : operands) {
      Value value = operand.value;
      if (operand.kind != request.result)
        value = dispatch(builder, widening, operand);
      if (!value)
        return {};
      widened.push_back({value, request.result});
    }
    return dispatch(builder, request, widened);
  }
  bool known = hasArithmetic(request.result) &&
               llvm::all_of(operands, [](const Scalar &operand) {
                 return hasArithmetic(operand.kind);
               });
  if (!known)
    return opaque(builder, request, operands);
  SmallVector<Value> values;
  for (const Scalar &operand : operands)
    values.push_back(unpack(builder, loc, operand));
  values.push_back(arith::ConstantIntOp::create(
      builder, loc, builder.getI32Type(), request.rules.rounding.pack()));
  std::string symbol =
      ("numera_exact_" + nameOf(request.operation) + "_128").str();
  Value value = call(builder, loc, symbol, values, builder.getIntegerType(128));
  return pack(builder, request, value);
}

} // namespace numera
