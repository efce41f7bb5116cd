// SPDX-License-Identifier: MIT
//
// A thread computes one element:
//
//   %i = block * 256 + thread
//   if %i < count:
//     %a, %b, … = the place of %i in the parallel loops
//     sum = result[…]
//     for the loops of the reduction, in written order:
//       sum = body(inputs[…], sum)
//     result[…] = sum
//
// If elements are contiguous (KernelWidth.cpp), a thread computes several, `w`:
//
//   if %i * w + w <= count: reads, computes, and writes w elements, 16 bytes at
//                           a time
//   else: those that there are, one by one
//
// A quire has a few hundred bits and is updated in place. It is kept in the
// thread's local memory and stored to the result at the end.

#include "KernelBody.h"
#include "KernelRuns.h"
#include "Lowering/KernelBytes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

/// The place of `loop` if it is one along which `map` goes alone.
static bool hasLoop(AffineMap map, unsigned loop) {
  return llvm::is_contained(map.getResults(),
                            getAffineDimExpr(loop, map.getContext()));
}

KernelLoops KernelLoops::of(OpBuilder &builder, linalg::GenericOp generic) {
  KernelLoops loops;
  auto op = cast<linalg::LinalgOp>(generic.getOperation());
  for (Range range : op.createLoopRanges(builder, generic.getLoc()))
    loops.extents.push_back(
        getValueOrCreateConstantIndexOp(builder, generic.getLoc(), range.size));
  auto isParallel = [&](unsigned loop) {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel &&
           llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
             return hasLoop(op.getMatchingIndexingMap(&init), loop);
           });
  };
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : result.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && isParallel(dim.getPosition()) &&
        !llvm::is_contained(loops.parallel, dim.getPosition()))
      loops.parallel.push_back(dim.getPosition());
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(loops.parallel, loop))
      loops.sequential.push_back(loop);
  loops.width = elementsOfThread(generic, loops);
  return loops;
}

bool isKernelConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op &&
         (op->hasTrait<OpTrait::ConstantLike>() || isa<QuireZeroOp>(op)) &&
         !isa<MemRefType>(value.getType());
}

namespace {

/// Where an element of the result is while a thread computes it.
enum class Place {
  Register, ///< a value that the loops carry
  Slot,     ///< the thread's own memory
  Memory,   ///< the result itself, since sequential loops go through it
};

class KernelBody {
public:
  KernelBody(linalg::GenericOp generic, const KernelLoops &loops,
             ValueRange operands, ArrayRef<Value> starts, gpu::GPUFuncOp kernel)
      : generic(generic), op(cast<linalg::LinalgOp>(generic.getOperation())),
        loops(loops), starts(starts), builder(kernel.getContext()),
        loc(generic.getLoc()), iterators(loops.extents.size()) {
    builder.setInsertionPointToEnd(&kernel.getBody().front());
    for (auto [operand, argument] :
         llvm::zip_equal(operands, kernel.getArguments()))
      outside.map(operand, argument);
  }

  void build();

private:
  Value inside(Value value);
  Value number();
  void findElement(Value index);
  void computeElement();
  SmallVector<Value> reduce(size_t depth, SmallVector<Value> sums);
  SmallVector<Value> step(ArrayRef<Value> sums);
  SmallVector<Value> cloneBody(IRMapping &map);
  Place placeOf(OpOperand &init);
  SmallVector<Value> indicesOf(OpOperand &operand);
  Value load(OpOperand &operand);
  void store(Value value, OpOperand &init);
  void buildRuns(Value index, Value count);
  void computeRun();
  SmallVector<Value> loadRun(OpOperand &operand);
  void storeRun(ArrayRef<Value> values, OpOperand &init);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  linalg::GenericOp generic;
  linalg::LinalgOp op;
  const KernelLoops &loops;
  ArrayRef<Value> starts;
  OpBuilder builder;
  Location loc;
  IRMapping outside;            ///< values around the generic, in the kernel
  SmallVector<Value> iterators; ///< of all loops
  SmallVector<Place> places;    ///< of the inits
  SmallVector<Value> slots;     ///< of the inits; null where none is needed
};

} // namespace

/// A value around the generic, as the kernel has it.
Value KernelBody::inside(Value value) {
  if (!outside.contains(value)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&builder.getBlock()
                                          ->getParent()
                                          ->getParentOfType<gpu::GPUFuncOp>()
                                          .getBody()
                                          .front());
    builder.clone(*value.getDefiningOp(), outside);
  }
  return outside.lookup(value);
}

