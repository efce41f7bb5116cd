// SPDX-License-Identifier: MIT
//
//   %y = convolution(%x, %filter) : tensor<1x64x56x56xf32>
//   %z = relu(%y)
//     becomes
//   %y = convolution(%x, %filter) : tensor<1x56x56x64xf32>
//   %z = relu(%y)
//
// From convolutions on, what is computed of their results has its channels last
// in memory, until something needs the written order. No number changes: loops
// go over the same elements, and each sum has its steps in the same order.
//
// A pixel's channels lie side by side then. The direct kernel
// (runtime/kernels/DirectContraction.cpp) takes the steps of a row from a few
// lines of a cache, and stores sums as whole vectors; windows, pools and
// additions of a bias have channels for lanes, of which there are as many in
// the smallest image as in the largest.

#include "Channels.h"
#include "Statistics/SharedLoops.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERACHANNELSLAST
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// The same elements in another order.
struct Twin {
  Value value;
  Channels channels;
};

class Mover {
public:
  explicit Mover(MLIRContext *context) : rewriter(context) {}

  void move(func::FuncOp function);

private:
  void visit(Operation *op);
  void visit(linalg::GenericOp generic);
  void visit(tensor::PadOp pad);
  void visit(tensor::CollapseShapeOp collapse);
  void visit(tensor::ExpandShapeOp expand);
  void visit(tensor::ExtractSliceOp slice);
  void visit(tensor::InsertSliceOp insert);
  void visit(tensor::DimOp dim);
  void visit(func::CallOp call);

  const Twin *twinOf(Value value) const {
    auto found = twins.find(value);
    return found == twins.end() ? nullptr : &found->second;
  }
  const Twin *twinBehind(Value value) const;
  /// The dimensions of the result that will be last.
  std::optional<Channels> channelsOf(linalg::GenericOp generic) const;
  /// The elements of a value in another order, if that costs nothing.
  Value knownIn(Value value, Channels channels);
  Value emptyIn(Value value, Channels channels);
  void replace(Operation *op, Value twin, Channels channels);
  /// Returns what may lie in any order as it does.
  void returnAsTheyLie(func::FuncOp function);

  IRRewriter rewriter;
  llvm::MapVector<Value, Twin> twins;
};

} // namespace

std::optional<Channels> Mover::channelsOf(linalg::GenericOp generic) const {
  AffineMap result = generic.getIndexingMapsArray().back();
  if (!result.isProjectedPermutation())
    return std::nullopt;
  SmallVector<unsigned> loops = filterLoops(generic);
  for (OpOperand *operand : generic.getDpsInputOperands())
    if (const Twin *twin = twinOf(operand->get()))
      if (auto own =
              loopsOf(generic.getMatchingIndexingMap(operand), twin->channels))
        for (unsigned loop : *own)
          if (result.isFunctionOfDim(loop) && !llvm::is_contained(loops, loop))
            loops.push_back(loop);
  return rangeOf(result, loops);
}

Value Mover::emptyIn(Value value, Channels channels) {
  auto type = channels.move(cast<RankedTensorType>(value.getType()));
  auto empty = value.getDefiningOp<tensor::EmptyOp>();
  SmallVector<OpFoldResult> sizes =
      empty ? empty.getMixedSizes()
            : tensor::getMixedSizes(rewriter, value.getLoc(), value);
  return tensor::EmptyOp::create(rewriter, value.getLoc(),
                                 channels.move(ArrayRef<OpFoldResult>(sizes)),
                                 type.getElementType());
}

Value Mover::knownIn(Value value, Channels channels) {
  if (const Twin *twin = twinOf(value))
    return twin->channels == channels ? twin->value : Value();
  if (value.getDefiningOp<tensor::EmptyOp>())
    return emptyIn(value, channels);
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(rewriter, fill.getLoc(), fill.getInputs(),
                                  emptyIn(fill.getOutputs()[0], channels))
        .getResult(0);
  ElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return {};
  ElementsAttr moved = channels.move(elements);
  return moved ? arith::ConstantOp::create(rewriter, value.getLoc(),
                                           cast<TypedAttr>(moved))
               : Value();
}

