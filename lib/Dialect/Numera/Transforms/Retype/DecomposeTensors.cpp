// SPDX-License-Identifier: MIT

#include "Decompose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/Operator.h"

using namespace mlir;

namespace numera {

namespace {

/// What tensor.gather and tensor.scatter have in common: slices of a tensor at
/// coordinates, of which the last dimension of `indices` has those along
/// `dimensions`. `slices` has the dimensions of `indices` but the last, then
/// those of a slice; the ones along `dimensions` are 1, or are left out.
struct Slices {
  TypedValue<RankedTensorType> indices;
  ArrayRef<int64_t> dimensions;
  RankedTensorType whole, slices;

  int64_t countBatch() const { return indices.getType().getRank() - 1; }
  bool isIndexed(int64_t dimension) const {
    return llvm::is_contained(dimensions, dimension);
  }
  bool isReduced() const {
    return slices.getRank() != countBatch() + whole.getRank();
  }
  /// The dimension of `slices` that one of the whole has; none if left out.
  std::optional<int64_t> positionOf(int64_t dimension) const {
    if (!isReduced())
      return countBatch() + dimension;
    if (isIndexed(dimension))
      return std::nullopt;
    return countBatch() + dimension -
           llvm::count_if(dimensions, [&](int64_t d) { return d < dimension; });
  }
  /// The coordinates along `dimensions`, of the slice at a place of the batch.
  SmallVector<Value> read(OpBuilder &builder, Location loc,
                          ArrayRef<Value> batch) const {
    SmallVector<Value> read;
    for (int64_t i = 0, e = dimensions.size(); i < e; ++i) {
      SmallVector<Value> place(batch);
      place.push_back(arith::ConstantIndexOp::create(builder, loc, i));
      Value index = tensor::ExtractOp::create(builder, loc, indices, place);
      read.push_back(getValueOrCreateCastToIndexLike(
          builder, loc, builder.getIndexType(), index));
    }
    return read;
  }
};

class TensorDecomposer {
public:
  explicit TensorDecomposer(MLIRContext *context) : rewriter(context) {}

  /// Nothing is done to an operation that is not known here.
  LogicalResult decompose(Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto pack = dyn_cast<linalg::PackOp>(op))
      return check(op, linalg::lowerPack(rewriter, pack));
    if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
      return check(op, linalg::lowerUnPack(rewriter, unpack));
    if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op))
      return check(
          op, linalg::decomposeWinogradFilterTransformOp(rewriter, filter));
    if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op))
      return check(op,
                   linalg::decomposeWinogradInputTransformOp(rewriter, input));
    if (auto output = dyn_cast<linalg::WinogradOutputTransformOp>(op))
      return check(
          op, linalg::decomposeWinogradOutputTransformOp(rewriter, output));
    if (auto gather = dyn_cast<tensor::GatherOp>(op))
      decomposeGather(gather);
    else if (auto scatter = dyn_cast<tensor::ScatterOp>(op))
      decomposeScatter(scatter);
    else if (auto bitcast = dyn_cast<tensor::BitcastOp>(op))
      decomposeBitcast(bitcast);
    return success();
  }

private:
  template <typename Result>
  LogicalResult check(Operation *op, const FailureOr<Result> &result) {
    if (succeeded(result))
      return success();
    return op->emitError("'")
           << op->getName() << "' cannot be decomposed: its tiles or sizes are "
           << "not known, or are not divisors without a padding value; write "
           << "it as tensor.pad, tensor.expand_shape and linalg.transpose";
  }
  void decomposeGather(tensor::GatherOp gather);
  void decomposeScatter(tensor::ScatterOp scatter);
  void decomposeBitcast(tensor::BitcastOp bitcast);

  IRRewriter rewriter;
};

} // namespace

/// A generic that reads each element where its slice is.
void TensorDecomposer::decomposeGather(tensor::GatherOp gather) {
  Location loc = gather.getLoc();
  Slices slices{gather.getIndices(), gather.getGatherDims(),
                gather.getSourceType(), gather.getResultType()};
  SmallVector<OpFoldResult> sizes;
  for (int64_t i = 0; i < slices.countBatch(); ++i)
    sizes.push_back(tensor::getMixedSize(rewriter, loc, slices.indices, i));
  for (int64_t d = 0; d < slices.whole.getRank(); ++d)
    if (slices.isIndexed(d) && !slices.isReduced())
      sizes.push_back(rewriter.getIndexAttr(1));
    else if (!slices.isIndexed(d))
      sizes.push_back(
          tensor::getMixedSize(rewriter, loc, gather.getSource(), d));
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                        slices.slices.getElementType());
  int64_t rank = slices.slices.getRank();
  auto generic = linalg::GenericOp::create(
      rewriter, loc, TypeRange(empty.getType()), ValueRange(),
      ValueRange(empty), rewriter.getMultiDimIdentityMap(rank),
      SmallVector(rank, utils::IteratorType::parallel),
      [&](OpBuilder &builder, Location inner, ValueRange) {
        SmallVector<Value> place;
        for (int64_t i = 0; i < rank; ++i)
          place.push_back(linalg::IndexOp::create(builder, inner, i));
        SmallVector<Value> read = slices.read(
            builder, inner, ArrayRef(place).take_front(slices.countBatch()));
        SmallVector<Value> coordinates;
        for (int64_t d = 0; d < slices.whole.getRank(); ++d)
          coordinates.push_back(
              slices.isIndexed(d) ? Value() : place[*slices.positionOf(d)]);
        for (auto [d, value] : llvm::zip_equal(slices.dimensions, read))
          coordinates[d] = value;
        Value element = tensor::ExtractOp::create(
            builder, inner, gather.getSource(), coordinates);
        linalg::YieldOp::create(builder, inner, element);
      });
  rewriter.replaceOpWithNewOp<tensor::CastOp>(gather, slices.slices,
                                              generic.getResult(0));
}

