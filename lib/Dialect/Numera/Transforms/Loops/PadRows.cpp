// SPDX-License-Identifier: MIT
//
// A constant in all of a buffer, and then a copy into a part of it, is how
// padding arrives. Here each row is written once:
//
//   constant … | source … | constant …     or     constant …
//
// instead of all of it, and its inside again. What the source is computed from,
// element by element right before it, is computed here, and the source is not
// written at all.

#include "ElementLanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

namespace {

class PadRows {
public:
  PadRows(IRRewriter &rewriter, const Padding &padding)
      : rewriter(rewriter), padding(padding),
        loc(memref::CopyOp(padding.copy).getLoc()),
        buffer(memref::SubViewOp(padding.inside).getSource()) {}

  void emit();

private:
  static constexpr int64_t lanes = ElementLanes::lanes;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  /// A loop over `begin` to `end` of a row; `element` makes what is stored.
  void writeRow(int64_t begin, int64_t end,
                llvm::function_ref<Value(Value)> element);
  Value elementAt(ArrayRef<Value> indices);
  /// True for rows of the source that are moved as one vector: loops of so few
  /// steps remain scalar.
  bool isOneVector();
  /// True for short rows of f32 that are computed as vectors are.
  bool hasLanes();
  /// Computes the `count` elements from `from` on, and stores them at `to`.
  void writeLanes(ArrayRef<Value> from, ArrayRef<Value> to, int64_t count);
  Value isInside();

  IRRewriter &rewriter;
  Padding padding;
  Location loc;
  Value buffer;
  SmallVector<Value> place; ///< of the row
};

} // namespace

void PadRows::writeRow(int64_t begin, int64_t end,
                       llvm::function_ref<Value(Value)> element) {
  if (begin == end)
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  auto loop = scf::ForOp::create(rewriter, loc, constant(begin), constant(end),
                                 constant(1));
  rewriter.setInsertionPointToStart(loop.getBody());
  Value value = element(loop.getInductionVar());
  SmallVector<Value> indices = place;
  indices.push_back(loop.getInductionVar());
  memref::StoreOp::create(rewriter, loc, value, buffer, indices);
  maskShortLoop(loop);
}

/// That of the source.
Value PadRows::elementAt(ArrayRef<Value> indices) {
  linalg::GenericOp producer = padding.producer;
  if (!producer)
    return memref::LoadOp::create(rewriter, loc, padding.copy.getSource(),
                                  indices);
  IRMapping map;
  for (OpOperand *input : producer.getDpsInputOperands())
    map.map(producer.getMatchingBlockArgument(input),
            readAt(rewriter, producer, *input, indices));
  return cloneBody(rewriter, producer, map);
}

bool PadRows::isOneVector() {
  constexpr int64_t longest = 32;
  auto type = cast<MemRefType>(padding.copy.getSource().getType());
  Type element = type.getElementType();
  // A vector of i1 has them in bits, a buffer in bytes.
  bool isBytes = element.isIntOrFloat() &&
                 element.getIntOrFloatBitWidth() >= 8 &&
                 llvm::isPowerOf2_32(element.getIntOrFloatBitWidth());
  return !padding.producer && type.getShape().back() > 0 &&
         type.getShape().back() <= longest && type.isLastDimUnitStride() &&
         isBytes;
}

bool PadRows::hasLanes() {
  constexpr int64_t longest = 4 * lanes;
  linalg::GenericOp producer = padding.producer;
  auto source = cast<MemRefType>(padding.copy.getSource().getType());
  return producer && source.getShape().back() <= longest &&
         ElementLanes(rewriter, producer).hasForm();
}

void PadRows::writeLanes(ArrayRef<Value> from, ArrayRef<Value> to,
                         int64_t count) {
  ElementLanes elements(rewriter, padding.producer);
  elements.store(elements.compute(from, count), buffer, to, count);
}

/// Whether the row has a part of the source; null if every row has one.
Value PadRows::isInside() {
  ArrayRef<int64_t> all = cast<MemRefType>(buffer.getType()).getShape();
  Value inside;
  for (auto [dimension, index] : llvm::enumerate(place)) {
    int64_t size = padding.inside.getStaticSizes()[dimension];
    if (size == all[dimension])
      continue;
    Value first = constant(padding.inside.getStaticOffset(int64_t(dimension)));
    Value moved = arith::SubIOp::create(rewriter, loc, index, first);
    Value is = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                     moved, constant(size));
    inside = inside ? arith::AndIOp::create(rewriter, loc, inside, is) : is;
  }
  return inside;
}

