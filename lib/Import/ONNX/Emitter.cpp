//===- Emitter.cpp - Structured operations and constants ------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using utils::IteratorType;

namespace numera::importer {

void Emitter::setBatch(Value argument) { batch = argument; }

RankedTensorType Emitter::type(ArrayRef<Dim> shape, bool integral) {
  auto sizes = llvm::map_to_vector<4>(shape, [](Dim dim) {
    return dim.batched ? ShapedType::kDynamic : dim.count;
  });
  Type element = integral ? Type(b.getI64Type()) : Type(b.getF32Type());
  return RankedTensorType::get(sizes, element);
}

Tensor Emitter::result(Value value, ArrayRef<Dim> shape) {
  Tensor tensor;
  tensor.shape = Shape(shape);
  tensor.value = value;
  return tensor;
}

Value Emitter::value(const Tensor &tensor) {
  if (tensor.value)
    return tensor.value;
  SmallVector<Tensor, 1> &emitted = constants[tensor.host.get()];
  for (const Tensor &known : emitted)
    if (known.shape == tensor.shape)
      return known.value;

  RankedTensorType constantType = type(tensor.shape, tensor.integral);
  DenseElementsAttr elements;
  if (tensor.integral)
    elements = DenseElementsAttr::get<int64_t>(
        constantType, llvm::map_to_vector(tensor.host->ints,
                                          [](Dim dim) { return dim.count; }));
  else
    elements = DenseElementsAttr::get(constantType,
                                      ArrayRef<float>(tensor.host->floats));
  Location loc = tensor.name.empty()
                     ? b.getLoc()
                     : NameLoc::get(b.getStringAttr(tensor.name), file);
  emitted.push_back(tensor);
  emitted.back().value = arith::ConstantOp::create(b, loc, elements);
  return emitted.back().value;
}

Value Emitter::scalar(float number) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(number));
}

/// The size of a batched dimension as an index.
Value Emitter::size(Dim dim) {
  if (!batchSize)
    batchSize = tensor::DimOp::create(b, batch, 0);
  if (dim.count == 1)
    return batchSize;
  Value count = arith::ConstantIndexOp::create(b, dim.count);
  return arith::MulIOp::create(b, batchSize, count);
}

SmallVector<OpFoldResult> Emitter::sizes(ArrayRef<Dim> shape) {
  return llvm::map_to_vector(shape, [&](Dim dim) -> OpFoldResult {
    if (dim.batched)
      return size(dim);
    return b.getIndexAttr(dim.count);
  });
}

Value Emitter::empty(ArrayRef<Dim> shape) {
  return tensor::EmptyOp::create(b, sizes(shape), b.getF32Type());
}

Value Emitter::filled(ArrayRef<Dim> shape, float number) {
  Value init = scalar(number);
  return linalg::FillOp::create(b, init, empty(shape)).getResult(0);
}

Tensor Emitter::generic(ArrayRef<Access> inputs, Value init, AffineMap initMap,
                        ArrayRef<IteratorType> iterators, Body body) {
  auto values = llvm::map_to_vector(inputs, [](Access in) { return in.value; });
  auto maps = llvm::map_to_vector(inputs, [](Access in) { return in.map; });
  maps.push_back(initMap);
  auto op = linalg::GenericOp::create(
      b, TypeRange(init.getType()), values, ValueRange(init), maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        LocBuilder inner(loc, nested);
        linalg::YieldOp::create(inner, body(inner, args));
      });
  Tensor tensor;
  tensor.value = op.getResult(0);
  return tensor;
}

Operand Emitter::aligned(const Tensor &tensor, unsigned rank) {
  unsigned first = rank - tensor.rank();
  return {&tensor, llvm::to_vector<4>(llvm::seq<unsigned>(first, rank))};
}

/// A compile-time tensor without its dimensions of size 1, whose elements are
/// the same: the map that broadcasts it is then a projection.
static Tensor withoutUnits(const Operand &operand,
                           SmallVector<unsigned, 4> &axes) {
  Tensor tensor = *operand.tensor;
  axes = operand.axes;
  if (tensor.value || !tensor.host)
    return tensor;
  tensor.shape.clear();
  axes.clear();
  for (auto [dim, axis] : llvm::zip_equal(operand.tensor->shape, operand.axes))
    if (!dim.is(1)) {
      tensor.shape.push_back(dim);
      axes.push_back(axis);
    }
  return tensor;
}

