// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Statistics/FlagCounts.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace numera {

ArrayAttr attributeOf(MLIRContext *context, ArrayRef<FlagCounts> counts) {
  Builder builder(context);
  SmallVector<Attribute> entries;
  for (const FlagCounts &count : counts) {
    SmallVector<NamedAttribute> entry;
    auto add = [&](StringRef key, Attribute value) {
      entry.push_back(builder.getNamedAttr(key, value));
    };
    add("name", builder.getStringAttr(count.name));
    add("operation", builder.getStringAttr(count.operation));
    add("format", builder.getStringAttr(count.format));
    add("known", builder.getI32IntegerAttr(count.known));
    if (count.isTensor)
      add("tensor", builder.getUnitAttr());
    if (count.isConstant)
      add("constant", builder.getUnitAttr());
    entries.push_back(builder.getDictionaryAttr(entry));
  }
  return builder.getArrayAttr(entries);
}

SmallVector<FlagCounts> flagCountsOf(func::FuncOp function) {
  SmallVector<FlagCounts> counts;
  unsigned results = countOwnResults(function);
  if (results == 0)
    return counts;
  auto entries =
      function.getResultAttrOfType<ArrayAttr>(results - 1, flagCountsAttribute);
  if (!entries)
    return counts;
  auto text = [](DictionaryAttr entry, StringRef key) {
    return entry.getAs<StringAttr>(key).str();
  };
  for (auto entry : entries.getAsRange<DictionaryAttr>())
    counts.push_back({text(entry, "name"), text(entry, "operation"),
                      text(entry, "format"),
                      uint8_t(entry.getAs<IntegerAttr>("known").getInt()),
                      entry.contains("tensor"), entry.contains("constant")});
  return counts;
}

} // namespace numera
