// SPDX-License-Identifier: MIT
//
// Upstream's verification at run time, without what upstream's pass takes most
// of its time for: it prints the operation into each message, and asks at run
// time for sizes that are known. Some operations of tensors have none there.

#include "VerifyIndices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAVERIFYSHAPES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// True for a structured operation whose sizes are all known, and agree: each
/// dimension of an operand that one loop goes through is as long as it. (What
/// was right with an unknown size may have become wrong when it was found out.)
static bool isVerified(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return false;
  SmallVector<int64_t> ranges = structured.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands()) {
    auto shaped = dyn_cast<ShapedType>(operand.get().getType());
    if (!shaped)
      continue;
    AffineMap map = structured.getMatchingIndexingMap(&operand);
    for (auto [expr, size] :
         llvm::zip_equal(map.getResults(), shaped.getShape())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (ShapedType::isDynamic(size) || !dim ||
          ranges[dim.getPosition()] != size)
        return false;
    }
  }
  return true;
}

static std::string messageFor(Operation *, StringRef fault) {
  return ("the shapes do not agree: " + fault).str();
}

namespace {
/// Assertions for an operation that upstream has none for.
class Assertions {
public:
  Assertions(Operation *op, DominanceInfo &dominance)
      : builder(op), op(op), loc(op->getLoc()), dominance(dominance) {}

  void add(tensor::InsertSliceOp insert);
  void add(tensor::ReshapeOp reshape);
  void add(tensor::ExpandShapeOp expand);

private:
  Value toWord(Value number);
  Value multiply(Value x, Value y);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value valueOf(OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(builder, loc, number);
  }
  Value sizeOf(Value tensor, int64_t dimension) {
    return valueOf(tensor::getMixedSize(builder, loc, tensor, dimension));
  }
  void placeBehind(ArrayRef<OpFoldResult> values);
  Value isWithin(OpFoldResult offset, OpFoldResult size, OpFoldResult stride,
                 Value tensor, int64_t dimension);
  Value compare(Value x, arith::CmpIPredicate relation, Value y) {
    return arith::CmpIOp::create(builder, loc, relation, x, y);
  }
  Value both(Value x, Value y) {
    return arith::AndIOp::create(builder, loc, x, y);
  }
  void require(Value x, arith::CmpIPredicate relation, Value y) {
    cf::AssertOp::create(builder, loc, compare(x, relation, y),
                         messageFor(op, "size mismatch"));
  }

  OpBuilder builder;
  Operation *op;
  Location loc;
  DominanceInfo &dominance;
};
} // namespace

/// Goes to where all of them are known, in the block of the operation: what
/// another one does depends on this one's being reached.
void Assertions::placeBehind(ArrayRef<OpFoldResult> values) {
  Value last;
  for (OpFoldResult each : values) {
    auto value = dyn_cast<Value>(each);
    if (!value)
      continue;
    Operation *made = value.getDefiningOp();
    if (!last || dominance.dominates(
                     last, made ? made : &value.getParentBlock()->front()))
      last = value;
  }
  builder.setInsertionPointToStart(op->getBlock());
  if (last && last.getParentBlock() == op->getBlock())
    builder.setInsertionPointAfterValue(last);
}

Value Assertions::isWithin(OpFoldResult offset, OpFoldResult size,
                           OpFoldResult stride, Value tensor,
                           int64_t dimension) {
  using enum arith::CmpIPredicate;
  Value first = valueOf(offset), count = valueOf(size), step = valueOf(stride);
  Value whole = sizeOf(tensor, dimension), zero = constant(0),
        one = constant(1);
  // count <= ceil((whole - first) / step), of which nothing overflows
  Value room = arith::SubIOp::create(builder, loc, whole, first);
  Value left = arith::SubIOp::create(builder, loc, room, one);
  Value by = arith::MaxSIOp::create(builder, loc, step, one);
  Value most = arith::AddIOp::create(
      builder, loc, arith::DivSIOp::create(builder, loc, left, by), one);
  most = arith::SelectOp::create(builder, loc, compare(room, eq, zero), zero,
                                 most);
  Value isOrdered = both(compare(step, sgt, zero), compare(count, sge, zero));
  Value begins = both(compare(first, sge, zero), compare(first, sle, whole));
  return both(both(isOrdered, begins), compare(count, sle, most));
}

/// What a tensor is written over, as far as that is known: it has its sizes
/// before it is computed.
static Value originOf(Value tensor) {
  while (auto op = tensor.getDefiningOp<DestinationStyleOpInterface>())
    tensor = op.getTiedOpOperand(cast<OpResult>(tensor))->get();
  return tensor;
}

