// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera {

uint64_t LookupOp::placeOf(ArrayRef<uint64_t> codes) {
  uint64_t place = 0;
  for (auto [code, size] :
       llvm::zip_equal(codes, getTable().getShapedType().getShape()))
    place = place * size + (code & (size - 1));
  return place;
}

LogicalResult LookupOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getTable().getType());
  if (!type)
    return emitOpError("has a table of type ")
           << getTable().getType() << "; expected a tensor";
  if (type.getElementType() != numera::elementType(getType()))
    return emitOpError("has a table of ")
           << type.getElementType() << " and a result of "
           << numera::elementType(getType());
  int64_t rank = type.getRank();
  if (rank != static_cast<int64_t>(getOperands().size()) || rank < 1 ||
      rank > 2)
    return emitOpError("has ")
           << getOperands().size() << " operands and a table of " << rank
           << " dimensions; expected one or two of each";
  if (type.getNumElements() > 1 << 16)
    return emitOpError("has a table of ")
           << type.getNumElements() << " elements; expected at most 65536";
  for (auto [operand, size] : llvm::zip_equal(getOperands(), type.getShape())) {
    unsigned bits =
        numera::elementType(operand.getType()).getIntOrFloatBitWidth();
    if (!llvm::isPowerOf2_64(size) || size > int64_t{1} << bits)
      return emitOpError("has a table of ")
             << size << " elements for an operand of " << bits
             << " bits; expected a power of two up to " << (int64_t{1} << bits);
  }
  return success();
}

OpFoldResult LookupOp::fold(FoldAdaptor adaptor) {
  SmallVector<uint64_t, 2> codes;
  for (Attribute operand : adaptor.getOperands()) {
    auto code = dyn_cast_or_null<IntegerAttr>(valueOfConstant(operand));
    if (!code)
      return {};
    codes.push_back(code.getValue().getZExtValue());
  }
  auto values = getTable().tryGetValues<Attribute>();
  if (!values)
    return {};
  return (*values)[placeOf(codes)];
}

} // namespace numera