void Mover::replace(Operation *op, Value twin, Channels channels) {
  twins.insert({op->getResult(0), Twin{twin, channels}});
}

void Mover::visit(linalg::GenericOp generic) {
  if (!generic.hasPureTensorSemantics() || generic->getNumResults() != 1)
    return;
  bool hasTwin = llvm::any_of(generic.getDpsInputs(),
                              [&](Value value) { return twinOf(value); });
  std::optional<Channels> channels = channelsOf(generic);
  auto type = cast<RankedTensorType>(generic.getResult(0).getType());
  if (channels) {
    int64_t extent = 1;
    for (int64_t size : type.getShape().slice(channels->first, channels->count))
      extent *= ShapedType::isDynamic(size) ? 0 : size;
    // Filters come first in their own gradient.
    if (extent < fewestChannels || type.getRank() < 3 || channels->first == 0)
      channels.reset();
  }
  if (!hasTwin && !channels)
    return;
  size_t rank = size_t(type.getRank());
  bool moves = channels && !channels->areLast(rank);
  if (!hasTwin && !moves)
    return;
  Value init;
  if (moves) {
    init = knownIn(generic.getDpsInits()[0], *channels);
    if (!init)
      moves = false;
  }
  if (!moves)
    init = generic.getDpsInits()[0];

  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  SmallVector<unsigned> shared, filters = filterLoops(generic);
  if (channels)
    shared = *loopsOf(maps.back(), *channels);
  SmallVector<Value> inputs;
  for (auto [i, input] : llvm::enumerate(generic.getDpsInputs())) {
    const Twin *twin = twinOf(input);
    Value value = input;
    if (twin) {
      value = twin->value;
      maps[i] = twin->channels.move(maps[i]);
    } else if (auto own = moves ? rangeOf(maps[i], shared) : std::nullopt;
               own && !own->areLast(maps[i].getNumResults()) &&
               llvm::none_of(filters, [&, &map = maps[i]](unsigned loop) {
                 return map.isFunctionOfDim(loop);
               })) {
      if (Value known = knownIn(input, *own)) {
        value = known;
        maps[i] = own->move(maps[i]);
      }
    }
    inputs.push_back(value);
  }
  if (moves)
    maps.back() = channels->move(maps.back());
  auto moved = linalg::GenericOp::create(rewriter, generic.getLoc(),
                                         init.getType(), inputs, init, maps,
                                         generic.getIteratorTypesArray());
  for (NamedAttribute attribute : generic->getDiscardableAttrs())
    moved->setDiscardableAttr(attribute.getName(), attribute.getValue());
  rewriter.cloneRegionBefore(generic.getRegion(), moved.getRegion(),
                             moved.getRegion().begin());
  if (!moves) {
    rewriter.replaceOp(generic, moved);
    return;
  }
  // Loops in the order of the result's dimensions, then those of sums.
  SmallVector<unsigned> order;
  for (AffineExpr expr : maps.back().getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop)
    if (!llvm::is_contained(order, loop))
      order.push_back(loop);
  moved = *linalg::interchangeGenericOp(rewriter, moved, order);
  replace(generic, moved.getResult(0), *channels);
}

void Mover::visit(tensor::PadOp pad) {
  const Twin *twin = twinOf(pad.getSource());
  Value value = pad.getConstantPaddingValue();
  if (!twin || !value)
    return;
  // A constant of the body's own.
  if (pad.getRegion().isAncestor(value.getParentRegion()))
    value = rewriter.clone(*value.getDefiningOp())->getResult(0);
  SmallVector<OpFoldResult> low = pad.getMixedLowPad();
  SmallVector<OpFoldResult> high = pad.getMixedHighPad();
  Channels channels = twin->channels;
  Value moved = tensor::PadOp::create(
      rewriter, pad.getLoc(), channels.move(pad.getResultType()), twin->value,
      channels.move(ArrayRef<OpFoldResult>(low)),
      channels.move(ArrayRef<OpFoldResult>(high)), value);
  replace(pad, moved, channels);
}

