// SPDX-License-Identifier: MIT
//
// Operations on quires become calls of the runtime, which works on memory. In
// a loop that loads a quire, adds to it and stores it where it was, as
// reductions do, the sum stays in place:
//
//   %q = memref.load %sums[%i]            numera_…_quire_mac_16(&sums[i], a, b)
//   %r = numera.quire_mac %a, %b, %q
//   memref.store %r, %sums[%i]
//
// Any other quire is copied to a stack slot of its function.

#include "LowerTypes.h"
#include "Lowerings.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace numera {

namespace {

/// Steps of one sum, from a load of the quire to the store at the same place.
struct InPlaceSum {
  memref::LoadOp load;
  SmallVector<QuireOpInterface, 1> steps;
  memref::StoreOp store;
};

class QuireLowering {
public:
  QuireLowering(ModuleOp module, Lowerings &lowerings)
      : module(module), lowerings(lowerings), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult run();

private:
  LogicalResult lowerZero(QuireZeroOp zero);
  LogicalResult lowerInPlace(const InPlaceSum &sum);
  LogicalResult lowerStep(QuireOpInterface step);
  LogicalResult lowerRound(QuireRoundOp round);
  void finish(QuireRoundOp round, Value code);
  LogicalResult call(QuireOpInterface step, Value place);
  LogicalResult callLibrary(QuireOpInterface step, ArrayRef<Value> operands);

  Value createSlot(Operation *op, Type type);
  Value spill(Operation *op, Value quire);
  Value addressOf(memref::LoadOp load);
  /// A place from which `op` can read `quire`.
  Value readable(Operation *op, Value quire);

  ModuleOp module;
  Lowerings &lowerings;
  OpBuilder builder;
  LLVM::LLVMPointerType pointer;
};

} // namespace

//===----------------------------------------------------------------------===//
// What stays in place
//===----------------------------------------------------------------------===//

static bool isStep(Operation *op) {
  auto quireOp = dyn_cast<QuireOpInterface>(op);
  return quireOp && quireOp.isAccumulation();
}

/// True if memory may change at `op`; a step that is still to be lowered may
/// become a call that writes.
static bool mayWrite(Operation *op) {
  if (isStep(op))
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || op->getNumRegions() != 0)
    return !isMemoryEffectFree(op);
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [](const MemoryEffects::EffectInstance &each) {
    return !isa<MemoryEffects::Read>(each.getEffect());
  });
}

/// True if what `load` read is still in memory at `op`.
static bool isStillThere(memref::LoadOp load, Operation *op) {
  if (load->getBlock() != op->getBlock())
    return false;
  for (Operation *each = load->getNextNode(); each != op;
       each = each->getNextNode())
    if (mayWrite(each))
      return false;
  return true;
}

/// True if nothing between the first step and the store looks at memory.
static bool isUndisturbed(const InPlaceSum &sum) {
  for (Operation *each = sum.steps.front(); each != sum.store;
       each = each->getNextNode())
    if (!llvm::is_contained(sum.steps, each) && !isMemoryEffectFree(each))
      return false;
  return true;
}

