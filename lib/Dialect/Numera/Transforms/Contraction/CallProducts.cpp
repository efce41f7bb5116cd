// SPDX-License-Identifier: MIT
//
// A contraction on memrefs becomes calls of the user's own product:
//
//   linalg.generic {… numera.mac …}
//     becomes
//   my_matmul(a, b, c, m, n, k)          once for each batch and image
//
// on dense row-major matrices. An operand with another layout, such as the
// windows of an image, is first copied to such a matrix, and a result is copied
// back. `dot` is called for each element of the result, on a row of a and a
// column of b, which is copied if it is not contiguous.

#include "CallProducts.h"
#include "Buffers/BufferUses.h"
#include "ContractionWork.h"
#include "Lowering/Lowerings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/Transforms/Lowering/RegisteredProducts.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {

namespace {

/// A factor or the result, in the order in which the function has its loops.
struct Matrix {
  OpOperand &operand;
  SmallVector<unsigned> order;
  Access access = {};
  bool isDense = false;
  Value copy = {};                      ///< a memref; null where it is dense
  SmallVector<Value> denseStrides = {}; ///< by place in `order`, i64
};

class ProductCall {
public:
  ProductCall(ModuleOp module, linalg::GenericOp generic,
              const PackedContraction &loops, const Lowering &product)
      : generic(generic), loops(loops), product(product),
        isDot(product.operation == OpKind::Dot), builder(generic),
        loc(generic.getLoc()),
        lowerings(module, registryOf(generic), Target::CPU) {}

  void replace();

private:
  /// One of the matrices as a nest of loops goes through it.
  struct Walk {
    Value base;                 ///< an llvm.ptr
    SmallVector<Value> strides; ///< i64
  };
  using Body = llvm::function_ref<void(ArrayRef<Value> places)>;

  Matrix matrix(unsigned operand, ArrayRef<unsigned> first,
                ArrayRef<unsigned> second);
  void findStrides(Matrix &matrix);
  bool isDense(const Matrix &matrix);
  Value extentOf(ArrayRef<unsigned> order);
  Value makeCopy(const Matrix &matrix);
  Value addressOf(Value copy);
  void nest(ArrayRef<unsigned> order, ArrayRef<Walk> walks,
            ArrayRef<Type> elements, bool isParallel, Body body);
  SmallVector<Value> stridesOf(const Matrix &matrix, ArrayRef<unsigned> order);
  void copy(const Matrix &matrix, Value outside, bool isBack);
  void callMatmul(Value a, Value b, Value c);
  void callDots(Value a, Value b, Value c);
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                        value);
  }
  Value multiply(Value x, Value y) {
    return builder.createOrFold<arith::MulIOp>(loc, x, y);
  }
  Type storageOf(const Matrix &matrix) const {
    return cast<MemRefType>(matrix.operand.get().getType()).getElementType();
  }

  linalg::GenericOp generic;
  const PackedContraction &loops;
  const Lowering &product;
  bool isDot;
  OpBuilder builder;
  Location loc;
  Lowerings lowerings;
  SmallVector<Value> extents; ///< i64, by loop
  SmallVector<unsigned> rows; ///< those that the function is given
  std::optional<Matrix> left, right, sums;
};

} // namespace

//===----------------------------------------------------------------------===//
// How matrices lie
//===----------------------------------------------------------------------===//

Matrix ProductCall::matrix(unsigned operand, ArrayRef<unsigned> first,
                           ArrayRef<unsigned> second) {
  Matrix matrix{generic->getOpOperand(operand), llvm::to_vector(first)};
  llvm::append_range(matrix.order, second);
  matrix.isDense = isDense(matrix);
  return matrix;
}

/// True if it is known that elements follow each other, the last loop's first.
/// Narrow results are cleared above their width, which takes a copy.
bool ProductCall::isDense(const Matrix &matrix) {
  const Format &format = product.result;
  if (matrix.operand.getOperandNumber() == 2 &&
      format.width() != format.storageBits())
    return false;
  StaticAccess access = staticAccessOf(generic, matrix.operand);
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  int64_t stride = 1;
  for (unsigned loop : llvm::reverse(matrix.order)) {
    if (ranges[loop] == 1)
      continue;
    if (access.strides[loop] != stride)
      return false;
    stride = ShapedType::isDynamic(ranges[loop]) ? ShapedType::kDynamic
                                                 : stride * ranges[loop];
    // Nothing may lie in front of what is not known.
    if (ShapedType::isDynamic(stride) && loop != matrix.order.front())
      return false;
  }
  return true;
}

Value ProductCall::extentOf(ArrayRef<unsigned> order) {
  Value product = constant(1);
  for (unsigned loop : order)
    product = multiply(product, extents[loop]);
  return product;
}

void ProductCall::findStrides(Matrix &matrix) {
  matrix.access = accessOf(builder, generic, matrix.operand);
  matrix.denseStrides.resize(matrix.order.size());
  Value stride = constant(1);
  for (size_t i = matrix.order.size(); i-- > 0;) {
    matrix.denseStrides[i] = stride;
    stride = multiply(stride, extents[matrix.order[i]]);
  }
}

