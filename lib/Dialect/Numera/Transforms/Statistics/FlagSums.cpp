// SPDX-License-Identifier: MIT

#include "FlagSums.h"
#include "SharedLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Statistics/FlagCounts.h"

using namespace mlir;

namespace numera {

Value hasFlag(OpBuilder &builder, Location loc, Value flags, unsigned kind,
              Type type) {
  Value place =
      arith::ConstantIntOp::create(builder, loc, builder.getI8Type(), kind);
  Value one =
      arith::ConstantIntOp::create(builder, loc, builder.getI8Type(), 1);
  Value bit = arith::AndIOp::create(
      builder, loc, arith::ShRUIOp::create(builder, loc, flags, place), one);
  return arith::ExtUIOp::create(builder, loc, type, bit);
}

Value createZeros(OpBuilder &builder, Location loc,
                  ArrayRef<OpFoldResult> sizes, Type type) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type);
  Value zero = arith::ConstantIntOp::create(builder, loc, type, 0);
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

SmallVector<Value> sumFlags(OpBuilder &builder, Location loc,
                            SmallVector<Value> parts) {
  SmallVector<Fold> sums(FlagCounts::kinds,
                         Fold::by<arith::AddIOp>(builder.getI64IntegerAttr(0)));
  bool takesFlags = parts.size() == 1;
  return foldAll(
      builder, loc, takesFlags ? "sum_flags" : "sum_counts", parts, {}, sums,
      [&](OpBuilder &at, ValueRange elements, ValueRange) {
        SmallVector<Value> terms(elements);
        if (takesFlags)
          terms.assign(FlagCounts::kinds, elements[0]);
        for (unsigned kind = 0; takesFlags && kind < terms.size(); ++kind)
          terms[kind] = hasFlag(at, loc, terms[kind], kind, at.getI64Type());
        return terms;
      });
}

} // namespace numera