/// A loop over the slices, which are inserted.
void TensorDecomposer::decomposeScatter(tensor::ScatterOp scatter) {
  Location loc = scatter.getLoc();
  Slices slices{scatter.getIndices(), scatter.getScatterDims(),
                scatter.getDestType(), scatter.getSourceType()};
  int64_t batch = slices.countBatch(), rank = slices.whole.getRank();
  OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes(rank, one);
  SmallVector<OpFoldResult> taken(slices.slices.getRank(), one);
  for (int64_t d = 0; d < rank; ++d)
    if (!slices.isIndexed(d))
      taken[*slices.positionOf(d)] = sizes[d] =
          tensor::getMixedSize(rewriter, loc, scatter.getDest(), d);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  SmallVector<Value> ends;
  for (int64_t i = 0; i < batch; ++i)
    ends.push_back(getValueOrCreateConstantIndexOp(
        rewriter, loc, tensor::getMixedSize(rewriter, loc, slices.indices, i)));
  auto sliceType = cast<RankedTensorType>(
      RankedTensorType::get(slices.slices.getShape().drop_front(batch),
                            slices.slices.getElementType()));
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, loc, SmallVector<Value>(batch, constant(0)), ends,
      SmallVector<Value>(batch, constant(1)), scatter.getDest(),
      [&](OpBuilder &builder, Location inner, ValueRange place,
          ValueRange carried) -> scf::ValueVector {
        SmallVector<OpFoldResult> from(taken.size(), zero), to(rank, zero);
        llvm::copy(place, from.begin());
        SmallVector<Value> read =
            slices.read(builder, inner, SmallVector<Value>(place));
        for (auto [d, value] : llvm::zip_equal(slices.dimensions, read))
          to[d] = value;
        Value slice = tensor::ExtractSliceOp::create(
            builder, inner, sliceType, scatter.getSource(), from, taken,
            SmallVector<OpFoldResult>(taken.size(), one));
        return {tensor::InsertSliceOp::create(
            builder, inner, slice, carried.front(), to, sizes,
            SmallVector<OpFoldResult>(rank, one))};
      });
  rewriter.replaceOp(scatter, nest.results);
}

/// Bits are those of integers without a sign, in between.
void TensorDecomposer::decomposeBitcast(tensor::BitcastOp bitcast) {
  Location loc = bitcast.getLoc();
  auto withoutSign = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return RankedTensorType::get(
        tensor.getShape(),
        rewriter.getIntegerType(tensor.getElementTypeBitWidth()));
  };
  auto isFloat = [](Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value.getType()));
  };
  Value value = bitcast.getSource();
  auto type = cast<RankedTensorType>(bitcast.getType());
  // Signs change in scalars, which is what later passes know.
  auto changeSign = [&](RankedTensorType wanted) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, value);
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, sizes, wanted.getElementType());
    AffineMap map = rewriter.getMultiDimIdentityMap(wanted.getRank());
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange(empty.getType()), value, empty,
        ArrayRef{map, map},
        SmallVector(wanted.getRank(), utils::IteratorType::parallel),
        [&](OpBuilder &builder, Location inner, ValueRange elements) {
          Value cast =
              UnrealizedConversionCastOp::create(
                  builder, inner, wanted.getElementType(), elements.front())
                  .getResult(0);
          linalg::YieldOp::create(builder, inner, cast);
        });
    value = tensor::CastOp::create(rewriter, loc, wanted, generic.getResult(0));
  };
  auto castTo = [&](RankedTensorType wanted, bool isOfFloats) {
    if (value.getType() == wanted)
      return;
    if (!isOfFloats)
      return changeSign(wanted);
    value = arith::BitcastOp::create(rewriter, loc, wanted, value);
  };
  castTo(withoutSign(value.getType()), isFloat(value));
  castTo(type, isFloat(bitcast));
  rewriter.replaceOp(bitcast, value);
}

/// True for an operation on tensors that nothing turns into one on memory.
static bool isNeverInMemory(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (!isa_and_nonnull<linalg::LinalgDialect, tensor::TensorDialect>(
          op->getDialect()) ||
      isa<bufferization::BufferizableOpInterface,
          linalg::AggregatedOpInterface>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return false;
  return llvm::any_of(op->getOperandTypes(), isTensor) ||
         llvm::any_of(op->getResultTypes(), isTensor);
}

LogicalResult decomposeTensorOperations(ModuleOp module) {
  SmallVector<Operation *> work;
  module.walk([&](Operation *op) {
    if (isa<linalg::PackOp, linalg::UnPackOp, linalg::WinogradFilterTransformOp,
            linalg::WinogradInputTransformOp, linalg::WinogradOutputTransformOp,
            tensor::GatherOp, tensor::ScatterOp, tensor::BitcastOp>(op))
      work.push_back(op);
  });
  TensorDecomposer decomposer(module.getContext());
  for (Operation *op : work) {
    op->setLoc(withOperator(op->getLoc(), op->getName().getStringRef()));
    if (failed(decomposer.decompose(op)))
      return failure();
  }
  WalkResult result = module.walk([](Operation *op) {
    if (!isNeverInMemory(op))
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' on tensors is not compiled; expected what it "
                          "stands for, as linalg.generic";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace numera
