// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "numera/Dialect/Numera/IR/Numera.h"

#include <cstring>
#include <new>

using namespace mlir;

namespace numera {

SharedElements &SharedElements::of(MLIRContext *context) {
  return *context->getOrLoadDialect<NumeraDialect>()
              ->getRegisteredInterface<SharedElements>();
}

std::shared_ptr<char> SharedElements::allocate(size_t bytes) {
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

void SharedConstants::find(Operation *root) {
  root->walk([&](arith::ConstantOp constant) {
    if (!SharedElements::find(constant.getValue()))
      return;
    constants.push_back(constant);
    uses[constant.getValue()] += llvm::range_size(constant->getUses());
  });
}

void SharedConstants::release(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto found = constant ? uses.find(constant.getValue()) : uses.end();
  if (found != uses.end() && --found->second == 0)
    SharedElements::release(constant.getValue());
}

void SharedConstants::eraseUnused() {
  llvm::SetVector<Attribute> erased;
  llvm::SmallDenseSet<Attribute> used;
  llvm::erase_if(constants, [&](arith::ConstantOp constant) {
    if (!constant->use_empty()) {
      used.insert(constant.getValue());
      return false;
    }
    erased.insert(constant.getValue());
    constant.erase();
    return true;
  });
  for (Attribute elements : erased)
    if (!used.contains(elements))
      SharedElements::release(elements);
}

void SharedConstants::makeDense(
    function_ref<bool(arith::ConstantOp)> isWanted) {
  eraseUnused();
  llvm::SetVector<Attribute> replaced;
  llvm::SmallDenseSet<Attribute> kept;
  for (arith::ConstantOp constant : constants) {
    Attribute elements = constant.getValue();
    if (isWanted && !isWanted(constant)) {
      kept.insert(elements);
    } else if (ElementsAttr dense = denseElements(elements)) {
      replaced.insert(elements);
      constant.setValueAttr(dense);
    }
  }
  for (Attribute elements : replaced)
    if (!kept.contains(elements))
      SharedElements::release(elements);
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
