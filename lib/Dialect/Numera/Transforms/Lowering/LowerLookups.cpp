// SPDX-License-Identifier: MIT
//
// A lookup becomes a call `numera_lookup_8_8(place, table)`, which lib/Target
// defines for the CPU:
//
//   llvm.mlir.global internal constant @numera_table_0(dense<…>)
//   %t = llvm.mlir.addressof @numera_table_0
//   %1 = call @numera_lookup_8_8(%0, %t) : (i8, !llvm.ptr) -> i8
//
// Bits above a code's width are cleared, so that the index stays within the
// table.

#include "Lowerings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "numera/Registry/Symbols/Lookup.h"

using namespace mlir;

namespace numera {

/// An integer, or a vector of it.
static Value constantLike(OpBuilder &builder, Value value, int64_t integer) {
  TypedAttr attribute =
      builder.getIntegerAttr(getElementTypeOrSelf(value), integer);
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return arith::ConstantOp::create(builder, value.getLoc(), attribute);
}

/// The low bits of `code`, as many as tell `size` places apart, as an `index`;
/// with what stands above, if the lookup does not look at it.
static Value toIndex(OpBuilder &builder, Location loc, Value code, int64_t size,
                     IntegerType index, const Lookup &lookup) {
  unsigned bits = getElementTypeOrSelf(code).getIntOrFloatBitWidth();
  if (size != int64_t{1} << bits && size != int64_t{1} << lookup.placeBits)
    code = arith::AndIOp::create(builder, loc, code,
                                 constantLike(builder, code, size - 1));
  Type type = shapedLike(code, index);
  if (bits < index.getWidth())
    return arith::ExtUIOp::create(builder, loc, type, code);
  if (bits > index.getWidth())
    return arith::TruncIOp::create(builder, loc, type, code);
  return code;
}

LLVM::GlobalOp Lowerings::globalOf(OpBuilder &builder,
                                   DenseElementsAttr table) {
  LLVM::GlobalOp &global = tables[table];
  if (global)
    return global;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  unsigned bits = table.getElementType().getIntOrFloatBitWidth();
  Type element = builder.getIntegerType(bits);
  DenseElementsAttr codes = table.bitcast(element);
  SmallVector<APInt> values(codes.value_begin<APInt>(),
                            codes.value_end<APInt>());
  values.resize(Lookup::elementsInMemory(values.size()), APInt(bits, 0));
  auto count = static_cast<int64_t>(values.size());
  std::string name;
  for (size_t serial = tables.size() - 1;; ++serial) {
    name = "numera_table_" + std::to_string(serial);
    if (!module.lookupSymbol(name))
      break;
  }
  return global = LLVM::GlobalOp::create(
             builder, module.getLoc(), LLVM::LLVMArrayType::get(element, count),
             /*isConstant=*/true, LLVM::Linkage::Internal, name,
             DenseElementsAttr::get(RankedTensorType::get(count, element),
                                    values),
             /*alignment=*/64);
}

Value Lowerings::lower(OpBuilder &builder, LookupOp op, ValueRange codes) {
  Location loc = op.getLoc();
  auto table = cast<DenseElementsAttr>(op.getTable());
  Type element = table.getElementType();
  auto lookup = Lookup::of(static_cast<uint64_t>(table.getNumElements()),
                           element.getIntOrFloatBitWidth());
  auto index = builder.getIntegerType(lookup.placeWidth());
  Value place;
  for (auto [code, size] : llvm::zip_equal(codes, table.getType().getShape())) {
    Value part = toIndex(builder, loc, code, size, index, lookup);
    if (place) {
      auto bits = static_cast<int64_t>(llvm::Log2_64(size));
      place = arith::ShLIOp::create(builder, loc, place,
                                    constantLike(builder, place, bits));
      part = arith::OrIOp::create(builder, loc, place, part);
    }
    place = part;
  }
  Value base =
      LLVM::AddressOfOp::create(builder, loc, globalOf(builder, table));
  Value result = call(builder, loc, lookup.symbol(), {place, base},
                      builder.getIntegerType(lookup.elementBits));
  return fromBits(builder, loc, result, element);
}

} // namespace numera
