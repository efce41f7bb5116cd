// SPDX-License-Identifier: MIT

#include "SharedLoops.h"
#include "CounterRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace numera {

using Terms = llvm::function_ref<SmallVector<Value>(
    OpBuilder &, ValueRange elements, ValueRange scalars)>;

Value asMatrix(OpBuilder &builder, Location loc, Value tensor) {
  constexpr int64_t longEnough = 1024;
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  SmallVector<ReassociationIndices> groups;
  if (rank < 2) {
    if (rank == 1)
      groups = {{0, 1}};
    SmallVector<OpFoldResult> sizes(2, builder.getIndexAttr(1));
    if (rank == 1)
      sizes[1] = tensor::getMixedSize(builder, loc, tensor, 0);
    SmallVector<int64_t> shape = {1, rank == 1 ? type.getDimSize(0) : 1};
    tensor = tensor::ExpandShapeOp::create(builder, loc, type.clone(shape),
                                           tensor, groups, sizes);
  } else {
    int64_t split = rank - 1, length = type.getDimSize(split);
    while (split > 1 && !ShapedType::isDynamic(length) && length < longEnough &&
           !type.isDynamicDim(split - 1))
      length *= type.getDimSize(--split);
    groups.resize(2);
    for (int64_t i = 0; i < rank; ++i)
      groups[i >= split].push_back(i);
    tensor = tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
  }
  return tensor::CastOp::create(
      builder, loc, type.clone({ShapedType::kDynamic, ShapedType::kDynamic}),
      tensor);
}

/// Along the last axis.
static SmallVector<Value> foldLast(OpBuilder &builder, Location loc,
                                   ValueRange tensors, ValueRange scalars,
                                   ArrayRef<Fold> folds, Terms terms) {
  auto sizes = tensor::getMixedSizes(builder, loc, tensors.front());
  auto rank = unsigned(sizes.size());
  SmallVector<Value> inits;
  for (const Fold &fold : folds) {
    Value start = arith::ConstantOp::create(builder, loc, fold.start);
    Value empty = tensor::EmptyOp::create(
        builder, loc, ArrayRef(sizes).drop_back(), start.getType());
    inits.push_back(
        linalg::FillOp::create(builder, loc, start, empty).getResult(0));
  }
  AffineMap all = builder.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps(tensors.size(), all);
  maps.append(inits.size(), all.dropResult(rank - 1));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      builder, loc, ValueRange(inits).getTypes(), tensors, inits, maps, loops,
      [&](OpBuilder &at, Location, ValueRange elements) {
        SmallVector<Value> made =
            terms(at, elements.take_front(tensors.size()), scalars);
        for (auto [fold, term, before] :
             llvm::zip_equal(folds, made, elements.take_back(folds.size())))
          term = fold.combine(at, loc, term, before);
        linalg::YieldOp::create(at, loc, made);
      });
  return SmallVector<Value>(generic.getResults());
}

static func::FuncOp createFunction(OpBuilder &builder, Location loc,
                                   StringRef name, FunctionType type,
                                   size_t tensors, ArrayRef<Fold> folds,
                                   Terms terms) {
  auto function = func::FuncOp::create(builder, loc, name, type);
  function.setPrivate();
  for (unsigned i = 0; i < tensors; ++i)
    function.setArgAttr(i, anyOrderAttribute, builder.getI64IntegerAttr(0));
  Block *body = function.addEntryBlock();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  ValueRange arguments = body->getArguments();
  // The rows are parallel.
  SmallVector<Value> parts =
      foldLast(builder, loc, arguments.take_front(tensors),
               arguments.drop_front(tensors), folds, terms);
  parts = foldLast(builder, loc, parts, {}, folds,
                   [](OpBuilder &, ValueRange elements, ValueRange) {
                     return SmallVector<Value>(elements);
                   });
  for (Value &part : parts)
    part = tensor::ExtractOp::create(builder, loc, part, ValueRange());
  func::ReturnOp::create(builder, loc, parts);
  function.walk([](FormatOpInterface own) {
    own->setAttr(uncountedAttribute, UnitAttr::get(own->getContext()));
  });
  return function;
}

SmallVector<Value> foldAll(OpBuilder &builder, Location loc, StringRef name,
                           ValueRange tensors, ValueRange scalars,
                           ArrayRef<Fold> folds, Terms terms) {
  SmallVector<Value> operands;
  for (Value tensor : tensors)
    operands.push_back(asMatrix(builder, loc, tensor));
  llvm::append_range(operands, scalars);
  SmallVector<Type> results;
  for (const Fold &fold : folds)
    results.push_back(fold.start.getType());
  FunctionType type =
      builder.getFunctionType(ValueRange(operands).getTypes(), results);
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  func::FuncOp function;
  std::string symbol = ("numera." + name).str();
  Operation *found;
  while ((found = module.lookupSymbol(symbol))) {
    function = dyn_cast<func::FuncOp>(found);
    if (function && function.isPrivate() && function.getFunctionType() == type)
      break;
    symbol += "_";
  }
  if (!found) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    function = createFunction(builder, module.getLoc(), symbol, type,
                              tensors.size(), folds, terms);
  }
  return SmallVector<Value>(
      func::CallOp::create(builder, loc, function, operands).getResults());
}

} // namespace numera
