// SPDX-License-Identifier: MIT
//
//   func @f(%q: !mxfp8) -> !mxfp8       func @f(%e: elements, %s: scales)
//                                           -> (elements, scales)
//                                   →     %q = scaled_from_parts %e, %s
//     return %r                           %e', %s' = scaled_parts %r
//                                         return %e', %s'

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Transforms/DialectConversion.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERADECOMPOSESCALEDSIGNATURES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

struct PartsConverter : TypeConverter {
  PartsConverter() {
    addConversion([](Type type) { return type; });
    addConversion(
        [](RankedTensorType type,
           SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
          if (!scalingOf(type))
            return std::nullopt;
          for (const ScaledPart &part : partsOf(type))
            parts.push_back(part.type);
          return success();
        });
    addSourceMaterialization([](OpBuilder &builder, RankedTensorType type,
                                ValueRange parts, Location loc) -> Value {
      return ScaledFromPartsOp::create(builder, loc, type, parts);
    });
    addTargetMaterialization([](OpBuilder &builder, TypeRange types,
                                ValueRange scaled,
                                Location loc) -> SmallVector<Value> {
      if (scaled.size() != 1 || !scalingOf(scaled[0].getType()))
        return {};
      return ScaledPartsOp::create(builder, loc, types, scaled[0]).getResults();
    });
  }
};

constexpr StringLiteral nameAttribute = "numera.name";

/// The attributes of the parts that values of `types` become: those of plain
/// values are theirs, and a scaled one only has a name.
SmallVector<Attribute>
attributesOfParts(TypeRange types,
                  llvm::function_ref<DictionaryAttr(unsigned)> attributesOf) {
  SmallVector<Attribute> result;
  for (auto [i, type] : llvm::enumerate(types)) {
    Builder builder(type.getContext());
    DictionaryAttr attributes = attributesOf(unsigned(i));
    if (!attributes)
      attributes = builder.getDictionaryAttr({});
    if (!scalingOf(type)) {
      result.push_back(attributes);
      continue;
    }
    auto name = attributes.getAs<StringAttr>(nameAttribute);
    for (const ScaledPart &part : partsOf(cast<RankedTensorType>(type))) {
      SmallVector<NamedAttribute> own;
      if (name)
        own.emplace_back(nameAttribute,
                         builder.getStringAttr(name.getValue() + part.suffix));
      result.push_back(builder.getDictionaryAttr(own));
    }
  }
  return result;
}

bool hasScaled(func::FuncOp function) {
  auto isScaled = [](Type type) { return bool(scalingOf(type)); };
  return llvm::any_of(function.getArgumentTypes(), isScaled) ||
         llvm::any_of(function.getResultTypes(), isScaled);
}

/// Packed elements are bytes outside, which do not say how many they are of.
LogicalResult checkSizes(func::FuncOp function) {
  for (Type type : function.getArgumentTypes()) {
    auto scaled = dyn_cast<RankedTensorType>(type);
    if (scalingOf(type) && isPacked(partsOf(scaled)[0].type) &&
        !scaled.hasStaticShape())
      return function.emitError("'")
             << function.getName() << "' takes " << type
             << ", packed elements of unknown number; expected sizes, or "
                "storage that is not packed";
  }
  return success();
}

struct DecomposeScaledSignaturesPass
    : impl::NumeraDecomposeScaledSignaturesBase<DecomposeScaledSignaturesPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (hasScaled(function))
        functions.push_back(function);
    if (functions.empty())
      return;
    struct Attributes {
      SmallVector<Attribute> arguments, results;
    };
    SmallVector<Attributes> attributes;
    for (func::FuncOp function : functions) {
      if (failed(checkSizes(function)))
        return signalPassFailure();
      attributes.push_back(
          {attributesOfParts(
               function.getArgumentTypes(),
               [&](unsigned i) { return function.getArgAttrDict(i); }),
           attributesOfParts(function.getResultTypes(), [&](unsigned i) {
             return function.getResultAttrDict(i);
           })});
      function.removeArgAttrsAttr();
      function.removeResAttrsAttr();
    }
    if (failed(convert()))
      return signalPassFailure();
    for (auto [function, its] : llvm::zip_equal(functions, attributes)) {
      function.setAllArgAttrs(its.arguments);
      function.setAllResultAttrs(its.results);
    }
  }

  LogicalResult convert() {
    MLIRContext *context = &getContext();
    PartsConverter converter;
    RewritePatternSet patterns(context);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   converter);
    populateCallOpTypeConversionPattern(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp function) {
      return converter.isSignatureLegal(function.getFunctionType());
    });
    target.addDynamicallyLegalOp<func::CallOp, func::ReturnOp>(
        [&](Operation *op) { return converter.isLegal(op); });
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};
} // namespace

} // namespace numera
