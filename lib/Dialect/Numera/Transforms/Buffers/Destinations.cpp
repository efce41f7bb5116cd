// SPDX-License-Identifier: MIT
//
// Destination passing for public functions. A caller has memory for results, or
// the entry allocates it. So the function writes results there: a copy of a
// result would cost as much as a whole elementwise operation.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERADESTINATIONS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {
/// A dimension of an argument of the function.
struct Source {
  int64_t argument = -1, dimension = -1;
};
} // namespace

static bool isInput(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Where a dynamic size comes from. What it creates on the way is left behind.
static std::optional<Source> sourceOf(OpBuilder &builder, Value tensor,
                                      int64_t dimension) {
  while (auto result = dyn_cast<OpResult>(tensor)) {
    Operation *op = result.getOwner();
    builder.setInsertionPointAfter(op);
    FailureOr<OpFoldResult> size = reifyDimOfResult(
        builder, op, int(result.getResultNumber()), int(dimension));
    if (failed(size) || !isa<Value>(*size))
      return std::nullopt;
    Value same = cast<Value>(*size);
    // A reshape gives the product of one size.
    if (auto apply = same.getDefiningOp<affine::AffineApplyOp>();
        apply && apply.getMapOperands().size() == 1 &&
        isa<AffineDimExpr, AffineSymbolExpr>(apply.getAffineMap().getResult(0)))
      same = apply.getMapOperands()[0];
    auto dim = same.getDefiningOp<tensor::DimOp>();
    std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
    if (!index)
      return std::nullopt;
    tensor = dim.getSource();
    dimension = *index;
  }
  if (!isInput(tensor))
    return std::nullopt;
  return Source{cast<BlockArgument>(tensor).getArgNumber(), dimension};
}

/// What the attribute says of a destination: the source of each size, or -1, -1
/// where the type has it.
static std::optional<SmallVector<int64_t>> sourcesOf(OpBuilder &builder,
                                                     Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return std::nullopt;
  SmallVector<int64_t> sources;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    std::optional<Source> source = Source();
    if (type.isDynamicDim(d))
      source = sourceOf(builder, tensor, d);
    if (!source)
      return std::nullopt;
    sources.append({source->argument, source->dimension});
  }
  return sources;
}

/// A result that is another tensor in a different shape is written as that one,
/// to a view of its destination, so that no copy is left.
static void writeReshaped(OpBuilder &builder, Value &tensor,
                          Value &destination) {
  auto viewAs = [&](auto reshape, auto *view) {
    using View = std::remove_pointer_t<decltype(view)>;
    RankedTensorType type = reshape.getSrcType();
    if (!type.hasStaticShape() || !reshape.getResultType().hasStaticShape())
      return false;
    auto buffer = MemRefType::get(type.getShape(), type.getElementType());
    destination = View::create(builder, reshape.getLoc(), buffer, destination,
                               reshape.getReassociationIndices());
    tensor = reshape.getSrc();
    return true;
  };
  for (bool isMore = true; isMore;) {
    isMore = false;
    if (auto collapse = tensor.getDefiningOp<tensor::CollapseShapeOp>())
      isMore = viewAs(collapse, static_cast<memref::ExpandShapeOp *>(nullptr));
    else if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>())
      isMore = viewAs(expand, static_cast<memref::CollapseShapeOp *>(nullptr));
  }
}

/// The same tensor once more.
static Value duplicate(OpBuilder &builder, Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return builder.clone(*fill)->getResult(0);
  Location loc = tensor.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, tensor),
      type.getElementType());
  return linalg::CopyOp::create(builder, loc, tensor, empty).getResult(0);
}

/// Whether `use` keeps its tensor until the function returns: as another tensor
/// in the same memory, or by itself.
static bool isKeptBy(const bufferization::AnalysisState &state,
                     OpOperand &use) {
  return isa<func::ReturnOp, bufferization::MaterializeInDestinationOp>(
             use.getOwner()) ||
         state.getAliasingValues(use).getNumAliases() > 0;
}