Value ProductCall::makeCopy(const Matrix &matrix) {
  Value size = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                          extentOf(matrix.order));
  auto type = MemRefType::get({ShapedType::kDynamic}, storageOf(matrix));
  return memref::AllocOp::create(builder, loc, type, size);
}

Value ProductCall::addressOf(Value copy) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, copy);
  address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

/// How far the loops of `order` go in the matrix as it lies.
SmallVector<Value> ProductCall::stridesOf(const Matrix &matrix,
                                          ArrayRef<unsigned> order) {
  return llvm::map_to_vector(
      order, [&](unsigned loop) { return matrix.access.strides[loop]; });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Loops over `order`, in whose body every walk is at its place. The builder
/// goes back behind them.
void ProductCall::nest(ArrayRef<unsigned> order, ArrayRef<Walk> walks,
                       ArrayRef<Type> elements, bool isParallel, Body body) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> offsets(walks.size(), constant(0));
  for (auto [level, loop] : llvm::enumerate(order)) {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    Value bound = builder.createOrFold<arith::IndexCastOp>(
        loc, builder.getIndexType(), extents[loop]);
    Value begin = index(0), step = index(1);
    auto made = scf::ForOp::create(builder, loc, begin, bound, step);
    if (isParallel)
      made->setAttr(parallelLoopAttr, builder.getUnitAttr());
    builder.setInsertionPointToStart(made.getBody());
    Value place = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                             made.getInductionVar());
    for (auto [walk, offset] : llvm::zip_equal(walks, offsets))
      offset = arith::AddIOp::create(builder, loc, offset,
                                     multiply(place, walk.strides[level]));
  }
  SmallVector<Value> places;
  for (auto [walk, offset, element] : llvm::zip_equal(walks, offsets, elements))
    places.push_back(LLVM::GEPOp::create(builder, loc, walk.base.getType(),
                                         element, walk.base,
                                         ArrayRef<LLVM::GEPArg>{offset}));
  body(places);
}

