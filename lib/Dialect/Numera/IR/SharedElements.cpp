// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Memory.h"
#include "llvm/Support/xxhash.h"

#include <cstring>
#include <new>

using namespace mlir;

namespace numera {

SharedElements &SharedElements::of(MLIRContext *context) {
  return *context->getOrLoadDialect<NumeraDialect>()
              ->getRegisteredInterface<SharedElements>();
}

/// Pages of their own, which go back to the system as soon as they are
/// released: the heap keeps what lies between others.
static std::shared_ptr<char> allocatePages(size_t bytes) {
  std::error_code error;
  llvm::sys::MemoryBlock block = llvm::sys::Memory::allocateMappedMemory(
      bytes, /*NearBlock=*/nullptr,
      llvm::sys::Memory::MF_READ | llvm::sys::Memory::MF_WRITE, error);
  if (error)
    llvm::report_bad_alloc_error("Allocation failed");
  return {static_cast<char *>(block.base()), [block](char *) mutable {
            llvm::sys::Memory::releaseMappedMemory(block);
          }};
}

std::shared_ptr<char> SharedElements::allocate(size_t bytes) {
  constexpr size_t large = size_t(1) << 20;
  if (bytes >= large)
    return allocatePages(bytes);
  auto release = [](char *memory) {
    ::operator delete(memory, std::align_val_t(alignment));
  };
  return {
      static_cast<char *>(::operator new(bytes, std::align_val_t(alignment))),
      release};
}

DenseResourceElementsAttr SharedElements::create(ShapedType type,
                                                 SharedBytes bytes) {
  unsigned width = type.getElementType().getIntOrFloatBitWidth() / 8;
  assert(type.getElementType().getIntOrFloatBitWidth() % 8 == 0);
  ArrayRef<char> data(bytes.get(), size_t(type.getNumElements()) * width);
  auto &resources =
      DenseResourceElementsHandle::getManagerInterface(getContext());
  DenseResourceElementsHandle handle = resources.insert(
      "numera", AsmResourceBlob(data, alignof(std::max_align_t), {},
                                /*dataIsMutable=*/false));
  known[handle.getKey()] = std::move(bytes);
  return DenseResourceElementsAttr::get(type, handle);
}

ElementsAttr SharedElements::createConstant(ShapedType type,
                                            SharedBytes bytes) {
  size_t width = type.getElementType().getIntOrFloatBitWidth() / 8;
  size_t size = size_t(type.getNumElements()) * width;
  if (size >= leastBytes)
    return create(type, std::move(bytes));
  return DenseElementsAttr::getFromRawBuffer(type, {bytes.get(), size});
}

SharedBytes SharedElements::find(Attribute constant) {
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(constant);
  return resource ? of(resource.getContext())
                        .known.lookup(resource.getRawHandle().getKey())
                  : SharedBytes();
}

void SharedElements::release(Attribute constant) {
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(constant);
  if (!resource ||
      !of(resource.getContext()).known.erase(resource.getRawHandle().getKey()))
    return;
  DenseResourceElementsHandle handle = resource.getRawHandle();
  handle.getResource()->setBlob(AsmResourceBlob());
}

Attribute elementsOf(Operation *constant) {
  if (auto number = dyn_cast_or_null<arith::ConstantOp>(constant))
    return number.getValue();
  auto codes = dyn_cast_or_null<ConstantOp>(constant);
  return codes ? codes.getValue() : Attribute();
}

void SharedConstants::find(Operation *root) {
  root->walk([&](Operation *op) {
    Attribute elements = elementsOf(op);
    if (!SharedElements::find(elements))
      return;
    constants.push_back(op);
    uses[elements] += llvm::range_size(op->getUses());
  });
}

void SharedConstants::release(Value value) {
  Attribute elements = elementsOf(value.getDefiningOp());
  auto found = elements ? uses.find(elements) : uses.end();
  if (found != uses.end() && --found->second == 0)
    SharedElements::release(elements);
}

void SharedConstants::unite() {
  llvm::DenseMap<std::pair<uint64_t, Type>, Attribute> known;
  for (Operation *constant : constants) {
    Attribute elements = elementsOf(constant);
    ArrayRef<char> bytes = rawElements(elements);
    ArrayRef<uint8_t> hashed(reinterpret_cast<const uint8_t *>(bytes.data()),
                             bytes.size());
    Attribute &first =
        known[{llvm::xxh3_64bits(hashed), constant->getResult(0).getType()}];
    if (!first)
      first = elements;
    if (first == elements || rawElements(first) != bytes)
      continue;
    constant->setAttr("value", first);
    size_t moved = llvm::range_size(constant->getUses());
    uses[first] += moved;
    if ((uses[elements] -= moved) == 0)
      SharedElements::release(elements);
  }
}

void SharedConstants::eraseUnused() {
  llvm::SetVector<Attribute> erased;
  llvm::SmallDenseSet<Attribute> used;
  llvm::erase_if(constants, [&](Operation *constant) {
    if (!constant->use_empty()) {
      used.insert(elementsOf(constant));
      return false;
    }
    erased.insert(elementsOf(constant));
    constant->erase();
    return true;
  });
  for (Attribute elements : erased)
    if (!used.contains(elements))
      SharedElements::release(elements);
}

void SharedConstants::makeDense(function_ref<bool(Operation *)> isWanted) {
  eraseUnused();
  llvm::MapVector<Attribute, SmallVector<Operation *, 1>> replaced;
  llvm::SmallDenseSet<Attribute> kept;
  for (Operation *constant : constants)
    if (isWanted && !isWanted(constant))
      kept.insert(elementsOf(constant));
    else
      replaced[elementsOf(constant)].push_back(constant);
  for (auto &[elements, uses] : replaced) {
    DenseElementsAttr dense = denseElements(elements);
    if (!dense) // released before
      continue;
    for (Operation *constant : uses)
      constant->setAttr("value", dense);
    if (!kept.contains(elements))
      SharedElements::release(elements);
  }
}

ArrayRef<char> rawElements(Attribute constant) {
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(constant))
    return dense.getRawData();
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(constant);
  const AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? blob->getData() : ArrayRef<char>();
}

DenseElementsAttr denseElements(Attribute constant) {
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(constant))
    return dense;
  ArrayRef<char> bytes = rawElements(constant);
  if (bytes.empty())
    return {};
  return DenseElementsAttr::getFromRawBuffer(
      cast<ElementsAttr>(constant).getShapedType(), bytes);
}

void makeElementsDense(ModuleOp module) {
  llvm::SetVector<Attribute> replaced;
  module.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (SharedElements::find(attribute.getValue())) {
        replaced.insert(attribute.getValue());
        op->setAttr(attribute.getName(), denseElements(attribute.getValue()));
      }
  });
  for (Attribute constant : replaced)
    SharedElements::release(constant);
}

OwningOpRef<ModuleOp> cloneModule(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  SharedElements &elements = SharedElements::of(module.getContext());
  llvm::DenseMap<Attribute, Attribute> made;
  copy->walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (SharedBytes bytes = SharedElements::find(attribute.getValue())) {
        Attribute &own = made[attribute.getValue()];
        if (!own)
          own = elements.create(
              cast<ElementsAttr>(attribute.getValue()).getShapedType(),
              std::move(bytes));
        op->setAttr(attribute.getName(), own);
      }
  });
  return copy;
}

} // namespace numera
