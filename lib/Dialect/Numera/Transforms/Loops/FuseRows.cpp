// SPDX-License-Identifier: MIT
//
// Fuses consecutive operations on the same memory that have an outer loop over
// rows in common. They run together on a few rows at a time, which stay in the
// core's cache until the last operation has read them:
//
//   amax[i] = max over j of x[i, j]       for rows i:
//   scale[i] = f(amax[i])                   amax[i] = …, scale[i] = …
//   y[i, j] = g(x[i, j], scale[i])          y[i, j] = …
//
// Rows do not depend on each other, so every element is computed as before, in
// the same order. Buffers that only these operations use, amax and scale above,
// shrink to the size of the current rows and are allocated on the stack.

#include "Buffers/BufferUses.h"
#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAFUSEROWS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// What operations read and write at a time: it stays in a core's own cache,
/// and neighbouring rows are many enough to be fetched ahead. Less than twice
/// that stays there anyway.
constexpr int64_t bytesOfRows = 64 << 10, bytesWorthIt = 2 * bytesOfRows;

/// What a loop may keep on the stack, and all those of a function, in bytes.
constexpr int64_t bytesOnStack = 32 << 10, mostOnStack = 8 * bytesOnStack;

/// Bytes of a buffer; 0 if its size is not known or there are gaps in it.
int64_t bytesOf(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !type.getElementType().isIntOrIndexOrFloat())
    return 0;
  unsigned bits = type.getElementType().isIndex()
                      ? IndexType::kInternalStorageBitWidth
                      : type.getElementTypeBitWidth();
  return type.getNumElements() * int64_t(llvm::divideCeil(bits, 8));
}

/// The outermost loop of more than one iteration: its iterations are the rows.
unsigned rowLoopOf(linalg::LinalgOp op) {
  SmallVector<int64_t> counts = op.getStaticLoopRanges();
  return unsigned(llvm::find_if(counts, [](int64_t n) { return n != 1; }) -
                  counts.begin());
}

/// The dimension of an operand that goes along the loop over rows; -1 if none
/// does. Nothing if the loop is in it in another way.
std::optional<int64_t> rowsOf(AffineMap map, unsigned loop) {
  int64_t found = -1;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (found >= 0 || !isa<AffineDimExpr>(expr))
      return std::nullopt;
    found = int64_t(i);
  }
  return found;
}

/// The first dimension of more than one element, whose places lie one behind
/// the other in memory.
int64_t outermost(Value buffer) {
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  return llvm::find_if(shape, [](int64_t n) { return n != 1; }) - shape.begin();
}

/// True if neighbouring rows go through the lanes together, each in the order
/// of its sum: the more of them the better.
bool takesRowsInLanes(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return false;
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  AffineMap result = op.getIndexingMapsArray().back();
  bool isAlongRows = result.getNumResults() > 0 &&
                     result.getResults().back().isFunctionOfDim(rowLoopOf(op));
  return isAlongRows && !(generic && reducesInLanes(generic));
}

/// How many rows there are; 0 if the loop's iterations are none.
int64_t rowCountOf(linalg::LinalgOp op) {
  unsigned loop = rowLoopOf(op);
  if (loop == op.getNumLoops() || !op.hasPureBufferSemantics() ||
      op.hasIndexSemantics() || takesRowsInLanes(op) ||
      op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel ||
      !llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
        return rowsOf(map, loop).has_value();
      }))
    return 0;
  int64_t count = op.getStaticLoopRanges()[loop];
  return ShapedType::isDynamic(count) ? 0 : count;
}

/// Operations that may go through their rows together.
class Group {
public:
  /// Adds the next operation; false if it does not belong here.
  bool add(linalg::LinalgOp op);
  /// One loop for all of them, if that gains something. Takes from `room`,
  /// bytes on the stack.
  void fuse(IRRewriter &rewriter, int64_t &room);

private:
  struct Use {
    bool isWritten = false;
    bool isOutsideRows = false; ///< an iteration uses more than its rows
  };

  bool startsSum(linalg::LinalgOp op) const;
  int64_t bytesOfRow() const;
  bool isTemporary(Value root, const Use &use) const;
  int64_t keepRowsOnly(IRRewriter &rewriter, int64_t rows, int64_t room);

  SmallVector<linalg::LinalgOp> ops;
  int64_t count = 0;
  llvm::SmallMapVector<Value, Use, 8> memory; ///< by root
  bool isShared = false;
  llvm::SmallDenseMap<Value, Value> temporaries; ///< of a group's rows
};

bool Group::add(linalg::LinalgOp op) {
  int64_t rows = rowCountOf(op);
  if (rows < 2 || (!ops.empty() && rows != count))
    return false;
  unsigned loop = rowLoopOf(op);
  auto uses = memory;
  bool isRelated = ops.empty() || startsSum(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value buffer = operand.get(), root = viewedBuffer(buffer);
    auto type = dyn_cast<MemRefType>(buffer.getType());
    if (!type)
      continue;
    isRelated |= memory.contains(root);
    Use &use = uses[root];
    if (op.isDpsInit(&operand)) {
      use.isWritten = true;
      if (!ownMemoryOf(root))
        return false;
    }
    bool isWhole = bytesOf(root) > 0 && bytesOf(buffer) == bytesOf(root);
    if (!isWhole ||
        rowsOf(op.getMatchingIndexingMap(&operand), loop) != outermost(buffer))
      use.isOutsideRows = true;
    if (use.isWritten && use.isOutsideRows)
      return false;
  }
  if (!isRelated)
    return false;
  isShared = !ops.empty();
  memory = std::move(uses);
  count = rows;
  ops.push_back(op);
  return true;
}