Tensor Emitter::mapAlong(ArrayRef<Operand> operands, ArrayRef<Dim> shape,
                         Body body) {
  MLIRContext *context = b.getContext();
  SmallVector<Access> inputs;
  SmallVector<std::optional<float>> numbers;
  for (const Operand &operand : operands) {
    numbers.push_back(operand.tensor->scalar());
    if (numbers.back())
      continue;
    SmallVector<unsigned, 4> axes;
    Tensor tensor = withoutUnits(operand, axes);
    SmallVector<AffineExpr> exprs;
    for (auto [dim, axis] : llvm::zip_equal(tensor.shape, axes))
      exprs.push_back(dim.is(1) && !shape[axis].is(1)
                          ? getAffineConstantExpr(0, context)
                          : getAffineDimExpr(axis, context));
    inputs.push_back(
        {value(tensor), AffineMap::get(shape.size(), 0, exprs, context)});
  }

  SmallVector<IteratorType> iterators(shape.size(), IteratorType::parallel);
  Value init = empty(shape);
  Tensor mapped = generic(
      inputs, init, b.getMultiDimIdentityMap(shape.size()), iterators,
      [&](LocBuilder &inner, ValueRange args) {
        SmallVector<Value> elements;
        unsigned next = 0;
        for (std::optional<float> number : numbers)
          elements.push_back(number ? arith::ConstantOp::create(
                                          inner, inner.getF32FloatAttr(*number))
                                          .getResult()
                                    : args[next++]);
        return body(inner, elements);
      });
  mapped.shape = Shape(shape);
  return mapped;
}

Tensor Emitter::map(ArrayRef<const Tensor *> tensors, ArrayRef<Dim> shape,
                    Body body) {
  auto operands = llvm::map_to_vector(tensors, [&](const Tensor *tensor) {
    return aligned(*tensor, shape.size());
  });
  return mapAlong(operands, shape, body);
}

Tensor Emitter::reduce(const Tensor &tensor, ArrayRef<bool> reduced, float init,
                       Body body) {
  Shape kept;
  SmallVector<AffineExpr> exprs;
  SmallVector<IteratorType> iterators;
  for (auto [i, dim] : llvm::enumerate(tensor.shape)) {
    iterators.push_back(reduced[i] ? IteratorType::reduction
                                   : IteratorType::parallel);
    if (reduced[i])
      continue;
    kept.push_back(dim);
    exprs.push_back(b.getAffineDimExpr(i));
  }
  Access input{value(tensor), b.getMultiDimIdentityMap(tensor.rank())};
  AffineMap initMap = AffineMap::get(tensor.rank(), 0, exprs, b.getContext());
  Tensor result = generic(input, filled(kept, init), initMap, iterators, body);
  result.shape = kept;
  return result;
}

Tensor Emitter::sum(const Tensor &tensor, ArrayRef<bool> reduced) {
  return reduce(tensor, reduced, 0.0f,
                [](LocBuilder &b, ValueRange args) -> Value {
                  return arith::AddFOp::create(b, args[1], args[0]);
                });
}

Tensor Emitter::maximum(const Tensor &tensor, ArrayRef<bool> reduced) {
  return reduce(tensor, reduced, -std::numeric_limits<float>::infinity(),
                [](LocBuilder &b, ValueRange args) -> Value {
                  return arith::MaximumFOp::create(b, args[0], args[1]);
                });
}

Tensor Emitter::contract(Access lhs, Access rhs, ArrayRef<Dim> shape,
                         unsigned reductions) {
  SmallVector<IteratorType> iterators(shape.size(), IteratorType::parallel);
  iterators.append(reductions, IteratorType::reduction);
  AffineMap initMap =
      AffineMap::getMultiDimIdentityMap(iterators.size(), b.getContext())
          .getMajorSubMap(shape.size());
  Tensor result =
      generic({lhs, rhs}, filled(shape, 0.0f), initMap, iterators,
              [](LocBuilder &inner, ValueRange args) -> Value {
                Value product = arith::MulFOp::create(inner, args[0], args[1]);
                return arith::AddFOp::create(inner, args[2], product);
              });
  result.shape = Shape(shape);
  return result;
}

} // namespace numera::importer
