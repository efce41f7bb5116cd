// SPDX-License-Identifier: MIT
//
// The status flags of an operation. Results strictly between the ends of a
// format's range have none (`extreme`). For other results the operation is
// repeated exactly on unpacked values, and the result's family determines the
// flags of rounding:
//
//   %near = numera_float_extreme_8(%outcome, …)
//   scf.if %near: numera_float_status_flags_128(numera_exact_add_128(x, y), x,
//   y, 0, …)
//
// On a CPU that is a function, and loops call its vector form, which leaves
// lanes that are near to the function (lib/Target/Vectorize/Specialize.h).

#include "Lowerings.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "numera/Dialect/Numera/IR/StatusFlags.h"
#include "numera/Numerics/Flags/StatusFlag.h"

using namespace mlir;

namespace numera {

namespace {

/// What a `status_flags` says about its operation.
struct Judged {
  OpKind operation;
  ElementKind result;
  RoundingMode rounding = Rounding::NearestEven;
  SmallVector<Scalar, 3> operands;
  Value random; ///< an i32
};

} // namespace

static ElementKind kindOf(Attribute attribute) {
  if (auto format = dyn_cast<FormatAttr>(attribute))
    return {format.getFormat(), {}};
  return {{}, cast<IntegerType>(cast<TypeAttr>(attribute).getValue())};
}

static RoundingMode modeOf(std::optional<Rounding> rounding,
                           std::optional<uint32_t> bits) {
  RoundingMode mode = rounding.value_or(Rounding::NearestEven);
  if (mode.rounding == Rounding::Stochastic)
    mode.randomBits = static_cast<int32_t>(bits.value_or(defaultRandomBits));
  return mode;
}

namespace {

/// The lowering of one operation.
class StatusFlagLowering {
public:
  StatusFlagLowering(Lowerings &lowerings, OpBuilder &builder, StatusFlagsOp op,
                     ValueRange values);

  Value flags();

private:
  Value constant(int32_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                        value);
  }
  Value unpacked(const Scalar &operand);
  Value exactly(OpKind operation, ArrayRef<Value> operands);
  Value judge(const ElementKind &result, RoundingMode mode, Value exact,
              ArrayRef<Value> operands, Value random);
  Value ofExactResult();
  Value ofStep();
  Value mayHaveAny();
  Value isExtreme(const Format &format, Value code);
  Value isZero(const ElementKind &kind, Value code);
  Value isZeroOfZero();
  Value product();

  Lowerings &lowerings;
  OpBuilder &builder;
  StatusFlagsOp op;
  Location loc;
  Judged judged;
  Value outcome;
};

} // namespace

StatusFlagLowering::StatusFlagLowering(Lowerings &lowerings, OpBuilder &builder,
                                       StatusFlagsOp op, ValueRange values)
    : lowerings(lowerings), builder(builder), op(op), loc(op.getLoc()) {
  judged.operation = *operationFromName(op.getOf());
  judged.result = kindOf(op.getFormat());
  judged.rounding = modeOf(op.getRounding(), op.getRandomBits());
  size_t count = op.getInputs().size();
  for (size_t i = 0; i < count; ++i) {
    Scalar operand{values[i], kindOf(op.getOperandFormats()[i])};
    int32_t cut = op.getTruncation() && i < op.getTruncation()->size()
                      ? (*op.getTruncation())[i]
                      : 0;
    if (cut != 0)
      operand.value = lowerings.truncate(builder, loc, operand, cut);
    judged.operands.push_back(operand);
  }
  outcome = values[count];
  judged.random = op.getRandom() ? values[count + 1] : constant(0);
}

/// An operand's value; an integer's is that of a fixed-point number.
Value StatusFlagLowering::unpacked(const Scalar &operand) {
  if (operand.kind.isFormat())
    return lowerings.unpack(builder, loc, operand);
  Type i64 = shapedLike(operand.value, builder.getI64Type());
  bool isSigned = !op.getIsUnsigned();
  Value wide = operand.value;
  if (wide.getType() != i64)
    wide = isSigned
               ? arith::ExtSIOp::create(builder, loc, i64, wide).getResult()
               : arith::ExtUIOp::create(builder, loc, i64, wide);
  return lowerings.call(builder, loc, "numera_fixed_unpack_64",
                        {wide, constant(isSigned ? 63 : 64), constant(0),
                         constant(isSigned),
                         constant(int32_t(Overflow::Saturate))},
                        builder.getIntegerType(128));
}