/// The slice lies in the tensor, and has the sizes of what is put there. An
/// offset comes from behind the assertion: bufferization may have the source
/// computed into the slice, which is not before it is known where that is.
void Assertions::add(tensor::InsertSliceOp insert) {
  SmallVector<OpFoldResult> offsets = insert.getMixedOffsets(),
                            sizes = insert.getMixedSizes(),
                            strides = insert.getMixedStrides();
  auto isKnown = [](OpFoldResult number) {
    return getConstantIntValue(number).has_value();
  };
  RankedTensorType source = insert.getSourceType();
  bool isChecked =
      source.hasStaticShape() && insert.getDestType().hasStaticShape() &&
      llvm::all_of(offsets, isKnown) && llvm::all_of(sizes, isKnown) &&
      llvm::all_of(strides, isKnown);
  if (isChecked || offsets.empty())
    return;
  Value origin = originOf(insert.getSource());
  auto empty = origin.getDefiningOp<tensor::EmptyOp>();
  SmallVector<OpFoldResult> known = {insert.getDest()}, made;
  for (int64_t i = 0; i < source.getRank(); ++i)
    made.push_back(empty ? empty.getMixedSizes()[size_t(i)]
                         : OpFoldResult(Value()));
  for (ArrayRef<OpFoldResult> numbers :
       {ArrayRef(offsets), ArrayRef(sizes), ArrayRef(strides)})
    llvm::append_range(known, numbers);
  if (empty)
    llvm::append_range(known, made);
  else
    known.push_back(origin);
  placeBehind(known);
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  Value isRight;
  int64_t ofSource = 0;
  for (auto [i, offset, size, stride] :
       llvm::enumerate(offsets, sizes, strides)) {
    Value each = isWithin(offset, size, stride, insert.getDest(), int64_t(i));
    isRight = isRight ? both(isRight, each) : each;
    if (dropped.test(unsigned(i)))
      continue;
    int64_t dimension = ofSource++;
    Value length =
        empty ? valueOf(made[size_t(dimension)]) : sizeOf(origin, dimension);
    isRight =
        both(isRight, compare(valueOf(size), arith::CmpIPredicate::eq, length));
  }
  // A number from memory stays behind the assertion.
  OpBuilder start = OpBuilder::atBlockBegin(
      &op->getParentOfType<FunctionOpInterface>().getFunctionBody().front());
  Value memory = memref::AllocaOp::create(
      start, loc, MemRefType::get({}, start.getIndexType()));
  memref::StoreOp::create(builder, loc, valueOf(offsets.front()), memory);
  cf::AssertOp::create(builder, loc, isRight,
                       messageFor(op, "out-of-bounds access"));
  Value first = memref::LoadOp::create(builder, loc, memory);
  builder.setInsertionPoint(op);
  offsets.front() = first;
  insert->replaceAllUsesWith(
      tensor::InsertSliceOp::create(builder, loc, insert.getSource(),
                                    insert.getDest(), offsets, sizes, strides));
  insert.erase();
}

/// A size as an i64.
Value Assertions::toWord(Value number) {
  Type i64 = builder.getI64Type();
  if (number.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, number);
  return number.getType() == i64
             ? number
             : arith::ExtSIOp::create(builder, loc, i64, number).getResult();
}

/// A product of sizes, which has 64 bits.
Value Assertions::multiply(Value x, Value y) {
  auto product = arith::MulUIExtendedOp::create(builder, loc, x, y);
  require(product.getHigh(), arith::CmpIPredicate::eq,
          arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 0));
  return product.getLow();
}

/// The new shape has as many elements.
void Assertions::add(tensor::ReshapeOp reshape) {
  auto shape = cast<RankedTensorType>(reshape.getShape().getType());
  auto source = dyn_cast<RankedTensorType>(reshape.getSource().getType());
  auto result = dyn_cast<RankedTensorType>(reshape.getType());
  if (!source || !result || shape.isDynamicDim(0))
    return; // models have no tensors of unknown rank
  Type i64 = builder.getI64Type();
  Value one = arith::ConstantIntOp::create(builder, loc, i64, 1);
  Value before = one, after = one;
  for (int64_t i = 0; i < source.getRank(); ++i)
    before = multiply(before, toWord(sizeOf(reshape.getSource(), i)));
  for (int64_t i = 0; i < shape.getDimSize(0); ++i) {
    Value size = toWord(tensor::ExtractOp::create(
        builder, loc, reshape.getShape(), constant(i)));
    if (!result.isDynamicDim(unsigned(i)))
      require(size, arith::CmpIPredicate::eq,
              arith::ConstantIntOp::create(builder, loc, i64,
                                           result.getDimSize(unsigned(i))));
    after = multiply(after, size);
  }
  require(before, arith::CmpIPredicate::eq, after);
}

/// What a dimension is split into has its size.
void Assertions::add(tensor::ExpandShapeOp expand) {
  RankedTensorType source = expand.getSrcType(),
                   result = expand.getResultType();
  if (source.hasStaticShape() && result.hasStaticShape())
    return;
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  for (auto [i, group] : llvm::enumerate(expand.getReassociationIndices())) {
    bool isKnown = !source.isDynamicDim(unsigned(i));
    Value product =
        arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 1);
    for (int64_t dimension : group) {
      isKnown &= !result.isDynamicDim(unsigned(dimension));
      product = multiply(product, toWord(valueOf(sizes[size_t(dimension)])));
    }
    if (!isKnown)
      require(product, arith::CmpIPredicate::eq,
              toWord(sizeOf(expand.getSrc(), int64_t(i))));
  }
}

namespace {
struct VerifyShapesPass : impl::NumeraVerifyShapesBase<VerifyShapesPass> {
  void runOnOperation() override {
    verifyIndices(getOperation());
    SmallVector<RuntimeVerifiableOpInterface> work;
    getOperation()->walk([&](RuntimeVerifiableOpInterface op) {
      if (!isVerified(op))
        work.push_back(op);
    });
    auto &dominance = getAnalysis<DominanceInfo>();
    SmallVector<tensor::InsertSliceOp> inserts;
    getOperation()->walk([&](Operation *op) {
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
        inserts.push_back(insert);
      else if (auto reshape = dyn_cast<tensor::ReshapeOp>(op))
        Assertions(op, dominance).add(reshape);
      else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
        Assertions(op, dominance).add(expand);
    });
    for (tensor::InsertSliceOp insert : inserts)
      Assertions(insert, dominance).add(insert);
    OpBuilder builder(&getContext());
    for (RuntimeVerifiableOpInterface op : work) {
      builder.setInsertionPoint(op);
      op.generateRuntimeVerification(builder, op.getLoc(), messageFor);
    }
  }
};
} // namespace

} // namespace numera
