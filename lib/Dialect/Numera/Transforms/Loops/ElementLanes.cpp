// SPDX-License-Identifier: MIT

#include "ElementLanes.h"
#include "Buffers/BufferUses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace numera {

bool ElementLanes::hasForm() {
  for (OpOperand *input : generic.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    if (!type)
      continue;
    auto stride = strideOfLanes(generic.getMatchingIndexingMap(input), last);
    if (!stride || *stride < 0 || *stride > 1 || !type.isLastDimUnitStride())
      return false;
  }
  auto isF32 = [](Type type) { return type.isF32(); };
  // A function has no form in lanes of more bits than its calls have.
  auto isNumber = [](Type type) {
    return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 32;
  };
  return llvm::all_of(generic.getBody()->getArgumentTypes(), isF32) &&
         llvm::all_of(generic.getBody()->without_terminator(),
                      [&](Operation &op) {
                        return OpTrait::hasElementwiseMappableTraits(&op) &&
                               llvm::all_of(op.getOperandTypes(), isNumber) &&
                               llvm::all_of(op.getResultTypes(), isNumber) &&
                               op.getNumResults() == 1;
                      });
}

Value ElementLanes::maskOf(int64_t count) {
  auto type = VectorType::get({lanes}, builder.getI1Type());
  return vector::ConstantMaskOp::create(builder, loc, type, {count});
}

Value ElementLanes::load(OpOperand &input, ArrayRef<Value> from,
                         int64_t count) {
  Value source = input.get();
  AffineMap map = generic.getMatchingIndexingMap(&input);
  if (!isa<MemRefType>(source.getType()) || *strideOfLanes(map, last) == 0)
    return vector::BroadcastOp::create(builder, loc, vectorType(),
                                       readAt(builder, generic, input, from));
  SmallVector<Value> indices = indicesAt(builder, loc, map, from);
  if (count == lanes)
    return vector::LoadOp::create(builder, loc, vectorType(), source, indices);
  Value none = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(vectorType()));
  return vector::MaskedLoadOp::create(builder, loc, vectorType(), source,
                                      indices, maskOf(count), none);
}

Value ElementLanes::compute(ArrayRef<Value> from, int64_t count,
                            OpOperand *known, Value given) {
  SmallVector<Value> inputs;
  for (OpOperand *input : generic.getDpsInputOperands())
    inputs.push_back(input == known ? given : load(*input, from, count));
  return computeFrom(inputs);
}

Value ElementLanes::computeFrom(ValueRange inputs, const IRMapping &outside) {
  IRMapping map;
  map.map(generic.getBody()->getArguments().drop_back(), inputs);
  auto typeOf = [](Value value) {
    return VectorType::get({lanes}, value.getType());
  };
  // What comes from outside of the body is the same for all.
  auto onLanes = [&](Value value) -> Value {
    Value known = map.lookupOrNull(value);
    return known ? known
                 : vector::BroadcastOp::create(builder, loc, typeOf(value),
                                               outside.lookupOrDefault(value));
  };
  Block &body = *generic.getBody();
  for (Operation &op : body.without_terminator()) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op.getOperands(), onLanes);
    Operation *vector =
        builder.create(loc, op.getName().getIdentifier(), operands,
                       typeOf(op.getResult(0)), op.getAttrs());
    map.map(op.getResult(0), vector->getResult(0));
  }
  return onLanes(body.getTerminator()->getOperand(0));
}

void ElementLanes::store(Value vector, Value buffer, ValueRange indices,
                         int64_t count) {
  if (count == lanes)
    vector::StoreOp::create(builder, loc, vector, buffer, indices);
  else
    vector::MaskedStoreOp::create(builder, loc, buffer, indices, maskOf(count),
                                  vector);
}

//===----------------------------------------------------------------------===//
// What overwrites a result
//===----------------------------------------------------------------------===//

OpOperand *overwrittenBy(linalg::GenericOp overwriter) {
  Value result = wholeBuffer(overwriter.getDpsInits()[0]);
  for (OpOperand *input : overwriter.getDpsInputOperands())
    if (wholeBuffer(input->get()) == result)
      return input;
  return nullptr;
}

/// How many dimensions of `shape`, of which the first is dynamic, the first of
/// the loops is: those that are not the others, by their number of iterations.
/// 0 if there is another dynamic one.
static unsigned dynamicDimensions(ArrayRef<int64_t> loops,
                                  ArrayRef<int64_t> shape) {
  loops = loops.drop_front();
  if (ShapedType::isDynamicShape(loops) ||
      ShapedType::isDynamicShape(shape.drop_front()))
    return 0;
  int64_t others = ShapedType::getNumElements(loops);
  for (unsigned count = 1; count <= shape.size(); ++count)
    if (ShapedType::getNumElements(shape.drop_front(count)) == others)
      return count;
  return 0;
}

