// SPDX-License-Identifier: MIT
//
// Values between operations stay in a carrier: f32 or f64, if it holds every
// value of their format. The family decides which operations may run there
// (Numerics/Carrier/DoubleRounding.h); for an opaque format the configuration
// does (OpaqueCarriers.h). Only connected operations gain: a single operation
// between a load and a store stays on codes, and so does a group that only
// selects among codes.

#include "CarrierArithmetic.h"
#include "DecodeConstants.h"
#include "OpaqueCarriers.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Iterators.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "numera/Registry/Lowerings/Derivation.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAPROMOTETOCARRIER
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// Codes of scalars and vectors; operations on tensors stand in linalg bodies.
static bool isCode(Value value) {
  return !isa<TensorType>(value.getType()) &&
         isa<IntegerType>(numera::elementType(value.getType()));
}
static bool isMachineNumber(Value value) {
  return !isa<TensorType>(value.getType()) &&
         isa<Float32Type, Float64Type>(numera::elementType(value.getType()));
}

static bool hasCarrier(const Format &format, unsigned width) {
  return format && format.getFamily().hasCarrier(format, width);
}
static bool rounds(const OperationRules &rules, unsigned width) {
  const FormatFamily &family = rules.encoding.getFamily();
  return family.roundsInCarrier(rules.encoding, width, rules.rounding);
}

/// True if every operand has the codes of `format`.
static bool isUniform(FormatOpInterface op, const Format &format) {
  return llvm::all_of(llvm::seq(op.getFormatOperandCount()), [&](unsigned i) {
    Format operand = op.getOperandElement(i).format;
    return operand && haveSameCodes(operand, format);
  });
}

/// Of a cast to a machine number: the format is the machine's own, and nothing
/// but a rounding to nearest-even happens.
static bool isMachineCast(const OperationRules &rules) {
  const Format &result = rules.result;
  return result && result.getFamily().machineWidth(result) != 0 &&
         rules.encoding == result && rules.rounding == Rounding::NearestEven;
}

namespace {

/// Operations that may be carried together, and how.
class Group {
public:
  Group(OpBuilder &builder, Target target) : builder(builder), target(target) {}
  void add(Operation *op) { ops.insert(op); }
  /// Carries the operations if that gains something.
  void carry();

private:
  bool isWorthIt() const;
  bool allRunIn(unsigned candidate) const;
  bool goesThroughF32() const;
  Value carrierOf(Value code, const Format &format);
  Value rewrite(Operation *op, bool &isRounded);
  Value rewriteArithmetic(FormatOpInterface op);
  Value rewriteCast(CastOp op, bool &isRounded);
  void finish(Operation *op, Value carrier, bool isRounded);

  OpBuilder &builder;
  Target target;
  llvm::SetVector<Operation *> ops;
  unsigned width = 32;
  DenseMap<Value, Value> carriers; ///< of codes
  DenseMap<Value, Format> formats; ///< of codes that operations here define
};

} // namespace

//===----------------------------------------------------------------------===//
// What may be carried
//===----------------------------------------------------------------------===//

/// Arithmetic and casts: what ends in a rounding.
static bool isCore(Operation *op) {
  return isa<AddOp, SubOp, MulOp, DivOp, SqrtOp, FmaOp, CastOp>(op);
}

static bool castRunsIn(CastOp op, unsigned width) {
  FormatOpInterface cast = op;
  OperationRules rules = cast.getRules();
  Format from = cast.getOperandElement(0).format;
  Format to = cast.getResultElement().format;
  bool fromMachine = isMachineNumber(op.getOperand());
  if (!from || !to || (fromMachine && isMachineNumber(op.getResult())))
    return false;
  if (isMachineNumber(op.getResult())) // exact, or one rounding of f64 to f32
    return hasCarrier(from, width) && isMachineCast(rules);
  if (!hasCarrier(to, width) || !rounds(rules, width))
    return false;
  if (!fromMachine)
    return hasCarrier(from, width);
  return numera::elementType(op.getOperand().getType())
             .getIntOrFloatBitWidth() <= width;
}

