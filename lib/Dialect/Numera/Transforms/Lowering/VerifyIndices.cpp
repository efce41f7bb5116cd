// SPDX-License-Identifier: MIT

#include "VerifyIndices.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace numera {

namespace {
class Checks {
public:
  explicit Checks(Operation *op) : builder(op), loc(op->getLoc()) {}

  void add(tensor::ParallelInsertSliceOp insert);
  void add(VectorTransferOpInterface transfer);
  void addOfVector(Value memory, ValueRange indices, VectorType type);
  void addOfAffine(Value memory, AffineMap map, ValueRange operands,
                   Type moved);
  void addOfDivision(Value x, Value y, bool isSigned);

private:
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value valueOf(OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(builder, loc, number);
  }
  Value compare(Value x, arith::CmpIPredicate relation, Value y) {
    return arith::CmpIOp::create(builder, loc, relation, x, y);
  }
  /// True in all programs that are right: `0 <= index` and, with a size, that
  /// so many elements from there on are in the dimension.
  void require(Value memory, int64_t dimension, Value index,
               std::optional<int64_t> count);
  Value sizeOf(Value memory, int64_t dimension) {
    if (isa<TensorType>(memory.getType()))
      return tensor::DimOp::create(builder, loc, memory, dimension);
    return memref::DimOp::create(builder, loc, memory, dimension);
  }
  void require(Value condition, const Twine &message) {
    cf::AssertOp::create(builder, loc, condition, message.str());
  }

  OpBuilder builder;
  Location loc;
};
} // namespace

static constexpr StringLiteral outOfBounds =
    "the shapes do not agree: out-of-bounds access";

/// Of unsigned numbers, of which negative ones are the greatest. No sum of two
/// is computed, which could leave the range.
void Checks::require(Value memory, int64_t dimension, Value index,
                     std::optional<int64_t> count) {
  using enum arith::CmpIPredicate;
  if (!count) {
    require(compare(index, sge, number(0)), outOfBounds);
    return;
  }
  Value size = sizeOf(memory, dimension), room = number(*count);
  Value most = arith::SubIOp::create(builder, loc, size, room);
  require(arith::AndIOp::create(builder, loc, compare(room, ule, size),
                                compare(index, ule, most)),
          outOfBounds);
}

/// In front of the parallel part, which holds nothing else.
void Checks::add(tensor::ParallelInsertSliceOp insert) {
  using enum arith::CmpIPredicate;
  builder.setInsertionPoint(insert->getParentOp());
  for (auto [i, offset, size, stride] :
       llvm::enumerate(insert.getMixedOffsets(), insert.getMixedSizes(),
                       insert.getMixedStrides())) {
    Value first = valueOf(offset), count = valueOf(size),
          step = valueOf(stride), zero = number(0), one = number(1);
    Value whole = sizeOf(insert.getDest(), int64_t(i));
    // No elements, or the last one, (count - 1) * step behind the first, is
    // inside: count - 1 <= (whole - 1 - first) / step.
    Value isEmpty = compare(count, eq, zero);
    Value rest = arith::SubIOp::create(
        builder, loc, arith::SubIOp::create(builder, loc, whole, one), first);
    Value by = arith::MaxSIOp::create(builder, loc, step, one);
    Value isInside = arith::AndIOp::create(
        builder, loc, compare(first, ult, whole),
        compare(arith::SubIOp::create(builder, loc, count, one), ule,
                arith::DivUIOp::create(builder, loc, rest, by)));
    Value isOrdered = compare(step, sgt, zero);
    require(arith::OrIOp::create(
                builder, loc, isEmpty,
                arith::AndIOp::create(builder, loc, isOrdered, isInside)),
            outOfBounds);
  }
}