static bool isInLoop(Value value) {
  for (Region *region = value.getParentRegion(); region;
       region = region->getParentRegion()) {
    if (isa<LoopLikeOpInterface>(region->getParentOp()))
      return true;
  }
  return false;
}

/// Has the tensors that `result` is written over, one after the other, serve it
/// alone. Bufferization lets all of them have the memory of its destination,
/// and it does not see that another result which begins with one of them would
/// be there too when the destination is written. What a loop makes in one step
/// stays as it is: it leaves the loop only as the equivalent of an argument.
static void beginAlone(OpBuilder &builder, OpOperand &result) {
  bufferization::BufferizationOptions options;
  bufferization::AnalysisState state(options);
  bufferization::TraversalConfig config;
  config.alwaysIncludeLeaves = false;
  config.followSameTypeOrCastsOnly = true;
  auto isShared = [&](Value value) {
    if (value == result.get() || value.getDefiningOp<tensor::EmptyOp>() ||
        isInLoop(value))
      return false;
    if (isInput(value))
      return true;
    auto isKept = [&](OpOperand &use) { return isKeptBy(state, use); };
    return llvm::count_if(value.getUses(), isKept) > 1;
  };
  for (;;) {
    llvm::DenseSet<OpOperand *> uses;
    SetVector<Value> shared =
        state.findValueInReverseUseDefChain(&result, isShared, config, &uses);
    if (shared.empty())
      return;
    for (Value value : shared) {
      for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
        if (!uses.contains(&use))
          continue;
        builder.setInsertionPoint(use.getOwner());
        use.set(duplicate(builder, value));
      }
    }
  }
}

/// Gives the function an argument for each result whose sizes are known when it
/// is called.
static void passDestinations(func::FuncOp function) {
  auto terminator =
      cast<func::ReturnOp>(function.getBody().front().getTerminator());
  OpBuilder builder(function.getContext());
  SmallVector<Attribute> destinations;
  llvm::BitVector placed(function.getNumResults());
  SmallVector<OpOperand *> written;
  for (auto [i, result] : llvm::enumerate(terminator.getOperands())) {
    std::optional<SmallVector<int64_t>> sources = sourcesOf(builder, result);
    if (!sources) {
      destinations.push_back(builder.getUnitAttr());
      continue;
    }
    destinations.push_back(builder.getDenseI64ArrayAttr(*sources));
    placed.set(i);
    auto tensor = cast<RankedTensorType>(result.getType());
    auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
    unsigned last = function.getNumArguments();
    if (failed(function.insertArgument(last, type, {}, result.getLoc())))
      llvm_unreachable("the type of a function can change");
    builder.setInsertionPointToStart(&function.getBody().front());
    Value source = result, destination = function.getArgument(last);
    writeReshaped(builder, source, destination);
    builder.setInsertionPoint(terminator);
    auto materialize = bufferization::MaterializeInDestinationOp::create(
        builder, result.getLoc(), TypeRange(), source, destination,
        /*restrict=*/true, /*writable=*/true);
    written.push_back(&materialize.getSourceMutable());
  }
  terminator->eraseOperands(placed);
  if (failed(function.eraseResults(placed)))
    llvm_unreachable("the type of a function can change");
  for (OpOperand *result : written)
    beginAlone(builder, *result);
  function->setAttr(destinationsAttribute, builder.getArrayAttr(destinations));
}

/// Whoever calls the function keeps its inputs as they are.
static void keepInputs(func::FuncOp function) {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (isa<TensorType>(type))
      function.setArgAttr(
          unsigned(i), bufferization::BufferizationDialect::kWritableAttrName,
          BoolAttr::get(function.getContext(), false));
  }
}

namespace {
struct DestinationsPass : impl::NumeraDestinationsBase<DestinationsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      bool isCalled =
          !SymbolTable::symbolKnownUseEmpty(function, getOperation());
      if (!function.isPublic() || function.isExternal())
        continue;
      keepInputs(function);
      if (!isCalled && llvm::hasSingleElement(function.getBody()))
        passDestinations(function);
    }
  }
};
} // namespace

} // namespace numera
