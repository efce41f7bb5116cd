// SPDX-License-Identifier: MIT
//
// LLVM's vectors in memory: a load of 16 bytes is one instruction of PTX.

#include "KernelRuns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace numera {

/// The type that LLVM computes in: a ui8 or si8 is an i8 there.
static Type withoutSign(Type element) {
  return element.isInteger() ? IntegerType::get(element.getContext(),
                                                element.getIntOrFloatBitWidth())
                             : element;
}

namespace {

/// Where a run of elements is, and the vectors that it is made of.
class Run {
public:
  Run(OpBuilder &builder, Location loc, Value memref, ValueRange indices,
      int64_t count)
      : builder(builder), loc(loc), memref(memref), indices(indices),
        element(cast<MemRefType>(memref.getType()).getElementType()),
        atOnce(
            std::min<int64_t>(count, 128 / element.getIntOrFloatBitWidth())) {}

  /// As many elements as 16 bytes hold.
  int64_t elementsAtOnce() const { return atOnce; }
  unsigned bytesAtOnce() const {
    return unsigned(atOnce * element.getIntOrFloatBitWidth() / 8);
  }
  VectorType vector() const {
    return VectorType::get(atOnce, withoutSign(element));
  }
  Type type() const { return element; }

  /// The same bits in the type, where a sign is all that differs.
  Value withSign(Value value, Type type) {
    return value.getType() == type
               ? value
               : UnrealizedConversionCastOp::create(builder, loc, type, value)
                     .getResult(0);
  }

  /// The place in a vector.
  Value lane(int64_t i) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                    builder.getI32IntegerAttr(int32_t(i)));
  }

  /// The address of an element of the run.
  Value at(int64_t number) {
    auto type = cast<MemRefType>(memref.getType());
    SmallVector<int64_t> strides;
    int64_t place;
    (void)type.getStridesAndOffset(strides, place);
    Value sum = constant(place + number);
    for (auto [index, stride] : llvm::zip_equal(indices, strides))
      sum = arith::AddIOp::create(
          builder, loc, sum,
          arith::MulIOp::create(builder, loc, index, constant(stride)));
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value base = LLVM::IntToPtrOp::create(
        builder, loc, pointer,
        toI64(memref::ExtractAlignedPointerAsIndexOp::create(builder, loc,
                                                             memref)));
    return LLVM::GEPOp::create(builder, loc, pointer, withoutSign(element),
                               base, ArrayRef<LLVM::GEPArg>{toI64(sum)});
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value toI64(Value value) {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      value);
  }

  OpBuilder &builder;
  Location loc;
  Value memref;
  ValueRange indices;
  Type element;
  int64_t atOnce;
};

} // namespace

SmallVector<Value> loadRun(OpBuilder &builder, Location loc, Value memref,
                           ValueRange indices, int64_t count) {
  Run run(builder, loc, memref, indices, count);
  SmallVector<Value> values;
  for (int64_t first = 0; first < count; first += run.elementsAtOnce()) {
    Value vector = LLVM::LoadOp::create(builder, loc, run.vector(),
                                        run.at(first), run.bytesAtOnce());
    for (int64_t i = 0; i < run.elementsAtOnce(); ++i)
      values.push_back(run.withSign(
          LLVM::ExtractElementOp::create(builder, loc, vector, run.lane(i)),
          run.type()));
  }
  return values;
}

void storeRun(OpBuilder &builder, Location loc, ArrayRef<Value> values,
              Value memref, ValueRange indices) {
  auto count = int64_t(values.size());
  Run run(builder, loc, memref, indices, count);
  for (int64_t first = 0; first < count; first += run.elementsAtOnce()) {
    Value vector = LLVM::PoisonOp::create(builder, loc, run.vector());
    for (int64_t i = 0; i < run.elementsAtOnce(); ++i)
      vector = LLVM::InsertElementOp::create(
          builder, loc, vector,
          run.withSign(values[size_t(first + i)],
                       run.vector().getElementType()),
          run.lane(i));
    LLVM::StoreOp::create(builder, loc, vector, run.at(first),
                          run.bytesAtOnce());
  }
}

} // namespace numera