void Checks::add(VectorTransferOpInterface transfer) {
  AffineMap map = transfer.getPermutationMap();
  SmallVector<bool> inBounds = transfer.getInBoundsValues();
  ArrayRef<int64_t> shape = transfer.getVectorType().getShape();
  for (auto [i, index] : llvm::enumerate(transfer.getIndices())) {
    std::optional<int64_t> count = 1;
    for (auto [result, length, isIn] :
         llvm::zip_equal(map.getResults(), shape, inBounds))
      if (auto dim = dyn_cast<AffineDimExpr>(result);
          dim && dim.getPosition() == i)
        // Elements outside are left out, but below the first one.
        count = isIn ? std::optional(length) : std::nullopt;
    require(transfer.getBase(), int64_t(i), index, count);
  }
}

/// Elements of the last dimensions, from the indices on.
void Checks::addOfVector(Value memory, ValueRange indices, VectorType type) {
  auto rank = int64_t(indices.size());
  // Of a memref of vectors, one of them.
  bool isWhole =
      isa<VectorType>(cast<ShapedType>(memory.getType()).getElementType());
  int64_t first = isWhole ? rank : rank - type.getRank();
  for (int64_t i = 0; i < rank; ++i)
    require(memory, i, indices[size_t(i)],
            i < first ? 1 : type.getDimSize(unsigned(i - first)));
}

void Checks::addOfAffine(Value memory, AffineMap map, ValueRange operands,
                         Type moved) {
  auto indices = affine::expandAffineMap(builder, loc, map, operands);
  if (!indices)
    return;
  auto vector = dyn_cast<VectorType>(moved);
  if (vector)
    addOfVector(memory, *indices, vector);
  for (size_t i = 0; !vector && i < indices->size(); ++i)
    require(memory, int64_t(i), (*indices)[i], 1);
}

/// Of integers in any order of bits: the quotient is one of them.
void Checks::addOfDivision(Value x, Value y, bool isSigned) {
  using enum arith::CmpIPredicate;
  if (isa<ShapedType>(y.getType()))
    return;
  std::optional<int64_t> known = getConstantIntValue(y);
  if (known && *known != 0 && *known != -1)
    return;
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     IntegerAttr::get(y.getType(), value));
  };
  unsigned width =
      y.getType().isIndex() ? 64 : y.getType().getIntOrFloatBitWidth();
  require(compare(y, ne, constant(APInt::getZero(width))),
          "an integer is divided by zero");
  if (!isSigned)
    return;
  require(arith::OrIOp::create(
              builder, loc, compare(y, ne, constant(APInt::getAllOnes(width))),
              compare(x, ne, constant(APInt::getSignedMinValue(width)))),
          "the quotient of two integers is beyond their type");
}

void verifyIndices(Operation *root) {
  SmallVector<Operation *> work;
  root->walk([&](Operation *op) { work.push_back(op); });
  for (Operation *op : work) {
    Checks checks(op);
    llvm::TypeSwitch<Operation *>(op)
        .Case<tensor::ParallelInsertSliceOp, VectorTransferOpInterface>(
            [&](auto each) { checks.add(each); })
        .Case([&](affine::AffineReadOpInterface read) {
          checks.addOfAffine(read.getMemRef(), read.getAffineMap(),
                             read.getMapOperands(), read.getValue().getType());
        })
        .Case([&](affine::AffineWriteOpInterface write) {
          checks.addOfAffine(write.getMemRef(), write.getAffineMap(),
                             write.getMapOperands(),
                             write.getValueToStore().getType());
        })
        .Case([&](vector::LoadOp load) {
          checks.addOfVector(load.getBase(), load.getIndices(),
                             load.getVectorType());
        })
        .Case([&](vector::StoreOp store) {
          checks.addOfVector(store.getBase(), store.getIndices(),
                             store.getVectorType());
        })
        .Case<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
              arith::FloorDivSIOp>([&](auto division) {
          checks.addOfDivision(division.getLhs(), division.getRhs(), true);
        })
        .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(
            [&](auto division) {
              checks.addOfDivision(division.getLhs(), division.getRhs(), false);
            });
  }
}

} // namespace numera