/// True if the operation can run in the carrier of that width.
static bool runsIn(Operation *op, unsigned width, Target target) {
  if (auto interface = dyn_cast<FormatOpInterface>(op);
      interface && opaqueFormatOf(interface))
    return runsInOpaqueCarrier(interface, width, target);
  if (auto cast = dyn_cast<CastOp>(op))
    return castRunsIn(cast, width);
  if (isa<arith::SelectOp>(op)) // of what its neighbours define
    return true;
  FormatOpInterface interface = cast<FormatOpInterface>(op);
  Format format = interface.getOperandElement(0).format;
  if (!hasCarrier(format, width))
    return false;
  if (!isCore(op))
    return true;
  OperationRules rules = interface.getRules();
  return format.getFamily().pathInCarrier(
             interface.getFormatOperation(), rules.encoding, width,
             rules.rounding) != EvaluationPath::None &&
         rounds(rules, width);
}

/// True if the operation is of a kind that a carrier knows, on codes of one
/// format, and nobody registers a function for it.
static bool isCandidate(Operation *op, Target target) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isCode(select.getResult());
  if (!isCore(op) && !isa<NegOp, AbsOp, MinOp, MaxOp, CmpOp, IsNaNOp>(op))
    return false;
  auto interface = cast<FormatOpInterface>(op);
  unsigned count = interface.getFormatOperandCount();
  for (Value operand : op->getOperands().take_front(count))
    if (!isCode(operand) && !(isa<CastOp>(op) && isMachineNumber(operand)))
      return false;
  bool isOpaque = static_cast<bool>(opaqueFormatOf(interface));
  if (!interface.getRules().truncation.empty() ||
      (!isOpaque && isOverridden(interface)))
    return false;
  if (!isa<CastOp>(op) &&
      !isUniform(interface, interface.getResultElement().format))
    return false;
  return runsIn(op, 32, target) || runsIn(op, 64, target);
}