/// Between a matrix at `outside` and its copy.
void ProductCall::copy(const Matrix &matrix, Value outside, bool isBack) {
  Type storage = storageOf(matrix);
  Walk there{outside, stridesOf(matrix, matrix.order)};
  Walk here{addressOf(matrix.copy), matrix.denseStrides};
  nest(matrix.order, {there, here}, {storage, storage}, /*isParallel=*/true,
       [&](ArrayRef<Value> places) {
         Value value = LLVM::LoadOp::create(builder, loc, storage,
                                            places[isBack ? 1 : 0]);
         if (isBack)
           value = Lowerings::canonical(builder, loc, value, product.result);
         LLVM::StoreOp::create(builder, loc, value, places[isBack ? 0 : 1]);
       });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void ProductCall::callMatmul(Value a, Value b, Value c) {
  lowerings.callRegistered(builder, loc, product,
                           {left->copy ? addressOf(left->copy) : a,
                            right->copy ? addressOf(right->copy) : b,
                            sums->copy ? addressOf(sums->copy) : c,
                            extentOf(rows), extentOf(loops.columns),
                            extentOf(loops.steps)},
                           {});
  if (sums->copy)
    copy(*sums, c, /*isBack=*/true);
}

void ProductCall::callDots(Value a, Value b, Value c) {
  if (left->copy)
    a = addressOf(left->copy);
  if (right->copy)
    b = addressOf(right->copy);
  SmallVector<unsigned> order = rows;
  llvm::append_range(order, loops.columns);
  Value length = extentOf(loops.steps);
  Walk inLeft{a, {}}, inRight{b, {}}, inSums{c, stridesOf(*sums, order)};
  for (size_t i = 0; i < order.size(); ++i) {
    bool isRow = i < rows.size();
    inLeft.strides.push_back(isRow ? left->denseStrides[i] : constant(0));
    inRight.strides.push_back(isRow ? constant(0)
                                    : right->denseStrides[i - rows.size()]);
  }
  nest(order, {inLeft, inRight, inSums},
       {storageOf(*left), storageOf(*right), storageOf(*sums)},
       /*isParallel=*/true, [&](ArrayRef<Value> places) {
         Value value = lowerings.callRegistered(builder, loc, product,
                                                {places[0], places[1], length},
                                                storageOf(*sums));
         value = Lowerings::canonical(builder, loc, value, product.result);
         LLVM::StoreOp::create(builder, loc, value, places[2]);
       });
}

void ProductCall::replace() {
  for (Value extent : extentsOf(builder, generic))
    extents.push_back(builder.createOrFold<arith::IndexCastOp>(
        loc, builder.getI64Type(), extent));
  // A product of many matrices that cannot be one is one after the other.
  rows = loops.rows;
  SmallVector<unsigned> outer;
  if (rows.size() > 1 && !matrix(loops.rowsInput, rows, loops.steps).isDense) {
    outer.push_back(rows.front());
    rows.erase(rows.begin());
  }
  left.emplace(matrix(loops.rowsInput, rows, loops.steps));
  right.emplace(isDot ? matrix(loops.columnsInput, loops.columns, loops.steps)
                      : matrix(loops.columnsInput, loops.steps, loops.columns));
  sums.emplace(matrix(2, rows, loops.columns));
  for (Matrix *each : {&*left, &*right, &*sums}) {
    findStrides(*each);
    if (!each->isDense && !(isDot && each == &*sums))
      each->copy = makeCopy(*each);
  }
  auto walk = [&](const Matrix &matrix, Value base, ArrayRef<unsigned> order) {
    return Walk{base, stridesOf(matrix, order)};
  };
  SmallVector<Type> elements = {storageOf(*left), storageOf(*right),
                                storageOf(*sums)};
  nest(loops.batch,
       {walk(*left, left->access.base, loops.batch),
        walk(*right, right->access.base, loops.batch),
        walk(*sums, sums->access.base, loops.batch)},
       elements, /*isParallel=*/false, [&](ArrayRef<Value> batch) {
         if (right->copy)
           copy(*right, batch[1], /*isBack=*/false);
         nest(outer,
              {walk(*left, batch[0], outer), walk(*right, batch[1], outer),
               walk(*sums, batch[2], outer)},
              elements, /*isParallel=*/false, [&](ArrayRef<Value> image) {
                if (left->copy)
                  copy(*left, image[0], /*isBack=*/false);
                if (isDot)
                  callDots(image[0], batch[1], image[2]);
                else
                  callMatmul(image[0], batch[1], image[2]);
              });
       });
  for (const Matrix *each : {&*left, &*right, &*sums})
    if (each->copy)
      memref::DeallocOp::create(builder, loc, each->copy);
  generic.erase();
}

//===----------------------------------------------------------------------===//
// Which ones
//===----------------------------------------------------------------------===//

/// True for what is known to be the format's zero, on storage.
static bool isZero(const Registry &registry, const Format &format,
                   Value value) {
  if (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getOperand();
  Attribute constant = valueOfConstant(value);
  if (auto number = dyn_cast_or_null<FloatAttr>(constant))
    return number.getValue().isPosZero();
  auto code = dyn_cast_or_null<IntegerAttr>(constant);
  if (!code)
    return false;
  if (format.getFamily().hasArithmetic()) {
    Unpacked number =
        format.getFamily().decode(format, code.getValue().getZExtValue());
    return number.isZero() && !number.negative;
  }
  const Registry::NamedFormat *entry = registry.entryOf(format);
  return entry && entry->identities.zero == code.getValue();
}

/// The first step in a body of a reduction that a function is registered for.
static MacOp stepOf(linalg::GenericOp generic) {
  for (MacOp step : generic.getBody()->getOps<MacOp>())
    if (generic.getNumReductionLoops() != 0 && registeredProduct(step))
      return step;
  return {};
}

static InFlightDiagnostic refuse(linalg::GenericOp generic,
                                 const Lowering &product) {
  return generic.emitError("'")
         << product.symbol << "', which is registered for '"
         << nameOf(product.operation) << "', cannot compute this product: ";
}

LogicalResult callProducts(ModuleOp module) {
  SmallVector<linalg::GenericOp> generics;
  module.walk([&](linalg::GenericOp generic) {
    if (generic.hasPureBufferSemantics() && stepOf(generic))
      generics.push_back(generic);
  });
  // All of them before one is replaced, which hides what it does to a buffer.
  SmallVector<std::pair<linalg::GenericOp, linalg::FillOp>> work;
  for (linalg::GenericOp generic : generics) {
    MacOp step = stepOf(generic);
    const Lowering &product = *registeredProduct(step);
    linalg::FillOp fill = fillBefore(generic, generic.getDpsInits().front());
    if (!PackedContraction::ofProduct(generic))
      return refuse(generic, product)
             << "it is more than sums of products of two tensors' elements";
    if (!fill ||
        !isZero(registryOf(generic), product.result, fill.getInputs().front()))
      return refuse(generic, product)
             << "its sums do not start at zero; add their start values to "
                "the result";
    work.emplace_back(generic, fill);
  }
  for (auto [generic, fill] : work) {
    const Lowering &product = *registeredProduct(stepOf(generic));
    PackedContraction loops = *PackedContraction::ofProduct(generic);
    ProductCall(module, generic, loops, product).replace();
    fill.erase();
  }
  return success();
}

LogicalResult refuseProducts(ModuleOp module, Target target) {
  WalkResult result =
      module.walk([&](linalg::GenericOp generic) {
        MacOp step = stepOf(generic);
        if (!step)
          return WalkResult::advance();
        const Lowering &product = *registeredProduct(step);
        generic.emitError("'")
            << nameOf(product.operation) << "' is the function '"
            << product.symbol << "' of the CPU, and target " << nameOf(target)
            << " would compute other bits; leave its lowering out to compute "
               "products step by step";
        return WalkResult::interrupt();
      });
  return failure(result.wasInterrupted());
}

} // namespace numera