/// The number of the thread among all.
Value KernelBody::number() {
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value first =
      arith::MulIOp::create(builder, loc, block, constant(threadsOfBlock));
  return arith::AddIOp::create(builder, loc, first, thread);
}

/// Takes `index` apart: neighbouring threads have neighbouring elements.
void KernelBody::findElement(Value index) {
  for (unsigned loop : llvm::reverse(loops.parallel)) {
    if (loop == loops.parallel.front()) {
      iterators[loop] = index;
      return;
    }
    Value extent = inside(loops.extents[loop]);
    iterators[loop] = arith::RemUIOp::create(builder, loc, index, extent);
    index = arith::DivUIOp::create(builder, loc, index, extent);
  }
}

Place KernelBody::placeOf(OpOperand &init) {
  AffineMap map = op.getMatchingIndexingMap(&init);
  if (llvm::any_of(loops.sequential,
                   [&](unsigned loop) { return map.isFunctionOfDim(loop); }))
    return Place::Memory;
  Type element = getElementTypeOrSelf(init.get().getType());
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() > 64
             ? Place::Slot
             : Place::Register;
}

SmallVector<Value> KernelBody::indicesOf(OpOperand &operand) {
  SmallVector<Value> indices;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  // Around sequential loops, nothing depends on them.
  SmallVector<Value> places = iterators;
  for (Value &place : places)
    if (!place)
      place = constant(0);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    indices.push_back(affine::AffineApplyOp::create(
        builder, loc, map.getSubMap({i}), places));
  return indices;
}

Value KernelBody::load(OpOperand &operand) {
  Value value = inside(operand.get());
  if (!isa<MemRefType>(value.getType()))
    return value;
  return memref::LoadOp::create(builder, loc, value, indicesOf(operand));
}

void KernelBody::store(Value value, OpOperand &init) {
  memref::StoreOp::create(builder, loc, value, inside(init.get()),
                          indicesOf(init));
}

/// The operations of the body on one set of elements; what it yields.
SmallVector<Value> KernelBody::cloneBody(IRMapping &map) {
  Block *body = generic.getBody();
  body->walk([&](linalg::IndexOp index) {
    map.map(index.getResult(), iterators[index.getDim()]);
  });
  for (Operation &each : *body)
    each.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (!generic.getRegion().isAncestor(operand.getParentRegion()))
          map.map(operand, inside(operand));
    });
  for (Operation &each : body->without_terminator())
    if (!isa<linalg::IndexOp>(each))
      builder.clone(each, map);
  SmallVector<Value> results;
  for (Value result : body->getTerminator()->getOperands())
    results.push_back(map.lookupOrDefault(result));
  return results;
}

/// One iteration of all loops, from the sums that the loops carry to those that
/// they go on with.
SmallVector<Value> KernelBody::step(ArrayRef<Value> sums) {
  IRMapping map;
  for (OpOperand *input : op.getDpsInputOperands())
    if (BlockArgument argument = op.getMatchingBlockArgument(input);
        !argument.use_empty())
      map.map(argument, load(*input));
  ArrayRef<Value> carried = sums;
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    BlockArgument argument = op.getMatchingBlockArgument(&init);
    if (places[i] == Place::Register) {
      map.map(argument, carried.consume_front());
    } else if (!argument.use_empty()) {
      map.map(argument, places[i] == Place::Memory
                            ? load(init)
                            : memref::LoadOp::create(builder, loc, slots[i]));
    }
  }
  SmallVector<Value> next;
  for (auto [i, value] : llvm::enumerate(cloneBody(map))) {
    if (places[i] == Place::Register)
      next.push_back(value);
    else if (places[i] == Place::Memory)
      store(value, *op.getDpsInitOperand(i));
    else
      memref::StoreOp::create(builder, loc, value, slots[i]);
  }
  return next;
}

