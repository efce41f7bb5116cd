// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Proofs/LibraryUses.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

static constexpr llvm::StringLiteral attributeName = "numera.library_uses";

void numera::setLibraryUses(ModuleOp module, ArrayRef<LibraryUse> uses) {
  Builder builder(module.getContext());
  SmallVector<Attribute> list;
  for (const LibraryUse &use : uses) {
    NamedAttrList each;
    each.append("operation", builder.getStringAttr(use.operation));
    each.append("format", builder.getStringAttr(use.format));
    if (!use.equivalent.empty())
      each.append("equivalent", builder.getStringAttr(use.equivalent));
    if (use.isProven)
      each.append("exceptions", builder.getI64IntegerAttr(use.exceptions));
    list.push_back(each.getDictionary(module.getContext()));
  }
  if (!list.empty())
    module->setAttr(attributeName, builder.getArrayAttr(list));
}

std::vector<numera::LibraryUse> numera::takeLibraryUses(ModuleOp module) {
  std::vector<LibraryUse> uses;
  auto list = module->getAttrOfType<ArrayAttr>(attributeName);
  if (!list)
    return uses;
  for (auto each : list.getAsRange<DictionaryAttr>()) {
    auto text = [&](StringRef key) {
      auto value = each.getAs<StringAttr>(key);
      return value ? value.str() : std::string();
    };
    auto exceptions = each.getAs<IntegerAttr>("exceptions");
    uses.push_back({text("operation"), text("format"), text("equivalent"),
                    bool(exceptions),
                    exceptions ? unsigned(exceptions.getInt()) : 0});
  }
  module->removeAttr(attributeName);
  return uses;
}
