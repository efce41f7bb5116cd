//===- Emitter.cpp - Structured operations and constants ------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "Emitter.h"
#include "Evaluate.h"
#include "Scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <limits>

using namespace mlir;
using utils::IteratorType;

namespace numera::importer {

Type Emitter::element(int64_t dataType) {
  return elementType(b.getContext(), dataType);
}

RankedTensorType Emitter::type(ArrayRef<Dim> shape, Type element) {
  auto sizes = llvm::map_to_vector<4>(shape, [](Dim dim) {
    return dim.isDynamic() ? ShapedType::kDynamic : dim.count;
  });
  return RankedTensorType::get(sizes, element);
}

RankedTensorType Emitter::type(ArrayRef<Dim> shape, int64_t dataType) {
  return type(shape, element(dataType));
}

Tensor Emitter::result(Value value, ArrayRef<Dim> shape, int64_t dataType) {
  Tensor tensor;
  tensor.shape = Shape(shape);
  tensor.value = value;
  tensor.dataType = dataType;
  return tensor;
}

/// Moves the insertion point out of loops and branches: what is created once is
/// used anywhere behind.
static void leaveRegions(OpBuilder &b) {
  while (!isa<func::FuncOp>(b.getInsertionBlock()->getParentOp()))
    b.setInsertionPoint(b.getInsertionBlock()->getParentOp());
}

Value Emitter::value(const Tensor &tensor) {
  if (tensor.value)
    return tensor.value;
  SmallVector<Tensor, 1> &emitted = constants[tensor.host.get()];
  for (const Tensor &known : emitted)
    if (known.shape == tensor.shape && known.dataType == tensor.dataType)
      return known.value;
  OpBuilder::InsertionGuard guard(b);
  leaveRegions(b);
  Value value = constant(tensor);
  Tensor &kept = constants[tensor.host.get()].emplace_back(tensor);
  kept.value = value;
  return value;
}

static DenseElementsAttr integers(RankedTensorType type, const HostData &host) {
  unsigned width = type.getElementTypeBitWidth();
  return DenseElementsAttr::get(
      type, llvm::map_to_vector(host.ints, [&](Dim dim) {
        return APInt(width, uint64_t(dim.count), /*isSigned=*/false,
                     /*implicitTrunc=*/true);
      }));
}

/// Weights, which are encoded and then are no longer needed, `areEncoded`.
static ElementsAttr floats(RankedTensorType type,
                           std::shared_ptr<const HostData> host,
                           bool areEncoded) {
  ArrayRef<float> numbers = host->floats;
  size_t bytes = numbers.size() * sizeof(float);
  auto *begin = reinterpret_cast<const char *>(numbers.data());
  bool isSplat = !numbers.empty() && std::memcmp(begin, begin + sizeof(float),
                                                 bytes - sizeof(float)) == 0;
  if (!areEncoded || isSplat || bytes < SharedElements::leastBytes)
    return DenseElementsAttr::get(type, numbers);
  return SharedElements::of(type.getContext())
      .create(type, SharedBytes(std::move(host), begin));
}

Value Emitter::constant(const Tensor &tensor) {
  Location loc = tensor.name.empty()
                     ? b.getLoc()
                     : NameLoc::get(b.getStringAttr(tensor.name), file);
  if (tensor.isDynamic()) {
    Type integer = element(tensor.dataType);
    auto elements = llvm::map_to_vector(tensor.host->ints, [&](Dim dim) {
      return dim.isDynamic()
                 ? arith::IndexCastOp::create(b, integer, size(dim)).getResult()
                 : arith::ConstantOp::create(
                       b, b.getIntegerAttr(integer, dim.count))
                       .getResult();
    });
    return tensor::FromElementsOp::create(
        b, type(tensor.shape, tensor.dataType), elements);
  }
  bool narrow = isNarrow(tensor.dataType);
  RankedTensorType constantType =
      type(tensor.shape, narrow ? int64_t(type::Float) : tensor.dataType);
  ElementsAttr elements;
  if (tensor.isIntegral())
    elements = integers(constantType, *tensor.host);
  else if (tensor.isDouble())
    elements = DenseElementsAttr::get(constantType,
                                      ArrayRef<double>(tensor.host->doubles));
  else
    elements = floats(constantType, tensor.host, /*areEncoded=*/!narrow);
  Value value = arith::ConstantOp::create(b, loc, elements);
  return narrow ? CastOp::create(b, type(tensor.shape, tensor.dataType), value)
                      .getResult()
                : value;
}

TypedAttr Emitter::number(double value, int64_t dataType) {
  return attr(element(dataType), value);
}

Dim Emitter::addSize() {
  dynamicSizes.emplace_back();
  return Dim::dynamic(std::min<unsigned>(dynamicSizes.size(), Dim::kMaxNumber));
}

void Emitter::setSize(Dim dim, Value argument, unsigned axis) {
  Size &size = dynamicSizes[dim.factors()[0] - 1];
  size.argument = argument;
  size.axis = axis;
}

Dim Emitter::computed(Value size) {
  Dim dim = addSize();
  dynamicSizes.back().value = size;
  return dim;
}

bool Emitter::isComputed(Dim dim) const {
  return llvm::any_of(dim.factors(), [&](unsigned number) {
    return !dynamicSizes[number - 1].argument;
  });
}

Value Emitter::size(Dim dim) {
  OpBuilder::InsertionGuard guard(b);
  leaveRegions(b);
  Value product;
  for (unsigned number : dim.factors()) {
    Size &size = dynamicSizes[number - 1];
    if (!size.value)
      size.value =
          size.terms.empty()
              ? tensor::DimOp::create(b, size.argument, size.axis).getResult()
              : total(Shape(size.terms));
    product =
        product ? arith::MulIOp::create(b, product, size.value) : size.value;
  }
  if (dim.count == 1)
    return product;
  Value count = arith::ConstantIndexOp::create(b, dim.count);
  return arith::MulIOp::create(b, product, count);
}

Value Emitter::total(ArrayRef<Dim> terms) {
  Value sum = extent(terms.front());
  for (Dim term : terms.drop_front())
    sum = arith::AddIOp::create(b, sum, extent(term));
  return sum;
}

Value Emitter::extent(Dim dim) {
  return dim.isDynamic() ? size(dim) : index(b, dim.count);
}

bool Emitter::isOutside() const {
  return isa<func::FuncOp>(b.getInsertionBlock()->getParentOp());
}

SmallVector<OpFoldResult> Emitter::sizes(ArrayRef<Dim> shape) {
  return llvm::map_to_vector(shape, [&](Dim dim) -> OpFoldResult {
    if (dim.isDynamic())
      return size(dim);
    return b.getIndexAttr(dim.count);
  });
}

Value Emitter::empty(ArrayRef<Dim> shape, int64_t dataType) {
  return tensor::EmptyOp::create(b, sizes(shape), element(dataType));
}

Value Emitter::filled(ArrayRef<Dim> shape, TypedAttr number) {
  Value init = arith::ConstantOp::create(b, number);
  Value target =
      tensor::EmptyOp::create(b, sizes(shape), number.getType()).getResult();
  return linalg::FillOp::create(b, init, target).getResult(0);
}

Value Emitter::filled(ArrayRef<Dim> shape, float number) {
  return filled(shape, b.getF32FloatAttr(number));
}

Tensor Emitter::generic(ArrayRef<Access> inputs, Value init, AffineMap initMap,
                        ArrayRef<IteratorType> iterators, Body body,
                        int64_t dataType, bool isKnown) {
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
  tensor.dataType = dataType;
  if (isKnown || tensor.isIntegral())
    if (auto host = evaluate(op, dataType)) {
      tensor.host = std::move(host);
      tensor.isFromShape = isKnown;
      op.erase();
      return tensor;
    }
  tensor.value = op.getResult(0);
  return tensor;
}

/// The map to the loops from `first` to `last`.
static AffineMap projection(LocBuilder &b, unsigned loops, unsigned first,
                            unsigned last) {
  SmallVector<AffineExpr> exprs;
  for (unsigned i = first; i < last; ++i)
    exprs.push_back(b.getAffineDimExpr(i));
  return AffineMap::get(loops, 0, exprs, b.getContext());
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

/// A single number as a constant of the operation's body: as an f64 beside
/// others of f64.
static TypedAttr inlined(LocBuilder &b, const Tensor &tensor, bool isDouble) {
  TypedAttr number =
      tensor.value ? TypedAttr() : tensor.scalarAttr(b.getContext());
  if (number && isDouble && number.getType().isF32())
    return b.getF64FloatAttr(tensor.number(0));
  return number;
}

Tensor Emitter::mapAlong(ArrayRef<Operand> operands, ArrayRef<Dim> shape,
                         Body body, int64_t dataType) {
  MLIRContext *context = b.getContext();
  bool isDouble = llvm::any_of(operands, [](const Operand &operand) {
    return operand.tensor->isDouble();
  });
  bool isKnown =
      llvm::all_of(operands,
                   [](const Operand &operand) {
                     return operand.tensor->host && !operand.tensor->value;
                   }) &&
      llvm::any_of(operands, [](const Operand &operand) {
        return operand.tensor->isFromShape;
      });
  if (dataType == 0)
    dataType =
        isDouble ? int64_t(type::Double) : operands.front().tensor->dataType;
  SmallVector<Access> inputs;
  SmallVector<TypedAttr> numbers;
  for (const Operand &operand : operands) {
    numbers.push_back(inlined(b, *operand.tensor, isDouble));
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
  Value init = empty(shape, dataType);
  Tensor mapped = generic(
      inputs, init, b.getMultiDimIdentityMap(shape.size()), iterators,
      [&](LocBuilder &inner, ValueRange args) {
        SmallVector<Value> elements;
        unsigned next = 0;
        for (TypedAttr number : numbers)
          elements.push_back(
              number ? arith::ConstantOp::create(inner, number).getResult()
                     : args[next++]);
        return body(inner, elements);
      },
      dataType, isKnown);
  mapped.shape = Shape(shape);
  return mapped;
}

Tensor Emitter::map(ArrayRef<const Tensor *> tensors, ArrayRef<Dim> shape,
                    Body body, int64_t dataType) {
  auto operands = llvm::map_to_vector(tensors, [&](const Tensor *tensor) {
    return aligned(*tensor, shape.size());
  });
  return mapAlong(operands, shape, body, dataType);
}

Tensor Emitter::generate(ArrayRef<Dim> shape, int64_t dataType, Body body,
                         bool isKnown) {
  SmallVector<IteratorType> iterators(shape.size(), IteratorType::parallel);
  Tensor made = generic(
      {}, empty(shape, dataType), b.getMultiDimIdentityMap(shape.size()),
      iterators,
      [&](LocBuilder &inner, ValueRange) {
        SmallVector<Value> indices;
        for (unsigned i = 0; i < shape.size(); ++i)
          indices.push_back(linalg::IndexOp::create(inner, i));
        return body(inner, indices);
      },
      dataType, isKnown);
  made.shape = Shape(shape);
  return made;
}

Tensor Emitter::generateReducedAlong(ArrayRef<Dim> shape,
                                     ArrayRef<Dim> reductions, TypedAttr init,
                                     int64_t dataType, Body body,
                                     bool isKnown) {
  unsigned kept = shape.size(), loops = kept + reductions.size();
  SmallVector<IteratorType> iterators(kept, IteratorType::parallel);
  iterators.append(reductions.size(), IteratorType::reduction);
  // Of a tensor that is never read, for the sizes of the loops.
  Value extents = empty(reductions);
  Tensor made = generic(
      {{extents, projection(b, loops, kept, loops)}}, filled(shape, init),
      projection(b, loops, 0, kept), iterators,
      [&](LocBuilder &inner, ValueRange args) {
        SmallVector<Value> indices;
        for (unsigned i = 0; i < loops; ++i)
          indices.push_back(linalg::IndexOp::create(inner, i));
        indices.push_back(args[1]);
        return body(inner, indices);
      },
      dataType, isKnown);
  made.shape = Shape(shape);
  return made;
}

Value Emitter::at(LocBuilder &b, Value tensor, ValueRange indices) {
  return tensor::ExtractOp::create(b, tensor, indices);
}

Tensor Emitter::reduce(const Tensor &tensor, ArrayRef<bool> reduced,
                       TypedAttr init, Body body, int64_t dataType) {
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
  Tensor result =
      generic(input, filled(kept, init), initMap, iterators, body,
              dataType ? dataType : tensor.dataType, tensor.isFromShape);
  result.shape = kept;
  return result;
}

Tensor Emitter::sum(const Tensor &tensor, ArrayRef<bool> reduced) {
  return reduce(
      tensor, reduced, number(0, tensor.dataType),
      [](LocBuilder &b, ValueRange args) { return add(b, args[1], args[0]); });
}

Tensor Emitter::maximum(const Tensor &tensor, ArrayRef<bool> reduced) {
  bool noSign = isUnsigned(tensor.dataType);
  return reduce(tensor, reduced, least(element(tensor.dataType), noSign),
                [&](LocBuilder &b, ValueRange args) {
                  return max(b, args[0], args[1], noSign);
                });
}

Tensor Emitter::minimum(const Tensor &tensor, ArrayRef<bool> reduced) {
  bool noSign = isUnsigned(tensor.dataType);
  return reduce(tensor, reduced, greatest(element(tensor.dataType), noSign),
                [&](LocBuilder &b, ValueRange args) {
                  return min(b, args[0], args[1], noSign);
                });
}

Tensor Emitter::contract(Access lhs, Access rhs, ArrayRef<Dim> shape,
                         unsigned reductions, int64_t dataType) {
  SmallVector<IteratorType> iterators(shape.size(), IteratorType::parallel);
  iterators.append(reductions, IteratorType::reduction);
  AffineMap initMap = projection(b, iterators.size(), 0, shape.size());
  Tensor result = generic(
      {lhs, rhs}, filled(shape, number(0, dataType)), initMap, iterators,
      [](LocBuilder &inner, ValueRange args) -> Value {
        return add(inner, args[2], mul(inner, args[0], args[1]));
      },
      dataType);
  result.shape = Shape(shape);
  return result;
}

} // namespace numera::importer
