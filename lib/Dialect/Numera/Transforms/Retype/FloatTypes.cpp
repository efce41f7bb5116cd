// SPDX-License-Identifier: MIT

#include "FloatTypes.h"
#include "Retype.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

Format formatOfFloat(const Registry &registry, FloatType type) {
  std::string name, error;
  llvm::raw_string_ostream(name) << Type(type);
  return registry.lookupFloatType(name, error);
}

Format FloatTypes::formatOf(Type type) const {
  Type element = numera::elementType(type);
  auto number = dyn_cast<FloatType>(element);
  if (!number)
    return {};
  auto [entry, isNew] = formats.try_emplace(element);
  if (isNew)
    entry->second = formatOfFloat(registry, number);
  return entry->second;
}

bool FloatTypes::isReplaced(Type type) const {
  Format format = formatOf(type);
  return format && llvm::is_contained(replaced, format);
}

bool FloatTypes::isSmall(Type type) {
  Type element = numera::elementType(type);
  return isa<FloatType>(element) && !element.isF32() && !element.isF64();
}

Type FloatTypes::outside(Type type) const {
  if (!isSmall(type))
    return type;
  Format format = formatOf(type);
  return format ? withElement(type, typeOfFormat(type.getContext(), format))
                : type;
}

Type FloatTypes::inside(Type type, const Format &format) const {
  bool isMemory = isa<BaseMemRefType>(type); // memory stays as it is
  return !isMemory && isReplaced(type)
             ? withElement(type, typeOfFormat(type.getContext(), format))
             : outside(type);
}

} // namespace numera
