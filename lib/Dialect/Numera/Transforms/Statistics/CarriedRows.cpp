// SPDX-License-Identifier: MIT

#include "CarriedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace numera {

bool canCarryRows(Operation *op) {
  return isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op);
}

namespace {

/// A number of a row, which has a place in memory.
class Counter {
public:
  Counter(const CounterRow &row, size_t number, Value memory, int64_t place)
      : isSum(!row.description.isTensor || number < 2), isLeast(number == 2),
        memory(memory), place(place) {}

  /// What nothing was counted in has.
  void clear(OpBuilder &builder, Location loc) const {
    constexpr int64_t infinity = 0x7f800000; // the bits of an f32
    store(builder, loc,
          arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                       !isSum && isLeast ? infinity : 0));
  }

  /// Adds what a block counted when it was run once.
  void add(OpBuilder &builder, Location loc, Value term) const {
    Value before = load(builder, loc);
    Value sum;
    if (isSum)
      sum = arith::AddIOp::create(builder, loc, before, term);
    else if (isLeast)
      sum = arith::MinSIOp::create(builder, loc, before, term);
    else
      sum = arith::MaxSIOp::create(builder, loc, before, term);
    store(builder, loc, sum);
  }

  Value load(OpBuilder &builder, Location loc) const {
    return memref::LoadOp::create(builder, loc, memory, index(builder, loc));
  }

private:
  void store(OpBuilder &builder, Location loc, Value number) const {
    memref::StoreOp::create(builder, loc, number, memory, index(builder, loc));
  }
  Value index(OpBuilder &builder, Location loc) const {
    return arith::ConstantIndexOp::create(builder, loc, place);
  }

  bool isSum, isLeast;
  Value memory;
  int64_t place;
};

} // namespace

void carryRows(func::FuncOp function, MutableArrayRef<CounterRow> rows) {
  Block &outside = function.front();
  SmallVector<CounterRow *> inside;
  for (CounterRow &row : rows)
    if (row.numbers.front().getParentBlock() != &outside)
      inside.push_back(&row);
  if (inside.empty())
    return;
  Location loc = function.getLoc();
  OpBuilder start = OpBuilder::atBlockBegin(&outside);
  OpBuilder end(outside.getTerminator());
  auto count = int64_t(inside.size() * FlagCounts::numbers);
  Value memory = memref::AllocaOp::create(
      start, loc, MemRefType::get(count, start.getI64Type()));
  int64_t place = 0;
  for (CounterRow *row : inside) {
    OpBuilder builder(row->numbers.front().getParentBlock()->getTerminator());
    for (auto [i, number] : llvm::enumerate(row->numbers)) {
      Counter counter(*row, i, memory, place++);
      counter.clear(start, loc);
      counter.add(builder, loc, number);
      number = counter.load(end, loc);
    }
  }
}

} // namespace numera
