// SPDX-License-Identifier: MIT
//
// One forward walk in program order. After an operation that is not understood,
// the sample may change along every dimension. A user that needs the sample
// then fails, and a reduction over these dimensions removes it.
//
// Not with upstream's sparse data-flow framework: it joins what all calls of a
// function give an argument, while calls that differ have to be told apart here
// from a place that is unknown (isAmbiguous). It would replace the lines on
// control flow (BatchControlFlow.cpp); the rest are the rules of operations.

#include "BatchAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace numera {

BatchPlace join(BatchPlace x, BatchPlace y) {
  if (x.isNone() || x == y)
    return y;
  if (y.isNone())
    return x;
  if (x.dims == y.dims && x.isKnown() && y.isKnown() && x.agrees(y))
    return x.isGuess ? y : x;
  return BatchPlace::unknown(x.dims | y.dims);
}

static BatchPlace everywhere(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return {};
  return BatchPlace::unknown(llvm::maskTrailingOnes<uint64_t>(
      std::min<int64_t>(tensor.getRank(), 64)));
}

static std::optional<int64_t> rowsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return std::nullopt;
  return tensor.getDimSize(0);
}

/// The size of the batch: a dynamic first dimension of an argument, else the
/// first of the first argument that has more dimensions than one.
static std::optional<int64_t> batchOf(func::FuncOp function) {
  std::optional<int64_t> batch;
  for (Type type : function.getArgumentTypes()) {
    std::optional<int64_t> rows = rowsOf(type);
    if (!rows)
      continue;
    bool hasRows = cast<RankedTensorType>(type).getRank() > 1;
    if (ShapedType::isDynamic(*rows) || (hasRows && !batch))
      batch = rows;
  }
  return batch;
}

/// The arguments that have the batch agree in its size.
static SmallVector<BatchPlace> placesAtEntry(func::FuncOp function,
                                             std::optional<int64_t> batch) {
  SmallVector<BatchPlace> places;
  for (Type type : function.getArgumentTypes())
    places.push_back(batch && rowsOf(type) == batch ? BatchPlace::at(0)
                                                    : BatchPlace());
  return places;
}

BatchAnalysis::BatchAnalysis(ModuleOp module, bool hasBatch) {
  auto all = [&](bool isPublic) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isPublic() != isPublic || function.isExternal() ||
          called.contains(function))
        continue;
      std::optional<int64_t> size = hasBatch ? batchOf(function) : std::nullopt;
      isOneSample = size == 1;
      analyse(function, placesAtEntry(function, size));
    }
  };
  all(/*isPublic=*/true); // what those call is analysed on the way
  all(/*isPublic=*/false);
}

SmallVector<BatchPlace> BatchAnalysis::placesOf(ValueRange range) const {
  return llvm::map_to_vector(range,
                             [&](Value value) { return values.lookup(value); });
}

void BatchAnalysis::assign(ValueRange range, const Places &list) {
  for (auto [value, place] : llvm::zip(range, list))
    if (!place.isNone())
      values[value] = place;
    else
      values.erase(value);
}

BatchAnalysis::Places BatchAnalysis::analyse(func::FuncOp function,
                                             const Places &arguments) {
  auto found = called.find(function);
  if (found != called.end()) {
    if (found->second != arguments || hasOneSample(function) != isOneSample)
      ambiguous.insert(function);
    auto result = returned.find(function);
    if (result != returned.end())
      return result->second;
    return llvm::map_to_vector(function.getResultTypes(), everywhere);
  }
  called[function] = arguments;
  if (isOneSample)
    single.insert(function);
  assign(function.getArguments(), arguments);
  Places results(function.getNumResults());
  for (Block &block : function.getBody()) {
    visit(block);
    if (auto exit = dyn_cast<func::ReturnOp>(block.getTerminator()))
      for (auto [result, place] :
           llvm::zip(results, placesOf(exit.getOperands())))
        result = join(result, place);
  }
  returned[function] = results;
  return results;
}