void Mover::visit(tensor::CollapseShapeOp collapse) {
  const Twin *twin = twinOf(collapse.getSrc());
  if (!twin)
    return;
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  // The dimensions of the result that are channels alone.
  unsigned first = 0, count = 0;
  for (auto [i, group] : llvm::enumerate(groups)) {
    auto inside = llvm::count_if(group, [&](int64_t dimension) {
      return twin->channels.contains(unsigned(dimension));
    });
    if (inside == 0)
      continue;
    if (size_t(inside) != group.size())
      return;
    first = count > 0 ? first : unsigned(i);
    ++count;
  }
  if (count == 0)
    return; // no dimension is left
  Channels channels = {first, count};
  auto moved = moveGroups(groups, channels);
  Value value = tensor::CollapseShapeOp::create(
      rewriter, collapse.getLoc(), channels.move(collapse.getResultType()),
      twin->value, moved.first);
  replace(collapse, value, channels);
}

void Mover::visit(tensor::ExpandShapeOp expand) {
  const Twin *twin = twinOf(expand.getSrc());
  if (!twin)
    return;
  auto moved = moveGroups(expand.getReassociationIndices(), twin->channels);
  Channels channels = moved.second;
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  Value value = tensor::ExpandShapeOp::create(
      rewriter, expand.getLoc(), channels.move(expand.getResultType()),
      twin->value, moved.first, channels.move(ArrayRef<OpFoldResult>(sizes)));
  replace(expand, value, channels);
}

void Mover::visit(tensor::ExtractSliceOp slice) {
  const Twin *twin = twinOf(slice.getSource());
  if (!twin || slice.getType().getRank() != slice.getSourceType().getRank())
    return;
  Channels channels = twin->channels;
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  SmallVector<OpFoldResult> strides = slice.getMixedStrides();
  Value value = tensor::ExtractSliceOp::create(
      rewriter, slice.getLoc(), channels.move(slice.getType()), twin->value,
      channels.move(ArrayRef<OpFoldResult>(offsets)),
      channels.move(ArrayRef<OpFoldResult>(sizes)),
      channels.move(ArrayRef<OpFoldResult>(strides)));
  replace(slice, value, channels);
}

void Mover::visit(tensor::InsertSliceOp insert) {
  const Twin *twin = twinOf(insert.getSource());
  const Twin *into = twinOf(insert.getDest());
  if ((!twin && !into) ||
      insert.getSourceType().getRank() != insert.getDestType().getRank())
    return;
  Channels channels = twin ? twin->channels : into->channels;
  Value dest = knownIn(insert.getDest(), channels);
  if (!dest)
    return;
  Value source = knownIn(insert.getSource(), channels);
  if (!source) {
    SmallVector<int64_t> order =
        channels.order(size_t(insert.getSourceType().getRank()));
    source = linalg::TransposeOp::create(
                 rewriter, insert.getLoc(), insert.getSource(),
                 emptyIn(insert.getSource(), channels), order)
                 ->getResult(0);
  }
  SmallVector<OpFoldResult> offsets = insert.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = insert.getMixedSizes();
  SmallVector<OpFoldResult> strides = insert.getMixedStrides();
  Value value = tensor::InsertSliceOp::create(
      rewriter, insert.getLoc(), source, dest,
      channels.move(ArrayRef<OpFoldResult>(offsets)),
      channels.move(ArrayRef<OpFoldResult>(sizes)),
      channels.move(ArrayRef<OpFoldResult>(strides)));
  replace(insert, value, channels);
}

void Mover::visit(tensor::DimOp dim) {
  const Twin *twin = twinOf(dim.getSource());
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!twin || !index)
    return;
  auto rank = size_t(cast<RankedTensorType>(twin->value.getType()).getRank());
  SmallVector<int64_t> order = twin->channels.order(rank);
  Value size = tensor::DimOp::create(rewriter, dim.getLoc(), twin->value,
                                     llvm::find(order, *index) - order.begin());
  rewriter.replaceOp(dim, size);
}

/// What has all elements of a value, with a twin if any such has one.
const Twin *Mover::twinBehind(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (const Twin *twin = twinOf(value))
      return twin;
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            op))
      break;
    value = op->getOperand(0);
  }
  return nullptr;
}

