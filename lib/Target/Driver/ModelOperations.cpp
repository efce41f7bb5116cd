// SPDX-License-Identifier: MIT

#include "ModelOperations.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;

namespace numera {

/// The dialects of models, in the order in which a message has them.
static constexpr StringLiteral dialects[] = {
    "affine", "arith", "bufferization", "builtin", "cf",     "complex",
    "func",   "index", "linalg",        "math",    "memref", "ml_program",
    "numera", "scf",   "shape",         "tensor",  "tosa",   "ub",
    "vector"};

/// The attribute by which a function of any dialect has attributes of LLVM's.
static constexpr StringLiteral passthrough = "passthrough";

static bool isOfModels(StringRef dialect) {
  return llvm::is_contained(dialects, dialect);
}

/// Without those of dialects that the compiler knows, and models do not have.
static SmallVector<NamedAttribute> kept(MLIRContext *context,
                                        ArrayRef<NamedAttribute> attributes) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : attributes) {
    auto [dialect, rest] = attribute.getName().getValue().split('.');
    bool goesToLLVM =
        !rest.empty() && !isOfModels(dialect) &&
        context->getDialectRegistry().getDialectAllocator(dialect);
    if (!goesToLLVM && attribute.getName() != passthrough)
      kept.push_back(attribute);
  }
  return kept;
}

/// True for a type in which another one is that models do not have: those of
/// other dialects, tensors of any rank, and vectors of any size.
static bool hasOtherType(Type type) {
  WalkResult found = type.walk([](Type part) {
    auto vector = dyn_cast<VectorType>(part);
    bool isOther = !isOfModels(part.getDialect().getNamespace()) ||
                   isa<UnrankedTensorType, UnrankedMemRefType>(part) ||
                   (vector && vector.isScalable());
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// True for a type whose elements take more bytes than memory can have.
static bool isTooLarge(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || llvm::is_contained(shaped.getShape(), 0))
    return false;
  int64_t count = 1;
  for (int64_t size : shaped.getShape())
    if (!ShapedType::isDynamic(size) && llvm::MulOverflow(count, size, count))
      return true;
  // Elements of 256 bits and their bytes are counted in 64 bits.
  return count > std::numeric_limits<int64_t>::max() / 256;
}

/// True for a cast between integers that have a sign or none.
static bool isOfSigns(UnrealizedConversionCastOp cast) {
  if (cast.getNumOperands() != 1 || cast.getNumResults() != 1)
    return false;
  auto withoutSign = [](Type type) -> Type {
    auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
    if (!element)
      return {};
    auto plain = IntegerType::get(type.getContext(), element.getWidth());
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor                   ? Type(tensor.clone(plain))
           : isa<IntegerType>(type) ? plain
                                    : Type();
  };
  Type from = withoutSign(cast.getOperand(0).getType());
  return from && from == withoutSign(cast.getResult(0).getType());
}

/// True for an operation that calls or addresses what a value names, or memory
/// that is not the model's.
static bool leavesModel(Operation *op) {
  auto global = dyn_cast<memref::GlobalOp>(op);
  auto cast = dyn_cast<UnrealizedConversionCastOp>(op);
  return isa<func::ConstantOp, func::CallIndirectOp,
             memref::ExtractAlignedPointerAsIndexOp>(op) ||
         (cast && !isOfSigns(cast)) || (global && global.isExternal());
}

/// True for an operation that takes memory for other memory, of another type or
/// size: nothing would know how much there is.
static bool takesForOther(Operation *op) {
  return isa<memref::ReinterpretCastOp, memref::ViewOp,
             memref::ExtractStridedMetadataOp>(op);
}

/// True for a vector of truths or other parts of bytes that is read from memory
/// or written there: LLVM packs them, and tensors have a byte for each.
static bool movesBits(Operation *op) {
  auto isPart = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vector.getElementType().isIntOrFloat() &&
           vector.getElementTypeBitWidth() % 8 != 0;
  };
  Value moved;
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    moved = read.getVector();
  else if (auto write = dyn_cast<vector::TransferWriteOp>(op))
    moved = write.getValueToStore();
  else if (isa<vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp,
               vector::ExpandLoadOp>(op))
    moved = op->getResult(0);
  else if (auto store = dyn_cast<vector::StoreOp>(op))
    moved = store.getValueToStore();
  else if (auto masked = dyn_cast<vector::MaskedStoreOp>(op))
    moved = masked.getValueToStore();
  return moved && isPart(moved.getType());
}

static LogicalResult checkOperation(Operation *op) {
  if (!isOfModels(op->getName().getDialectNamespace()))
    return op->emitError("'")
           << op->getName() << "' is no operation of a model; expected those "
           << "of " << llvm::join(ArrayRef(dialects).drop_back(), ", ")
           << " and " << ArrayRef(dialects).back();
  if (leavesModel(op))
    return op->emitError("'")
           << op->getName() << "' makes or takes an address, or names memory "
           << "that is not the model's; expected operations that compute";
  if (takesForOther(op))
    return op->emitError("'")
           << op->getName() << "' takes memory for other memory; expected "
           << "memref.subview, cast, expand_shape or collapse_shape, which are "
           << "checked";
  if (isa<vector::PrintOp>(op))
    return op->emitError("'") << op->getName()
                              << "' prints, which programs do not; return the "
                                 "value instead";
  if (movesBits(op))
    return op->emitError("'")
           << op->getName() << "' moves a vector whose elements are no bytes "
           << "between registers and memory; move i8, and compare or extend it";
  SmallVector<Type> types(op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    types.push_back(function.getFunctionType());
    llvm::append_range(types, function.getResultTypes());
  }
  for (Type type : types)
    if (hasOtherType(type))
      return op->emitError("has ")
             << type << ", which is no type of a model; expected numbers, "
             << "tensors of known rank, and vectors of known size";
    else if (isTooLarge(type))
      return op->emitError("has ")
             << type << ", which is larger than any memory; expected fewer "
             << "than 2^55 elements";
  return success();
}

/// Drops what would go to LLVM.
static void dropAttributes(Operation *op) {
  MLIRContext *context = op->getContext();
  op->setDiscardableAttrs(
      kept(context, SmallVector<NamedAttribute>(op->getDiscardableAttrs())));
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    call.removeArgAttrsAttr();
    call.removeResAttrsAttr();
  }
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttrs(i, kept(context, function.getArgAttrs(i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.setResultAttrs(i, kept(context, function.getResultAttrs(i)));
  }
}

LogicalResult checkOperations(ModuleOp model) {
  WalkResult checked = model->walk([&](Operation *op) {
    if (failed(checkOperation(op)))
      return WalkResult::interrupt();
    dropAttributes(op);
    // No symbol of the process has its name.
    if (auto global = dyn_cast<memref::GlobalOp>(op))
      SymbolTable::setSymbolVisibility(global,
                                       SymbolTable::Visibility::Private);
    return WalkResult::advance();
  });
  return failure(checked.wasInterrupted());
}

} // namespace numera