/// True for the start of a sum or a maximum, over memory of the group.
bool Group::startsSum(linalg::LinalgOp op) const {
  if (!isa<linalg::FillOp>(op))
    return false;
  auto isOurs = [&](Value operand) {
    return memory.contains(viewedBuffer(operand));
  };
  return llvm::any_of(op->getOperands().back().getUsers(),
                      [&](Operation *user) {
                        return isa<linalg::LinalgOp>(user) &&
                               llvm::any_of(user->getOperands(), isOurs);
                      });
}

/// Bytes that an iteration of the outer loop goes through.
int64_t Group::bytesOfRow() const {
  int64_t bytes = 0;
  for (const auto &[root, use] : memory)
    if (!use.isOutsideRows)
      bytes += bytesOf(root) / count;
  return bytes;
}

/// True if nothing but the group uses `root`, and its rows one by one.
bool Group::isTemporary(Value root, const Use &use) const {
  if (!root.getDefiningOp<memref::AllocOp>() || use.isOutsideRows)
    return false;
  return llvm::all_of(root.getUsers(), [&](Operation *user) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    return isa<memref::DeallocOp>(user) || (op && llvm::is_contained(ops, op));
  });
}

/// Rows `first` to `first` + `rows` of a buffer, along `dimension`.
Value viewOf(OpBuilder &builder, Location loc, Value buffer, int64_t dimension,
             Value first, int64_t rows) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, buffer);
  offsets[dimension] = first;
  sizes[dimension] = builder.getIndexAttr(rows);
  return memref::SubViewOp::create(builder, loc, buffer, offsets, sizes,
                                   strides);
}

/// At the start of the loop's body: temporaries in memory for one group of
/// rows, as far as `room` on the stack goes; what they took. numera-parallelize
/// moves it to the start of the function that each thread calls.
int64_t Group::keepRowsOnly(IRRewriter &rewriter, int64_t rows, int64_t room) {
  int64_t all = room;
  for (const auto &[root, use] : memory) {
    int64_t bytes = bytesOf(root) / count * rows;
    if (bytes > room || !isTemporary(root, use))
      continue;
    room -= bytes;
    auto type = cast<MemRefType>(root.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[outermost(root)] = rows;
    temporaries[root] =
        memref::AllocaOp::create(rewriter, root.getLoc(), type.clone(shape),
                                 rewriter.getI64IntegerAttr(64));
  }
  return all - room;
}

void Group::fuse(IRRewriter &rewriter, int64_t &room) {
  int64_t bytes = bytesOfRow();
  if (!isShared || bytes * count < bytesWorthIt)
    return;
  int64_t rows = std::clamp<int64_t>(bytesOfRows / bytes, 1, count);
  while (count % rows != 0)
    --rows;
  Location loc = ops.back().getLoc();
  rewriter.setInsertionPoint(ops.back());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto loop = scf::ForOp::create(rewriter, loc, constant(0),
                                 constant(count / rows), constant(1));
  loop->setAttr(parallelLoopAttr, rewriter.getUnitAttr());
  rewriter.setInsertionPointToStart(loop.getBody());
  Value first = rewriter.createOrFold<arith::MulIOp>(
      loc, loop.getInductionVar(), constant(rows));
  room -= keepRowsOnly(rewriter, rows, std::min(room, bytesOnStack));
  for (linalg::LinalgOp op : ops) {
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      if (Value temporary = temporaries.lookup(operand.get())) {
        operands.push_back(temporary);
        continue;
      }
      int64_t dimension =
          *rowsOf(op.getMatchingIndexingMap(&operand), rowLoopOf(op));
      bool isBuffer = isa<MemRefType>(operand.get().getType());
      operands.push_back(isBuffer && dimension >= 0
                             ? viewOf(rewriter, op.getLoc(), operand.get(),
                                      dimension, first, rows)
                             : operand.get());
    }
    mlir::clone(rewriter, op, TypeRange(), operands);
    rewriter.eraseOp(op);
  }
  for (auto [whole, temporary] : temporaries) {
    for (Operation *free : llvm::make_early_inc_range(whole.getUsers()))
      rewriter.eraseOp(free);
    rewriter.eraseOp(whole.getDefiningOp());
  }
}

/// True for what may stand between the operations of a group: it neither reads
/// nor writes nor frees.
bool isHarmless(Operation &op) {
  return isMemoryEffectFree(&op) || isa<memref::AllocOp>(op);
}

struct FuseRowsPass : impl::NumeraFuseRowsBase<FuseRowsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    int64_t room = mostOnStack;
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks) {
      if (isa<linalg::LinalgOp>(block->getParentOp()))
        continue;
      std::vector<Group> groups(1);
      for (Operation &op : *block) {
        auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
        if (linalgOp && groups.back().add(linalgOp))
          continue;
        if (!linalgOp && isHarmless(op))
          continue;
        groups.emplace_back();
        if (linalgOp)
          (void)groups.back().add(linalgOp);
      }
      for (Group &group : groups)
        group.fuse(rewriter, room);
    }
  }
};
} // namespace

} // namespace numera