SmallVector<Value> KernelBody::reduce(size_t depth, SmallVector<Value> sums) {
  if (depth == loops.sequential.size())
    return step(sums);
  unsigned loop = loops.sequential[depth];
  auto nest =
      scf::ForOp::create(builder, loc, constant(0), inside(loops.extents[loop]),
                         constant(1), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(nest.getBody());
  iterators[loop] = nest.getInductionVar();
  SmallVector<Value> next =
      reduce(depth + 1, SmallVector<Value>(nest.getRegionIterArgs()));
  iterators[loop] = {};
  if (!sums.empty())
    scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(nest.getResults());
}

void KernelBody::computeElement() {
  SmallVector<Value> sums;
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    bool isRead =
        op.payloadUsesValueFromOperand(&init) || !loops.sequential.empty();
    auto start = [&] { return starts[i] ? inside(starts[i]) : load(init); };
    if (places[i] == Place::Slot)
      memref::StoreOp::create(builder, loc, start(), slots[i]);
    if (places[i] == Place::Register)
      sums.push_back(isRead ? start() : Value());
  }
  sums = reduce(0, sums);
  ArrayRef<Value> carried = sums;
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (places[i] == Place::Slot)
      store(memref::LoadOp::create(builder, loc, slots[i]), init);
    if (places[i] == Place::Register)
      store(carried.consume_front(), init);
  }
}

//===----------------------------------------------------------------------===//
// Several elements a thread
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelBody::loadRun(OpOperand &operand) {
  Value value = inside(operand.get());
  if (!isa<MemRefType>(value.getType()) ||
      !op.getMatchingIndexingMap(&operand).isFunctionOfDim(
          loops.parallel.back()))
    return SmallVector<Value>(static_cast<size_t>(loops.width), load(operand));
  return numera::loadRun(builder, loc, value, indicesOf(operand), loops.width);
}

void KernelBody::storeRun(ArrayRef<Value> values, OpOperand &init) {
  numera::storeRun(builder, loc, values, inside(init.get()), indicesOf(init));
}

/// Everything is read before anything is written.
void KernelBody::computeRun() {
  SmallVector<SmallVector<Value>> operands, results;
  for (OpOperand &operand : generic->getOpOperands())
    operands.push_back(op.payloadUsesValueFromOperand(&operand)
                           ? loadRun(operand)
                           : SmallVector<Value>());
  if (isOnBytes(generic)) {
    for (auto [values, init] :
         llvm::zip_equal(cloneOnBytes(builder, generic, operands),
                         llvm::make_pointer_range(op.getDpsInitsMutable())))
      storeRun(values, *init);
    return;
  }
  unsigned last = loops.parallel.back();
  Value begin = iterators[last];
  for (int64_t i = 0; i < loops.width; ++i) {
    iterators[last] = arith::AddIOp::create(builder, loc, begin, constant(i));
    IRMapping map;
    for (auto [operand, values] :
         llvm::zip_equal(op->getOpOperands(), operands))
      if (!values.empty())
        map.map(op.getMatchingBlockArgument(&operand), values[size_t(i)]);
    results.push_back(cloneBody(map));
  }
  iterators[last] = begin;
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable()))
    storeRun(
        llvm::map_to_vector(results, [&](auto &each) { return each[number]; }),
        init);
}

/// `index` is the thread's among all; `count` are elements.
void KernelBody::buildRuns(Value index, Value count) {
  Value first =
      arith::MulIOp::create(builder, loc, index, constant(loops.width));
  Value end = arith::AddIOp::create(builder, loc, first, constant(loops.width));
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                        end, count);
  auto branch = scf::IfOp::create(builder, loc, isWhole, /*withElse=*/true);
  gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(branch.thenBlock());
  findElement(first);
  computeRun();
  builder.setInsertionPointToStart(branch.elseBlock());
  auto rest = scf::ForOp::create(builder, loc, first, count, constant(1));
  builder.setInsertionPointToStart(rest.getBody());
  findElement(rest.getInductionVar());
  computeElement();
}

void KernelBody::build() {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Place place = places.emplace_back(placeOf(init));
    Type element = getElementTypeOrSelf(init.get().getType());
    slots.push_back(place == Place::Slot
                        ? memref::AllocaOp::create(builder, loc,
                                                   MemRefType::get({}, element))
                              .getResult()
                        : Value());
  }
  Value index = number(), count = constant(1);
  for (unsigned loop : loops.parallel)
    count =
        arith::MulIOp::create(builder, loc, count, inside(loops.extents[loop]));
  if (loops.width > 1)
    return buildRuns(index, count);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       index, count);
  auto guarded = scf::IfOp::create(builder, loc, exists);
  gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(guarded.thenBlock());
  findElement(index);
  computeElement();
}

void buildKernelBody(linalg::GenericOp generic, const KernelLoops &loops,
                     ValueRange operands, ArrayRef<Value> starts,
                     gpu::GPUFuncOp kernel) {
  KernelBody(generic, loops, operands, starts, kernel).build();
}

} // namespace numera