static std::optional<InPlaceSum> matchInPlace(QuireOpInterface first) {
  auto load = first.getQuire().getDefiningOp<memref::LoadOp>();
  if (!load || !load->hasOneUse() || !isStillThere(load, first))
    return std::nullopt;
  InPlaceSum sum{load, {first}, {}};
  while (true) {
    Operation *last = sum.steps.back();
    if (!last->hasOneUse())
      return std::nullopt;
    Operation *user = *last->user_begin();
    if (user->getBlock() != last->getBlock())
      return std::nullopt;
    if (auto store = dyn_cast<memref::StoreOp>(user)) {
      sum.store = store;
      bool isSamePlace = store.getMemRef() == load.getMemRef() &&
                         store.getIndices() == load.getIndices();
      return isSamePlace && isUndisturbed(sum) ? std::optional<InPlaceSum>(sum)
                                               : std::nullopt;
    }
    if (!isStep(user) ||
        cast<QuireOpInterface>(user).getQuire() != last->getResult(0))
      return std::nullopt;
    sum.steps.push_back(cast<QuireOpInterface>(user));
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// A slot lives as long as its function: one in a loop would grow the stack.
Value QuireLowering::createSlot(Operation *op, Type type) {
  OpBuilder::InsertionGuard guard(builder);
  auto function = op->getParentOfType<FunctionOpInterface>();
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  Value one = arith::ConstantIntOp::create(builder, op->getLoc(),
                                           builder.getI64Type(), 1);
  return LLVM::AllocaOp::create(builder, op->getLoc(), pointer, type, one);
}

Value QuireLowering::spill(Operation *op, Value quire) {
  Value slot = createSlot(op, quire.getType());
  LLVM::StoreOp::create(builder, op->getLoc(), quire, slot);
  return slot;
}

Value QuireLowering::addressOf(memref::LoadOp load) {
  Location loc = load.getLoc();
  Value buffer = load.getMemRef();
  auto type = cast<MemRefType>(buffer.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  Value element = metadata.getOffset();
  for (auto [index, stride] :
       llvm::zip_equal(load.getIndices(), metadata.getStrides())) {
    Value moved = arith::MulIOp::create(builder, loc, index, stride);
    element = arith::AddIOp::create(builder, loc, element, moved);
  }
  Type i64 = builder.getI64Type();
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  base = arith::IndexCastOp::create(builder, loc, i64, base);
  base = LLVM::IntToPtrOp::create(builder, loc, pointer, base);
  element = arith::IndexCastOp::create(builder, loc, i64, element);
  return LLVM::GEPOp::create(builder, loc, pointer, type.getElementType(), base,
                             ArrayRef<LLVM::GEPArg>{element});
}

Value QuireLowering::readable(Operation *op, Value quire) {
  auto load = quire.getDefiningOp<memref::LoadOp>();
  if (!load || !isStillThere(load, op))
    return spill(op, quire);
  return addressOf(load);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The call of `step` on the quire at `place`.
LogicalResult QuireLowering::call(QuireOpInterface step, Value place) {
  Location loc = step.getLoc();
  SmallVector<Value> operands{place};
  if (auto merge = dyn_cast<QuireMergeOp>(step.getOperation())) {
    operands.push_back(readable(step, merge.getOther()));
  } else {
    bool isMac = isa<QuireMacOp>(step.getOperation()); // the quire comes last
    OperandRange numbers = step->getOperands();
    Format format = step.getQuireFormat();
    const OperationChange *change =
        isMac ? format.changeOf(OpKind::Mac) : nullptr;
    int32_t cut = change ? change->truncateOperands : 0;
    for (Value number : isMac ? numbers.drop_back() : numbers.drop_front()) {
      Value code = toBits(builder, loc, number);
      if (cut != 0) // what `mac` cuts off its factors, whatever adds them up
        code = lowerings.callEntry(builder, loc, format, "truncate", {code},
                                   {cut}, code.getType());
      operands.push_back(code);
    }
  }
  if (step.getQuireFormat().isOpaque())
    return callLibrary(step, operands);
  lowerings.callEntry(builder, loc, step.getQuireFormat(),
                      step->getName().stripDialect(), operands, {}, {});
  return success();
}

/// The same of an opaque format, whose library has a product and, for sums of
/// values, an addition.
LogicalResult QuireLowering::callLibrary(QuireOpInterface step,
                                         ArrayRef<Value> operands) {
  Operation *op = step;
  if (!isa<QuireMacOp, QuireAddOp>(op))
    return op->emitError("'")
           << op->getName() << "' is no part of the accumulator of format '"
           << step.getQuireFormat().getOpaqueName()
           << "', expected quire_mac, quire_add or quire_round";
  OpKind part =
      isa<QuireMacOp>(op) ? OpKind::AccumulatorMac : OpKind::AccumulatorAdd;
  return lowerings.callPart(builder, op, part, step.getQuireFormat(), operands);
}

/// What a library begins with, as a value.
LogicalResult QuireLowering::lowerZero(QuireZeroOp zero) {
  builder.setInsertionPoint(zero);
  Value slot = createSlot(zero, zero.getType());
  if (failed(lowerings.callPart(builder, zero, OpKind::AccumulatorInit,
                                zero.getFormatAttr().getFormat(), slot)))
    return failure();
  Value begun =
      LLVM::LoadOp::create(builder, zero.getLoc(), zero.getType(), slot);
  zero.replaceAllUsesWith(begun);
  zero->erase();
  return success();
}

LogicalResult QuireLowering::lowerInPlace(const InPlaceSum &sum) {
  builder.setInsertionPoint(sum.steps.front());
  Value place = addressOf(sum.load);
  for (QuireOpInterface step : sum.steps) {
    builder.setInsertionPoint(step);
    if (failed(call(step, place)))
      return failure();
  }
  sum.store->erase();
  for (QuireOpInterface step : llvm::reverse(sum.steps))
    step->erase();
  sum.load->erase();
  return success();
}

LogicalResult QuireLowering::lowerStep(QuireOpInterface step) {
  builder.setInsertionPoint(step);
  Value slot = spill(step, step.getQuire());
  if (failed(call(step, slot)))
    return failure();
  Type type = step->getResult(0).getType();
  step->getResult(0).replaceAllUsesWith(
      LLVM::LoadOp::create(builder, step.getLoc(), type, slot));
  step->erase();
  return success();
}

/// The code in place of the sum, whose last use this may have been.
void QuireLowering::finish(QuireRoundOp round, Value code) {
  auto load = round.getQuire().getDefiningOp<memref::LoadOp>();
  round.replaceAllUsesWith(code);
  round->erase();
  if (load && load->use_empty())
    load->erase();
}

/// The format by which the sum of `format` is read that is rounded to another
/// one. Of one that wraps, only the last bits would be read, which are those
/// that count where the other one wraps no later.
static Format readAs(const Format &format, const Format &rounded) {
  const FormatFamily &from = format.getFamily(), &to = rounded.getFamily();
  bool wraps = from.overflow(format) == Overflow::Wrap;
  bool isShorter =
      to.overflow(rounded) == Overflow::Wrap &&
      to.range(rounded).maxExponent <= from.range(format).maxExponent;
  return wraps && !isShorter ? from.withOverflow(format, Overflow::Saturate)
                             : format;
}

LogicalResult QuireLowering::lowerRound(QuireRoundOp round) {
  builder.setInsertionPoint(round);
  Location loc = round.getLoc();
  QuireOpInterface quireOp = round;
  Format format = quireOp.getQuireFormat(), rounded = round.getRoundedFormat();
  RoundingMode mode = round.getRoundingMode();
  Value place = readable(round, round.getQuire());
  if (format.isOpaque()) {
    FailureOr<Value> code = lowerings.callPart(
        builder, round, OpKind::AccumulatorRound, format, place);
    if (failed(code))
      return failure();
    finish(round, *code);
    return success();
  }
  Value random = round.getRandom();
  if (!random)
    random =
        arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  if (rounded != format)
    place = lowerings.callEntry(builder, loc, readAs(format, rounded),
                                "quire_unpack", {place}, {},
                                builder.getIntegerType(128));
  Value code = lowerings.callEntry(
      builder, loc, rounded, rounded == format ? "quire_round" : "pack",
      {place}, {mode.pack()}, builder.getIntegerType(rounded.storageBits()),
      random);
  finish(round, fromBits(builder, loc, code, round.getType()));
  return success();
}

LogicalResult QuireLowering::run() {
  SmallVector<QuireOpInterface> work;
  module.walk([&](QuireOpInterface op) { work.push_back(op); });
  for (QuireOpInterface op : work) {
    if (isa<QuireType>(numera::elementType(op.getQuire().getType())))
      return op.emitError("an operation on ")
             << op.getQuire().getType()
             << " cannot become calls; numera-lower-types comes first";
    if (isa<ShapedType>(op.getQuire().getType()))
      return op.emitError("an operation on ")
             << op.getQuire().getType()
             << " cannot become calls; turn it into linalg on scalars first "
                "(numera-lower does)";
  }
  SmallVector<QuireZeroOp> zeros;
  module.walk([&](QuireZeroOp zero) { zeros.push_back(zero); });
  for (QuireZeroOp zero : zeros) {
    if (isa<QuireType>(zero.getType()))
      return zero.emitError("an operation on ")
             << zero.getType()
             << " cannot become calls; numera-lower-types comes first";
    if (failed(lowerZero(zero)))
      return failure();
  }
  llvm::SmallPtrSet<Operation *, 8> done;
  for (QuireOpInterface op : work) {
    if (!done.insert(op).second)
      continue;
    LogicalResult lowered = success();
    if (auto round = dyn_cast<QuireRoundOp>(op.getOperation())) {
      lowered = lowerRound(round);
    } else if (auto sum = matchInPlace(op)) {
      done.insert(sum->steps.begin(), sum->steps.end());
      lowered = lowerInPlace(*sum);
    } else {
      lowered = lowerStep(op);
    }
    if (failed(lowered))
      return failure();
  }
  return success();
}

LogicalResult lowerQuires(ModuleOp module, Lowerings &lowerings) {
  return QuireLowering(module, lowerings).run();
}

} // namespace numera