void BatchAnalysis::visit(Block &block) {
  for (Operation &op : block) {
    visit(&op);
    // A part of the one sample is of that sample.
    bool isOfSample =
        isOneSample && llvm::any_of(op.getOperands(), [&](Value operand) {
          return values.contains(operand);
        });
    for (Value result : op.getResults())
      if (isOfSample && !values.contains(result))
        assign(result, {everywhere(result.getType())});
  }
}

void BatchAnalysis::visit(Operation *op) {
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return visitLinalg(linalg);
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(call);
  if (isa<tensor::EmptyOp, tensor::DimOp, arith::MulIOp>(op))
    return visitEmpty(op);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return visitReshape(op);
  if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::PadOp,
          tensor::ConcatOp>(op))
    return visitSlice(op);
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return visitBranch(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return visitLoop(loop);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visit(block);
  // Elementwise operations keep the place. Of others nothing is known.
  BatchPlace all;
  for (BatchPlace place : placesOf(op->getOperands()))
    all = join(all, place);
  bool keeps =
      OpTrait::hasElementwiseMappableTraits(op) || isa<tensor::CastOp>(op);
  for (Value result : op->getResults())
    if (!all.isNone() && isa<RankedTensorType>(result.getType()))
      values[result] = keeps ? all : everywhere(result.getType());
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

static uint64_t loopsIn(AffineExpr expression) {
  uint64_t mask = 0;
  expression.walk([&](AffineExpr inner) {
    if (auto dim = dyn_cast<AffineDimExpr>(inner))
      mask |= uint64_t{1} << dim.getPosition();
  });
  return mask;
}

namespace {
/// Collects what operands say about the loops of an operation.
struct Candidates {
  SmallVector<BatchPlace> known;
  uint64_t unknown = 0;

  void add(BatchPlace place, AffineMap map) {
    if (place.isKnown()) {
      auto loop = dyn_cast<AffineDimExpr>(map.getResult(place.dim()));
      if (loop) {
        known.push_back(place.moved(loop.getPosition()));
        return;
      }
    }
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      if (place.dims >> i & 1)
        unknown |= loopsIn(map.getResult(i));
  }

  /// A body may read a tensor that is no operand.
  void add(BatchPlace place, tensor::ExtractOp extract, unsigned loops) {
    if (place.isNone())
      return;
    auto index =
        place.isKnown()
            ? extract.getIndices()[place.dim()].getDefiningOp<linalg::IndexOp>()
            : linalg::IndexOp();
    if (index)
      known.push_back(place.moved(index.getDim()));
    else
      unknown |= llvm::maskTrailingOnes<uint64_t>(std::min(loops, 64u));
  }

  /// The first parallel loop, else the first; by values, else by sizes.
  BatchPlace choose(ArrayRef<utils::IteratorType> iterators) const {
    const BatchPlace *chosen = nullptr;
    for (const BatchPlace &place : known) {
      bool isParallel = iterators[place.dim()] == utils::IteratorType::parallel;
      if (!chosen ||
          (isParallel &&
           iterators[chosen->dim()] != utils::IteratorType::parallel) ||
          (place.dims == chosen->dims && chosen->isGuess))
        chosen = &place;
    }
    if (!chosen)
      return BatchPlace::unknown(unknown);
    bool isContradicted =
        (unknown & chosen->dims) != 0 ||
        llvm::any_of(known, [&](const BatchPlace &place) {
          return place.dims == chosen->dims && !place.agrees(*chosen);
        });
    return isContradicted ? BatchPlace::unknown(unknown | chosen->dims)
                          : *chosen;
  }
};
} // namespace

void BatchAnalysis::visitLinalg(linalg::LinalgOp op) {
  Candidates candidates;
  for (OpOperand &operand : op->getOpOperands())
    candidates.add(values.lookup(operand.get()),
                   op.getMatchingIndexingMap(&operand));
  op->walk([&](tensor::ExtractOp extract) {
    candidates.add(values.lookup(extract.getTensor()), extract,
                   op.getNumLoops());
  });
  BatchPlace place = candidates.choose(op.getIteratorTypesArray());
  loops[op] = place;
  for (OpResult result : op->getResults()) {
    AffineMap map = op.getMatchingIndexingMap(
        op.getDpsInitOperand(result.getResultNumber()));
    BatchPlace out;
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      if ((loopsIn(map.getResult(i)) & place.dims) == 0)
        continue;
      bool isPlain = place.isKnown() && isa<AffineDimExpr>(map.getResult(i));
      out = join(out, isPlain ? place.moved(i)
                              : BatchPlace::unknown(uint64_t{1} << i));
    }
    assign(result, {out});
  }
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// An empty tensor has no values, but its sizes tell which loop over it is the
/// batch's.
void BatchAnalysis::visitEmpty(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    BatchPlace place = values.lookup(dim.getSource());
    if (place.isKnown() && getConstantIntValue(dim.getIndex()) ==
                               static_cast<int64_t>(place.dim()))
      sizes[dim.getResult()] = place.outer * place.inner;
    return;
  }
  if (auto mul = dyn_cast<arith::MulIOp>(op)) {
    for (auto [size, factor] : {std::pair(mul.getLhs(), mul.getRhs()),
                                std::pair(mul.getRhs(), mul.getLhs())})
      if (auto constant = getConstantIntValue(factor);
          constant && sizes.contains(size))
        sizes[mul.getResult()] = sizes.lookup(size) * *constant;
    return;
  }
  auto empty = cast<tensor::EmptyOp>(op);
  BatchPlace place;
  for (auto [i, size] : llvm::enumerate(empty.getMixedSizes()))
    if (auto value = dyn_cast<Value>(size))
      if (int64_t inner = sizes.lookup(value))
        place = join(place, BatchPlace::guess(i, inner));
  assign(empty.getResult(), {place});
}

