// SPDX-License-Identifier: MIT
//
// The encoding of tensors of codes without gaps, and the operations on them.

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

LogicalResult PackedAttr::verifyEncoding(
    ArrayRef<int64_t>, Type element,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  // The parser asks although it has reported the element type.
  if (!element)
    return failure();
  if (!isa<NumType>(element))
    return emitError() << "a packed tensor has elements of type " << element
                       << "; expected a '!numera.num'";
  return success();
}

bool isPacked(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<PackedAttr>(tensor.getEncoding());
}

int64_t packedBytes(int64_t count, int64_t width) {
  return ShapedType::isDynamic(count) ? count
                                      : llvm::divideCeil(count * width, 8);
}

/// `codes` in a tensor of their own, `packed` without gaps.
static LogicalResult verifyPacking(Operation *op, RankedTensorType codes,
                                   RankedTensorType packed,
                                   std::optional<uint32_t> width) {
  if (!width) {
    if (isPacked(codes) || !isPacked(packed) || codes.getEncoding() ||
        codes.getShape() != packed.getShape() ||
        codes.getElementType() != packed.getElementType())
      return op->emitOpError("is between ")
             << codes << " and " << packed
             << "; expected the same tensor of '!numera.num', once with the "
                "encoding '#numera.packed'";
    return success();
  }
  auto storage = dyn_cast<IntegerType>(codes.getElementType());
  if (!storage || *width == 0 || *width > storage.getWidth() || *width > 64)
    return op->emitOpError("has codes of ")
           << *width << " bits in " << codes.getElementType()
           << "; expected an integer that holds them, of at most 64 bits";
  int64_t count =
      codes.hasStaticShape() ? codes.getNumElements() : ShapedType::kDynamic;
  int64_t bytes = packedBytes(count, *width);
  if (packed.getRank() != 1 || !packed.getElementType().isInteger(8) ||
      packed.getDimSize(0) != bytes)
    return op->emitOpError("has ")
           << packed << " for " << codes << " in " << *width
           << " bits each; expected a tensor of "
           << (ShapedType::isDynamic(bytes) ? std::string("?")
                                            : std::to_string(bytes))
           << " bytes";
  return success();
}

LogicalResult PackOp::verify() {
  return verifyPacking(*this, cast<RankedTensorType>(getInput().getType()),
                       cast<RankedTensorType>(getType()), getWidth());
}

LogicalResult UnpackOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (getSizes().size() != size_t(type.getNumDynamicDims()))
    return emitOpError("has ") << getSizes().size() << " sizes; expected "
                               << type.getNumDynamicDims();
  return verifyPacking(
      *this, type, cast<RankedTensorType>(getInput().getType()), getWidth());
}

void LoadPackedOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isa<MemRefType>(getBytes().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getBytesMutable());
}

} // namespace numera
