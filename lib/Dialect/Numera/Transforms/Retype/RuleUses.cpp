// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Retype/RuleUses.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

static constexpr llvm::StringLiteral attributeName = "numera.rules";

void numera::setRuleUses(ModuleOp module, const ResolvedPolicy &policy,
                         ArrayRef<RuleOperations> uses) {
  Builder builder(module.getContext());
  SmallVector<Attribute> list;
  for (auto [resolved, operations] : llvm::zip_equal(policy.rules, uses)) {
    SmallVector<StringRef> names(operations.begin(), operations.end());
    list.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("match",
                              builder.getStringAttr(resolved.rule->pattern())),
         builder.getNamedAttr("operations", builder.getStrArrayAttr(names))}));
  }
  if (!list.empty())
    module->setAttr(attributeName, builder.getArrayAttr(list));
}

std::vector<numera::RuleOperations> numera::takeRuleUses(ModuleOp module) {
  std::vector<RuleOperations> uses;
  auto list = module->getAttrOfType<ArrayAttr>(attributeName);
  if (!list)
    return uses;
  for (auto each : list.getAsRange<DictionaryAttr>()) {
    RuleOperations &names = uses.emplace_back();
    if (auto operations = each.getAs<ArrayAttr>("operations"))
      for (auto name : operations.getAsRange<StringAttr>())
        names.push_back(name.str());
  }
  module->removeAttr(attributeName);
  return uses;
}