/// How many dimensions of `shape` each of the loops is; nothing if they are
/// not.
static std::optional<SmallVector<unsigned>>
dimensionsOf(ArrayRef<int64_t> loops, ArrayRef<int64_t> shape) {
  SmallVector<unsigned> counts;
  for (; !loops.empty(); loops = loops.drop_front()) {
    int64_t extent = loops.front();
    unsigned count = 0;
    if (!shape.empty() && ShapedType::isDynamic(shape.front())) {
      count =
          ShapedType::isDynamic(extent) ? dynamicDimensions(loops, shape) : 0;
      if (count == 0)
        return std::nullopt;
      shape = shape.drop_front(count);
    }
    for (int64_t product = 1; count == 0 || product < extent; ++count) {
      if (shape.empty() || ShapedType::isDynamic(shape.front()))
        return std::nullopt;
      product *= shape.front();
      shape = shape.drop_front();
      if (product > extent)
        return std::nullopt;
    }
    counts.push_back(count);
  }
  bool isAll = llvm::all_of(shape, [](int64_t extent) { return extent == 1; });
  return isAll ? std::optional(counts) : std::nullopt;
}

std::optional<SmallVector<Value>> loopsAt(OpBuilder &builder,
                                          linalg::GenericOp overwriter,
                                          ArrayRef<int64_t> shape,
                                          ArrayRef<Value> indices) {
  auto counts = dimensionsOf(overwriter.getStaticLoopRanges(), shape);
  if (!counts)
    return std::nullopt;
  SmallVector<Value> loops;
  unsigned first = 0;
  for (unsigned count : *counts) {
    AffineExpr place = builder.getAffineConstantExpr(0);
    for (unsigned i = 0; i < count; ++i)
      place = place * shape[first + i] + builder.getAffineDimExpr(i);
    auto map = AffineMap::get(count, 0, place);
    llvm::append_range(loops, indicesAt(builder, overwriter.getLoc(), map,
                                        indices.slice(first, count)));
    first += count;
  }
  return loops;
}

/// Has what makes a value stand in front of `op`, as far as it is behind that
/// in its block; false if that has effects.
static bool makeBefore(Operation *op, Value value) {
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->getBlock() != op->getBlock() ||
      maker->isBeforeInBlock(op))
    return true;
  bool isFree = isMemoryEffectFree(maker) && maker->getNumRegions() == 0 &&
                llvm::all_of(maker->getOperands(), [&](Value operand) {
                  return makeBefore(op, operand);
                });
  if (isFree)
    maker->moveBefore(op);
  return isFree;
}

/// The same of all that an operation on elements reads but for one operand.
static bool makeInputsBefore(Operation *op, linalg::GenericOp elements,
                             OpOperand *known) {
  SmallVector<Value> values;
  for (OpOperand *input : elements.getDpsInputOperands())
    if (input != known)
      values.push_back(input->get());
  for (Operation &inner : *elements.getBody())
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != elements.getBody())
        values.push_back(operand);
  return llvm::all_of(values,
                      [&](Value value) { return makeBefore(op, value); });
}

linalg::GenericOp overwriterOf(linalg::GenericOp op) {
  Operation *next = op->getNextNode();
  while (next && (isMemoryEffectFree(next) || isa<memref::AllocOp>(next)))
    next = next->getNextNode();
  auto overwriter = dyn_cast_or_null<linalg::GenericOp>(next);
  if (!overwriter || !isElementwise(overwriter))
    return {};
  Value result = op.getDpsInits()[0], buffer = wholeBuffer(result);
  Value memory = ownMemoryOf(result);
  auto type = cast<MemRefType>(result.getType());
  OpOperand *overwritten = overwrittenBy(overwriter);
  if (!memory || wholeBuffer(overwriter.getDpsInits()[0]) != buffer ||
      !overwritten ||
      !overwriter.getMatchingIndexingMap(overwritten).isIdentity() ||
      !dimensionsOf(overwriter.getStaticLoopRanges(), type.getShape()))
    return {};
  OpBuilder builder(op);
  bool hasForm =
      ElementLanes(builder, overwriter).hasForm() &&
      llvm::all_of(overwriter.getDpsInputOperands(), [&](OpOperand *input) {
        return input == overwritten || isElsewhere(input->get(), memory);
      });
  return hasForm && makeInputsBefore(op, overwriter, overwritten)
             ? overwriter
             : linalg::GenericOp();
}

} // namespace numera