/// The size of several dimensions together; 0 if it is not known.
static int64_t productOf(ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= ShapedType::isDynamic(shape[dim]) ? 0 : shape[dim];
  return product;
}

/// Dimension `group` of a tensor is `dims` of another: the place in the latter.
/// `samplesOf` tells how many of a dimension there are for a sample, or 0.
static BatchPlace expand(BatchPlace place, ArrayRef<int64_t> dims,
                         ArrayRef<int64_t> shape,
                         function_ref<int64_t(int64_t)> samplesOf) {
  uint64_t all = 0;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    all |= uint64_t{1} << dim;
    int64_t before = productOf(dims.take_front(i), shape),
            behind = productOf(dims.drop_front(i + 1), shape);
    if (!place.isKnown() || behind == 0)
      continue;
    if (place.outer == 0 && place.inner % behind == 0 &&
        samplesOf(dim) == place.inner / behind)
      return BatchPlace::at(dim, place.inner / behind);
    if (place.outer == 0 || before == 0)
      continue;
    if (place.isGuess && place.inner % (before * behind) == 0)
      return BatchPlace::guess(dim, place.inner / (before * behind));
    if (place.outer % before == 0 && place.inner % behind == 0)
      return BatchPlace::at(dim, place.inner / behind, place.outer / before);
  }
  return BatchPlace::unknown(all);
}

/// The reverse: the dimension that has the batch is one of `dims`, which become
/// dimension `group`.
static BatchPlace collapse(BatchPlace place, unsigned group,
                           ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  for (auto [i, dim] : llvm::enumerate(dims)) {
    int64_t before = productOf(dims.take_front(i), shape),
            behind = productOf(dims.drop_front(i + 1), shape);
    if (!place.isKnown() || place.dim() != dim || behind == 0)
      continue;
    if (place.isGuess && before == 0)
      break;
    if (place.isGuess)
      return BatchPlace::guess(group, place.inner * before * behind);
    return BatchPlace::at(group, place.inner * behind, place.outer * before);
  }
  return BatchPlace::unknown(uint64_t{1} << group);
}