void PadRows::emit() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(padding.copy);
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  auto dynamicSizes = padding.inside.getSizes().begin();
  for (int64_t size : shape.drop_back()) {
    Value end = ShapedType::isDynamic(size) ? *dynamicSizes++ : constant(size);
    auto loop =
        scf::ForOp::create(rewriter, loc, constant(0), end, constant(1));
    loop->setAttr(parallelLoopAttr, rewriter.getUnitAttr());
    place.push_back(loop.getInductionVar());
    rewriter.setInsertionPointToStart(loop.getBody());
  }
  auto border = [&](Value) { return padding.value; };
  auto writeInside = [&] {
    int64_t last = int64_t(place.size());
    int64_t first = padding.inside.getStaticOffset(last);
    int64_t end = first + padding.inside.getStaticSize(last);
    SmallVector<Value> from;
    for (auto [dimension, index] : llvm::enumerate(place)) {
      int64_t offset = padding.inside.getStaticOffset(int64_t(dimension));
      from.push_back(
          offset ? arith::SubIOp::create(rewriter, loc, index, constant(offset))
                 : index);
    }
    writeRow(0, first, border);
    if (isOneVector()) {
      Value source = padding.copy.getSource();
      auto type =
          VectorType::get(end - first, getElementTypeOrSelf(source.getType()));
      SmallVector<Value> indices = place;
      indices.push_back(constant(first));
      from.push_back(constant(0));
      Value row = vector::LoadOp::create(rewriter, loc, type, source, from);
      vector::StoreOp::create(rewriter, loc, row, buffer, indices);
    } else if (hasLanes()) {
      from.push_back(Value());
      SmallVector<Value> to = place;
      to.push_back(Value());
      for (int64_t begin = first; begin < end; begin += lanes) {
        from.back() = constant(begin - first);
        to.back() = constant(begin);
        writeLanes(from, to, std::min(end - begin, lanes));
      }
    } else {
      writeRow(first, end, [&](Value index) -> Value {
        SmallVector<Value> indices = from;
        indices.push_back(
            arith::SubIOp::create(rewriter, loc, index, constant(first)));
        return elementAt(indices);
      });
    }
    writeRow(end, shape.back(), border);
  };
  if (Value inside = isInside()) {
    auto either = scf::IfOp::create(rewriter, loc, inside,
                                    /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(either.thenBlock());
    writeInside();
    rewriter.setInsertionPointToStart(either.elseBlock());
    writeRow(0, shape.back(), border);
  } else {
    writeInside();
  }
  rewriter.eraseOp(padding.copy);
  rewriter.eraseOp(padding.fill);
  if (padding.producer)
    rewriter.eraseOp(padding.producer);
}

/// The number that `op` writes to all of `buffer`; null if it does not.
static Value fillOf(Operation *op, Value buffer) {
  auto linalg = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!linalg || !isa<linalg::FillOp, linalg::MapOp>(op) ||
      linalg.getNumDpsInits() != 1 ||
      linalg.getDpsInitOperand(0)->get() != buffer)
    return {};
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getInputs().front();
  Block *body = linalg.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  bool isFromOutside =
      linalg.getNumDpsInputs() == 0 && yielded.getParentBlock() != body;
  return isFromOutside ? yielded : Value();
}

/// True if nothing but the copy reads what the producer writes. What takes the
/// address before has done with it: numera-contract takes it anew for each
/// call.
static bool isSpent(linalg::GenericOp producer, memref::CopyOp copy) {
  Value source = copy.getSource();
  auto memory = source.getDefiningOp<memref::AllocOp>();
  return memory && memory->getBlock() == producer->getBlock() &&
         producer.getDpsInits().front() == source &&
         llvm::all_of(source.getUsers(), [&](Operation *user) {
           if (user == producer || user == copy || isa<memref::DeallocOp>(user))
             return true;
           bool isView = isa<ViewLikeOpInterface>(user) &&
                         !isa<memref::ExtractStridedMetadataOp>(user);
           return !isView && user->getBlock() == producer->getBlock() &&
                  user->isBeforeInBlock(producer);
         });
}

/// What computes the source of the copy, right before the fill of its buffer;
/// null if that is to be written.
static linalg::GenericOp producerOf(Operation *fill, memref::CopyOp copy,
                                    Value buffer) {
  Operation *before = fill->getPrevNode();
  while (before && (isMemoryEffectFree(before) || isa<memref::AllocOp>(before)))
    before = before->getPrevNode();
  auto producer = dyn_cast_or_null<linalg::GenericOp>(before);
  if (!producer || !isElementwise(producer) || !isSpent(producer, copy))
    return {};
  bool areElsewhere = llvm::all_of(producer.getInputs(), [&](Value input) {
    return isElsewhere(input, buffer);
  });
  return areElsewhere ? producer : linalg::GenericOp();
}

/// True if a view begins at constant places, goes through all of what it does
/// not have a constant part of, as the batch, and has whole rows of elements.
static bool isInside(memref::SubViewOp view) {
  MemRefType type = view.getSourceType();
  auto memory = view.getSource().getDefiningOp<memref::AllocOp>();
  if (!memory || type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1) ||
      !view.getOffsets().empty() ||
      !llvm::equal(view.getSizes(), memory.getDynamicSizes()))
    return false;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (view.getStaticStride(i) != 1 ||
        view.isDynamicSize(unsigned(i)) != type.isDynamicDim(i) ||
        (type.isDynamicDim(i) && view.getStaticOffset(i) != 0))
      return false;
  return true;
}

std::optional<Padding> paddingOf(memref::CopyOp copy) {
  Padding found;
  found.copy = copy;
  found.inside = copy.getTarget().getDefiningOp<memref::SubViewOp>();
  auto type = cast<MemRefType>(copy.getSource().getType());
  if (!found.inside || !isInside(found.inside) ||
      found.inside.getSourceType().getRank() != type.getRank())
    return std::nullopt;
  Value buffer = found.inside.getSource();
  Operation *before = copy->getPrevNode();
  while (before && isMemoryEffectFree(before))
    before = before->getPrevNode();
  found.value = fillOf(before, buffer);
  if (!found.value || !isElsewhere(copy.getSource(), buffer))
    return std::nullopt;
  found.fill = cast<linalg::LinalgOp>(before);
  found.producer = producerOf(before, copy, buffer);
  return found;
}

void padRows(IRRewriter &rewriter, func::FuncOp function) {
  SmallVector<memref::CopyOp> copies;
  function.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies)
    if (std::optional<Padding> padding = paddingOf(copy))
      PadRows(rewriter, *padding).emit();
}

} // namespace numera