/// A select chooses among canonical codes: those of operations in its group.
static bool choosesAmong(arith::SelectOp select,
                         const llvm::SetVector<Operation *> &ops) {
  auto isDefined = [&](Value value) {
    Operation *definition = value.getDefiningOp();
    return definition && ops.contains(definition);
  };
  return isDefined(select.getTrueValue()) && isDefined(select.getFalseValue());
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

bool Group::isWorthIt() const {
  return ops.size() > 1 && llvm::any_of(ops, isCore);
}

bool Group::allRunIn(unsigned candidate) const {
  return llvm::all_of(
      ops, [&](Operation *op) { return runsIn(op, candidate, target); });
}

/// Numbers of f32 that go through a format and are f32 again, no code of which
/// is seen: what f32 has not is rounded to it in any case.
bool Group::goesThroughF32() const {
  return llvm::all_of(ops, [&](Operation *op) {
    auto cast = dyn_cast<CastOp>(op);
    if (!cast)
      return false;
    FormatOpInterface interface = cast;
    Value operand = cast.getOperand(), result = cast.getResult();
    auto isF32 = [](Value value) {
      return numera::elementType(value.getType()).isF32();
    };
    auto approximates = [](const Format &format) {
      return format && format.getFamily().approximatesInF32(format);
    };
    if (isF32(result))
      return approximates(interface.getOperandElement(0).format) &&
             isMachineCast(interface.getRules());
    return isF32(operand) &&
           approximates(interface.getResultElement().format) &&
           interface.getRules().rounding == Rounding::NearestEven &&
           llvm::all_of(result.getUsers(),
                        [&](Operation *user) { return ops.contains(user); });
  });
}

/// What carries a code: what an operation here made of it, or what it decodes
/// to.
Value Group::carrierOf(Value code, const Format &format) {
  if (Value carrier = carriers.lookup(code))
    return carrier;
  Type type = carrierType(code.getType(), width);
  if (Value number = CarrierArithmetic::encodedAs(code, type, format))
    return number;
  return DecodeOp::create(builder, code.getLoc(), type, code,
                          FormatAttr::get(builder.getContext(), format));
}

Value Group::rewriteArithmetic(FormatOpInterface op) {
  OperationRules rules = op.getRules();
  Format format = op.getResultElement().format;
  SmallVector<Value, 3> operands;
  for (unsigned i = 0; i < op.getFormatOperandCount(); ++i)
    operands.push_back(carrierOf(op->getOperand(i), format));
  if (format.isOpaque() && isa<FmaOp>(op.getOperation()))
    return math::FmaOp::create(builder, op.getLoc(), operands[0], operands[1],
                               operands[2]);
  EvaluationPath path =
      format.isOpaque()
          ? EvaluationPath::Plain
          : format.getFamily().pathInCarrier(
                op.getFormatOperation(), rules.encoding, width, rules.rounding);
  CarrierArithmetic arithmetic(builder, op.getLoc());
  return arithmetic.operate(op.getFormatOperation(), path, rules.rounding,
                            operands);
}

Value Group::rewriteCast(CastOp op, bool &isRounded) {
  FormatOpInterface cast = op;
  Value operand = op.getOperand();
  Format from = cast.getOperandElement(0).format;
  CarrierArithmetic arithmetic(builder, op.getLoc());
  Value carrier = isMachineNumber(operand) ? operand : carrierOf(operand, from);
  // To a machine number, whose NaN is canonical.
  if (isMachineNumber(op.getResult())) {
    if (!arithmetic.hasCanonicalNaN(carrier))
      carrier =
          CastOp::create(builder, op.getLoc(), carrier.getType(), carrier);
    return arithmetic.convert(carrier, op.getType());
  }
  isRounded = true;
  return arithmetic.convert(carrier, carrierType(op.getType(), width));
}

/// The operation in the carrier; `isRounded` if its result is to be rounded.
Value Group::rewrite(Operation *op, bool &isRounded) {
  isRounded = false;
  Location loc = op->getLoc();
  CarrierArithmetic arithmetic(builder, loc);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return arith::SelectOp::create(builder, loc, select.getCondition(),
                                   carriers.lookup(select.getTrueValue()),
                                   carriers.lookup(select.getFalseValue()));
  if (auto cast = dyn_cast<CastOp>(op))
    return rewriteCast(cast, isRounded);
  auto interface = cast<FormatOpInterface>(op);
  if (isCore(op)) {
    isRounded = true;
    return rewriteArithmetic(interface);
  }
  Format format = interface.getOperandElement(0).format;
  Value x = carrierOf(op->getOperand(0), format);
  // What the codes of an opaque format are, only its library knows: it may have
  // no -x, and a NaN of its own.
  isRounded = format.isOpaque();
  if (isa<NegOp>(op))
    return arithmetic.negate(x, format);
  if (isa<AbsOp>(op))
    return arithmetic.absolute(x);
  if (isa<IsNaNOp>(op))
    return arithmetic.isNaN(x);
  Value y = carrierOf(op->getOperand(1), format);
  if (auto cmp = dyn_cast<CmpOp>(op))
    return arithmetic.compare(cmp.getPredicate(), x, y,
                              isTotallyOrdered(registryOf(op), format));
  return isa<MinOp>(op) ? arithmetic.minimum(x, y) : arithmetic.maximum(x, y);
}

/// Rounds the result where it goes on in the carrier, and encodes it where it
/// leaves.
void Group::finish(Operation *op, Value carrier, bool isRounded) {
  Value result = op->getResult(0);
  if (!isCode(result) || isa<CmpOp, IsNaNOp>(op)) {
    result.replaceAllUsesWith(carrier);
    return;
  }
  Format format;
  OperationRules rules;
  Value random;
  if (auto interface = dyn_cast<FormatOpInterface>(op)) {
    format = interface.getResultElement().format;
    rules = interface.getRules();
    random = interface.getRandomOperand();
  } else {
    format = formats.lookup(cast<arith::SelectOp>(op).getTrueValue());
  }
  auto goesOn = [&](Operation *user) { return ops.contains(user); };
  bool stays = llvm::any_of(result.getUsers(), goesOn);
  bool leaves = !llvm::all_of(result.getUsers(), goesOn);
  CarrierArithmetic arithmetic(builder, op->getLoc());
  if (isRounded && stays) {
    carrier = arithmetic.round(carrier, rules, random);
    isRounded = false;
  }
  carriers[result] = carrier;
  formats[result] = format;
  if (!leaves)
    return;
  Value code = isRounded ? arithmetic.encodeRounded(carrier, rules, random,
                                                    result.getType())
                         : arithmetic.encode(carrier, format, result.getType());
  result.replaceUsesWithIf(
      code, [&](OpOperand &use) { return !goesOn(use.getOwner()); });
}

void Group::carry() {
  ops.remove_if([&](Operation *op) {
    auto select = dyn_cast<arith::SelectOp>(op);
    return select && !choosesAmong(select, ops);
  });
  if (!isWorthIt() || !(allRunIn(32) || allRunIn(64)))
    return;
  width = allRunIn(32) || goesThroughF32() ? 32 : 64;
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    bool isRounded = false;
    Value carrier = rewrite(op, isRounded);
    finish(op, carrier, isRounded);
  }
  for (Operation *op : llvm::reverse(ops.getArrayRef()))
    op->erase();
}