void BatchAnalysis::visitReshape(Operation *op) {
  bool collapses = isa<tensor::CollapseShapeOp>(op);
  auto groups =
      collapses ? cast<tensor::CollapseShapeOp>(op).getReassociationIndices()
                : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
  BatchPlace place = values.lookup(op->getOperand(0)), result;
  Type many =
      collapses ? op->getOperand(0).getType() : op->getResult(0).getType();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(many).getShape();
  auto samplesOfDim = [&](int64_t dim) -> int64_t {
    auto size = dyn_cast<Value>(
        cast<tensor::ExpandShapeOp>(op).getMixedOutputShape()[dim]);
    return size ? samplesOf(size) : 0;
  };
  for (auto [i, dims] : llvm::enumerate(groups)) {
    bool isIn = !collapses && (place.dims >> i & 1);
    for (int64_t dim : dims)
      isIn |= collapses && (place.dims >> dim & 1);
    if (isIn)
      result =
          join(result, collapses ? collapse(place, i, dims, shape)
                                 : expand(place, dims, shape, samplesOfDim));
  }
  assign(op->getResult(0), {result});
}

/// True if a part of a dimension starts with the first sample, and has all of
/// it where rows of a sample lie before other samples.
bool BatchAnalysis::keepsPlace(BatchPlace place,
                               OffsetSizeAndStrideOpInterface part, unsigned i,
                               int64_t whole) const {
  if (!place.isKnown() || !isZeroInteger(part.getMixedOffsets()[i]) ||
      !isOneInteger(part.getMixedStrides()[i]))
    return false;
  OpFoldResult size = part.getMixedSizes()[i];
  if (place.outer == 1 ||
      (!ShapedType::isDynamic(whole) && getConstantIntValue(size) == whole))
    return true;
  auto value = dyn_cast<Value>(size);
  return value && place.outer != 0 &&
         samplesOf(value) == place.outer * place.inner;
}

/// The place in a part of a tensor, of which dimension `dim` of the whole is
/// `dims[dim]`, or -1 for none.
BatchPlace BatchAnalysis::placeInSlice(tensor::ExtractSliceOp slice,
                                       ArrayRef<int64_t> dims) const {
  BatchPlace place = values.lookup(slice.getSource()), result;
  for (unsigned i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || !(place.dims >> i & 1))
      continue;
    bool isPlain =
        keepsPlace(place, slice, i, slice.getSourceType().getDimSize(i));
    result =
        join(result, isPlain ? place.moved(dims[i])
                             : BatchPlace::unknown(uint64_t{1} << dims[i]));
  }
  return result;
}

static SmallVector<int64_t> keptDims(const llvm::SmallBitVector &dropped) {
  SmallVector<int64_t> dims;
  int64_t next = 0;
  for (unsigned i = 0; i < dropped.size(); ++i)
    dims.push_back(dropped.test(i) ? -1 : next++);
  return dims;
}

void BatchAnalysis::visitSlice(Operation *op) {
  BatchPlace place;
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    place = placeInSlice(extract, keptDims(extract.getDroppedDims()));
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    SmallVector<int64_t> kept = keptDims(insert.getDroppedDims());
    BatchPlace source = values.lookup(insert.getSource());
    place = values.lookup(insert.getDest());
    for (auto [i, dim] : llvm::enumerate(kept)) {
      if (dim < 0 || !(source.dims >> dim & 1))
        continue;
      bool isPlain =
          keepsPlace(source, insert, i, insert.getDestType().getDimSize(i));
      place = join(place, isPlain ? source.moved(i)
                                  : BatchPlace::unknown(uint64_t{1} << i));
    }
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    place = values.lookup(pad.getSource());
    if (place.isKnown() &&
        (!isZeroInteger(pad.getMixedLowPad()[place.dim()]) ||
         (place.outer != 1 &&
          !isZeroInteger(pad.getMixedHighPad()[place.dim()]))))
      place = BatchPlace::unknown(place.dims);
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    for (BatchPlace input : placesOf(concat.getInputs()))
      place = join(place, input);
    if (place.isKnown() && place.dim() == concat.getDim())
      place = BatchPlace::unknown(place.dims);
  }
  assign(op->getResult(0), {place});
}

} // namespace numera