/// Passes what may lie in any order as it does.
void Mover::visit(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  llvm::MapVector<Attribute, SmallVector<OpOperand *>> together;
  for (OpOperand &operand : call->getOpOperands())
    if (Attribute number =
            callee.getArgAttr(operand.getOperandNumber(), anyOrderAttribute))
      together[number].push_back(&operand);
  for (auto &[number, operands] : together) {
    const Twin *first = twinBehind(operands.front()->get());
    if (!llvm::all_of(operands, [&](OpOperand *operand) {
          const Twin *twin = twinBehind(operand->get());
          return twin && twin->channels == first->channels &&
                 cast<ShapedType>(twin->value.getType()).getShape() ==
                     cast<ShapedType>(first->value.getType()).getShape();
        }))
      continue;
    for (OpOperand *operand : operands) {
      Value before = operand->get();
      operand->set(
          asMatrix(rewriter, call.getLoc(), twinBehind(before)->value));
      for (Operation *op = before.getDefiningOp();
           op && isOpTriviallyDead(op);) {
        Operation *next = op->getOperand(0).getDefiningOp();
        if (twinOf(op->getResult(0)))
          break;
        rewriter.eraseOp(op);
        op = next;
      }
    }
  }
}

void Mover::visit(Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    if (twinOf(transpose.getInput()))
      op = *linalg::generalizeNamedOp(rewriter, transpose);
  llvm::TypeSwitch<Operation *>(op)
      .Case<linalg::GenericOp, tensor::PadOp, tensor::CollapseShapeOp,
            tensor::ExpandShapeOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, tensor::DimOp, func::CallOp>(
          [&](auto known) { visit(known); });
}

void Mover::returnAsTheyLie(func::FuncOp function) {
  Operation *exit = function.back().getTerminator();
  llvm::MapVector<Attribute, SmallVector<OpOperand *>> together;
  for (OpOperand &result : exit->getOpOperands())
    if (Attribute number = function.getResultAttr(result.getOperandNumber(),
                                                  anyOrderAttribute))
      together[number].push_back(&result);
  SmallVector<Type> types(function.getResultTypes());
  for (auto &[number, results] : together) {
    const Twin *first = twinOf(results.front()->get());
    // Callers know sizes by their places.
    auto keepsSizes = [](RankedTensorType type, Channels channels) {
      return llvm::none_of(type.getShape().drop_front(channels.first),
                           ShapedType::isDynamic);
    };
    if (!llvm::all_of(results, [&](OpOperand *result) {
          const Twin *twin = twinOf(result->get());
          return twin && twin->channels == first->channels &&
                 keepsSizes(cast<RankedTensorType>(result->get().getType()),
                            twin->channels);
        }))
      continue;
    for (OpOperand *result : results) {
      result->set(twinOf(result->get())->value);
      types[result->getOperandNumber()] = result->get().getType();
    }
  }
  function.setFunctionType(
      rewriter.getFunctionType(function.getArgumentTypes(), types));
}

void Mover::move(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
  for (Operation *op : ops)
    visit(op);
  if (function.getBody().hasOneBlock())
    returnAsTheyLie(function);
  for (auto &[value, twin] : llvm::reverse(twins)) {
    Operation *op = value.getDefiningOp();
    if (!op->use_empty()) {
      rewriter.setInsertionPointAfterValue(twin.value);
      Value written =
          inWrittenOrder(rewriter, op->getLoc(), twin.value, twin.channels,
                         cast<RankedTensorType>(value.getType()));
      rewriter.replaceAllUsesWith(value, written);
    }
    rewriter.eraseOp(op);
  }
}

namespace {
struct ChannelsLastPass : impl::NumeraChannelsLastBase<ChannelsLastPass> {
  using NumeraChannelsLastBase::NumeraChannelsLastBase;
  void runOnOperation() override {
    SharedConstants weights;
    weights.find(getOperation());
    getOperation()->walk([&](func::FuncOp function) {
      if (isBetterWithChannelsLast(function, fewestConvolutions))
        Mover(&getContext()).move(function);
    });
    weights.eraseUnused();
  }
};
} // namespace

} // namespace numera