Value StatusFlagLowering::exactly(OpKind operation, ArrayRef<Value> operands) {
  SmallVector<Value> values(operands);
  values.push_back(constant(judged.rounding.pack()));
  return lowerings.call(builder, loc,
                        ("numera_exact_" + nameOf(operation) + "_128").str(),
                        values, builder.getIntegerType(128));
}

/// The status flags of rounding `exact` to `result`. To an integer it is
/// truncated, which is what is wanted of it: no underflow.
Value StatusFlagLowering::judge(const ElementKind &result, RoundingMode mode,
                                Value exact, ArrayRef<Value> operands,
                                Value random) {
  Type packed = builder.getIntegerType(128);
  SmallVector<Value> values = {exact};
  llvm::append_range(values, operands);
  while (values.size() < 4)
    values.push_back(arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(packed, 0)));
  Type i8 = builder.getI8Type();
  if (result.isFormat())
    return lowerings.callFamily(builder, loc, result.format, "status_flags_128",
                                values, {mode.pack()}, i8, random);
  bool isSigned = !op.getIsUnsigned();
  for (int32_t parameter : {int32_t(result.integer.getWidth()) - isSigned, 0,
                            int32_t(isSigned), int32_t(Overflow::Saturate),
                            RoundingMode(Rounding::TowardZero).pack(), 0})
    values.push_back(constant(parameter));
  Value found =
      lowerings.call(builder, loc, "numera_fixed_status_flags_128", values, i8);
  Value kept = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(i8, uint8_t(~flag::underflow)));
  if (auto shape = dyn_cast<VectorType>(found.getType()))
    kept = vector::BroadcastOp::create(builder, loc, shape, kept);
  return arith::AndIOp::create(builder, loc, found, kept);
}

Value StatusFlagLowering::ofExactResult() {
  SmallVector<Value, 3> values;
  for (const Scalar &operand : judged.operands)
    values.push_back(unpacked(operand));
  OpKind operation =
      judged.operation == OpKind::Mac ? OpKind::Fma : judged.operation;
  Value exact =
      operation == OpKind::Cast ? values.front() : exactly(operation, values);
  return judge(judged.result, judged.rounding, exact, values, judged.random);
}

/// Of a step that rounds its product: those of either rounding.
Value StatusFlagLowering::ofStep() {
  Value lhs = unpacked(judged.operands[0]), rhs = unpacked(judged.operands[1]),
        addend = unpacked(judged.operands[2]);
  Format format = op.getProduct()->getFormat();
  RoundingMode mode = modeOf(op.getProductRounding(), std::nullopt);
  Value exact = exactly(OpKind::Mul, {lhs, rhs});
  Value first = judge({format, {}}, mode, exact, {lhs, rhs}, constant(0));
  Value code = lowerings.callEntry(
      builder, loc, format, "pack", {exact}, {mode.pack()},
      builder.getIntegerType(format.storageBits()), constant(0));
  Value rounded = lowerings.callEntry(builder, loc, format, "unpack", {code},
                                      {}, builder.getIntegerType(128));
  Value second = judge(judged.result, judged.rounding,
                       exactly(OpKind::Add, {addend, rounded}),
                       {addend, rounded}, judged.random);
  return arith::OrIOp::create(builder, loc, first, second);
}

Value StatusFlagLowering::isExtreme(const Format &format, Value code) {
  return isNonZero(builder, loc,
                   lowerings.callEntry(builder, loc, format, "extreme",
                                       {toBits(builder, loc, code)}, {},
                                       builder.getI8Type()));
}

/// i1; null if zeros have other codes than 0 and, negative, the sign alone.
Value StatusFlagLowering::isZero(const ElementKind &kind, Value code) {
  Value bits = toBits(builder, loc, code);
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(bits.getType(), value));
  };
  unsigned storage = bits.getType().getIntOrFloatBitWidth();
  if (kind.isFormat()) {
    const Format &format = kind.format;
    const FormatFamily &family = format.getFamily();
    unsigned sign = format.width() - 1;
    bool isNegative = family.range(format).hasNegativeZero;
    if (!family.decode(format, 0).isZero() ||
        (isNegative && !family.decode(format, uint64_t(1) << sign).isZero()))
      return {};
    if (isNegative) {
      APInt magnitude = ~APInt::getOneBitSet(storage, sign);
      bits = arith::AndIOp::create(builder, loc, bits, constant(magnitude));
    }
  }
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits,
                               constant(APInt(storage, 0)));
}

