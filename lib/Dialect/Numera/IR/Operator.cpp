// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/IR/Operator.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

static StringAttr nameIn(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto kept = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                    : DictionaryAttr();
  return kept ? kept.getAs<StringAttr>(numera::operatorKey) : StringAttr();
}

Location numera::withOperator(Location loc, StringRef name) {
  Builder builder(loc.getContext());
  auto kept = builder.getNamedAttr(operatorKey, builder.getStringAttr(name));
  return FusedLoc::get(loc.getContext(), loc, builder.getDictionaryAttr(kept));
}

StringRef numera::operatorOf(Location loc) {
  StringRef name;
  loc->walk([&](Location inner) {
    if (StringAttr kept = nameIn(inner)) {
      name = kept.getValue();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}