//===----------------------------------------------------------------------===//
// NaNs of machine numbers
//===----------------------------------------------------------------------===//

/// Arithmetic within f32 or f64: one instruction, and a canonical NaN.
static bool isMachineArithmetic(Operation *op) {
  if (!isa<AddOp, SubOp, MulOp, DivOp>(op) ||
      !isMachineNumber(op->getResult(0)))
    return false;
  auto interface = cast<FormatOpInterface>(op);
  OperationRules rules = interface.getRules();
  return rules.truncation.empty() && isMachineCast(rules) &&
         !isOverridden(interface) &&
         llvm::all_equal({op->getOperand(0).getType(),
                          op->getOperand(1).getType(),
                          op->getResult(0).getType()});
}

/// True if to the operation all NaNs are one.
static bool takesAnyNaN(Operation *op) {
  if (auto round = dyn_cast<RoundToOp>(op))
    return !round.getFormat().getFormat().isOpaque();
  if (auto encode = dyn_cast<EncodeOp>(op))
    return !encode.getFormat().getFormat().isOpaque();
  return isMachineArithmetic(op);
}

/// A NaN need not be canonical where what follows makes it so.
static void leaveNaN(OpBuilder &builder, Operation *op) {
  if (op->use_empty() || !llvm::all_of(op->getUsers(), takesAnyNaN))
    return;
  builder.setInsertionPoint(op);
  Value result = CarrierArithmetic(builder, op->getLoc())
                     .operate(cast<FormatOpInterface>(op).getFormatOperation(),
                              EvaluationPath::Plain, Rounding::NearestEven,
                              SmallVector<Value>(op->getOperands()));
  op->replaceAllUsesWith(ValueRange(result));
  op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// True if a code goes directly from one to the other and means the same there.
static bool areNeighbours(Operation *from, Operation *to) {
  auto source = dyn_cast<FormatOpInterface>(from);
  auto target = dyn_cast<FormatOpInterface>(to);
  if (!isCode(from->getResult(0)) || isa<CmpOp, IsNaNOp>(from))
    return false;
  if (!source || !target) // a select, by its values
    return true;
  for (auto [i, operand] : llvm::enumerate(
           to->getOperands().take_front(target.getFormatOperandCount())))
    if (operand == from->getResult(0) &&
        target.getOperandElement(i).format == source.getResultElement().format)
      return true;
  return false;
}

namespace {
struct PromoteToCarrierPass
    : impl::NumeraPromoteToCarrierBase<PromoteToCarrierPass> {
  using NumeraPromoteToCarrierBase::NumeraPromoteToCarrierBase;
  void runOnOperation() override {
    FailureOr<Target> named = parseTarget(getOperation(), target);
    if (failed(named))
      return signalPassFailure();
    llvm::SetVector<Operation *> candidates;
    // What defines a value comes before what uses it.
    getOperation()->walk<WalkOrder::PreOrder, ForwardDominanceIterator<>>(
        [&](Operation *op) {
          if (isCandidate(op, *named))
            candidates.insert(op);
        });
    llvm::EquivalenceClasses<Operation *> classes;
    for (Operation *op : candidates) {
      classes.insert(op);
      for (Value operand : op->getOperands())
        if (Operation *from = operand.getDefiningOp();
            from && candidates.contains(from) && areNeighbours(from, op))
          classes.unionSets(from, op);
    }
    OpBuilder builder(&getContext());
    llvm::MapVector<Operation *, Group> groups;
    for (Operation *op : candidates)
      groups.try_emplace(classes.getLeaderValue(op), builder, *named)
          .first->second.add(op);
    for (auto &[leader, group] : groups)
      group.carry();
    decodeConstants(getOperation());
    // In order: what follows still is an operation of the dialect.
    SmallVector<Operation *> machine;
    getOperation()->walk([&](Operation *op) {
      if (isMachineArithmetic(op))
        machine.push_back(op);
    });
    for (Operation *op : machine)
      leaveNaN(builder, op);
  }
};
} // namespace
} // namespace numera