/// i1: true of a zero that is one because an operand is, which no rounding
/// made. Null if nothing is known.
Value StatusFlagLowering::isZeroOfZero() {
  ArrayRef<Scalar> causes = judged.operands;
  switch (judged.operation) {
  case OpKind::Mul:
    break;
  case OpKind::Cast:
  case OpKind::Div:
    causes = causes.take_front(1);
    break;
  default:
    return {};
  }
  // In a format without NaN, 0 / 0 and infinity · 0 are 0, too.
  auto hasOthers = [](const Scalar &operand) {
    if (!operand.kind.isFormat())
      return false;
    const Format &format = operand.kind.format;
    FormatFamily::Range range = format.getFamily().range(format);
    return range.hasNaN || range.hasInfinity;
  };
  const Format &result = judged.result.format;
  if (!result.getFamily().range(result).hasNaN &&
      (judged.operation == OpKind::Div ||
       llvm::any_of(judged.operands, hasOthers)))
    return {};
  Value any;
  for (const Scalar &cause : causes) {
    Value zero = isZero(cause.kind, cause.value);
    if (!zero)
      return {};
    any =
        any ? arith::OrIOp::create(builder, loc, any, zero).getResult() : zero;
  }
  Value made = isZero(judged.result, outcome);
  return made ? arith::AndIOp::create(builder, loc, any, made).getResult()
              : Value();
}

/// The product of a step as it is rounded, where that is one entry's work.
Value StatusFlagLowering::product() {
  Format format = op.getProduct()->getFormat();
  SmallVector<Value> values;
  for (const Scalar &operand : ArrayRef(judged.operands).take_front(2)) {
    if (!haveSameCodes(operand.kind.format, format))
      return {};
    values.push_back(toBits(builder, loc, operand.value));
  }
  RoundingMode mode = modeOf(op.getProductRounding(), std::nullopt);
  return lowerings.callEntry(builder, loc, format, "mul", values, {mode.pack()},
                             builder.getIntegerType(format.storageBits()),
                             constant(0));
}

/// i1: false if the outcome shows that there are no flags; null if only the
/// exact result does.
Value StatusFlagLowering::mayHaveAny() {
  if (!judged.result.isFormat() || isa<VectorType>(outcome.getType()))
    return {};
  Value sum = isExtreme(judged.result.format, outcome);
  if (!op.getProduct()) {
    Value isQuiet = isZeroOfZero();
    if (!isQuiet)
      return sum;
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
    return arith::AndIOp::create(
        builder, loc, sum, arith::XOrIOp::create(builder, loc, isQuiet, one));
  }
  Value rounded = product();
  if (!rounded)
    return {};
  return arith::OrIOp::create(builder, loc, sum,
                              isExtreme(op.getProduct()->getFormat(), rounded));
}

Value StatusFlagLowering::flags() {
  auto compute = [&] { return op.getProduct() ? ofStep() : ofExactResult(); };
  Value mayHave = mayHaveAny();
  if (!mayHave)
    return compute();
  auto branch = scf::IfOp::create(builder, loc, builder.getI8Type(), mayHave,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, compute());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc,
                       arith::ConstantIntOp::create(
                           builder, loc, builder.getI8Type(), flag::none)
                           .getResult());
  return branch.getResult(0);
}

Value Lowerings::lower(OpBuilder &builder, StatusFlagsOp op,
                       ValueRange values) {
  bool isVector = llvm::any_of(values.getTypes(), llvm::IsaPred<VectorType>);
  if (target != Target::CPU || isVector)
    return StatusFlagLowering(*this, builder, op, values).flags();
  Location loc = op.getLoc();
  // A constant argument makes it one that is specialised.
  SmallVector<Value> arguments(values);
  arguments.push_back(
      arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0));
  auto type = builder.getFunctionType(ValueRange(arguments).getTypes(),
                                      builder.getI8Type());
  func::FuncOp &function = flagFunctions[{op->getAttrDictionary(), type}];
  if (!function) {
    std::string symbol =
        ("numera_flags_" + op.getOf() + "_" + llvm::Twine(flagFunctions.size()))
            .str();
    function = declare(symbol, type);
    Block *body = function.addEntryBlock();
    OpBuilder at = OpBuilder::atBlockBegin(body);
    ValueRange given = body->getArguments().drop_back();
    Value flags = StatusFlagLowering(*this, at, op, given).flags();
    func::ReturnOp::create(at, loc, flags);
  }
  return func::CallOp::create(builder, loc, function, arguments).getResult(0);
}

} // namespace numera
