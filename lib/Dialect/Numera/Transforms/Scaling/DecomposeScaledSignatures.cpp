// SPDX-License-Identifier: MIT
//
//   func @f(%q: !mxfp8) -> !mxfp8       func @f(%e: elements, %s: scales)
//                                           -> (elements, scales)
//                                   →     %q = scaled_from_parts %e, %s
//     return %r                           %e', %s' = scaled_parts %r
//                                         return %e', %s'
//
// and what loops and branches of scf carry likewise.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
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

bool isScaled(Type type) { return bool(scalingOf(type)); }

bool hasScaled(func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(), isScaled) ||
         llvm::any_of(function.getResultTypes(), isScaled);
}

/// True for a loop or a branch whose region takes or returns one.
bool carriesScaled(Operation *op) {
  return isa_and_nonnull<scf::SCFDialect>(op->getDialect()) &&
         (llvm::any_of(op->getOperandTypes(), isScaled) ||
          llvm::any_of(op->getResultTypes(), isScaled));
}

/// Packed elements are bytes outside, which do not say how many they are of.
LogicalResult checkSizes(Operation *op, StringRef name, TypeRange types) {
  for (Type type : types) {
    auto scaled = dyn_cast<RankedTensorType>(type);
    if (isScaled(type) && isPacked(partsOf(scaled)[0].type) &&
        !scaled.hasStaticShape())
      return op->emitError("'")
             << name << "' takes " << type
             << ", packed elements of unknown number; expected sizes, or "
                "storage that is not packed";
  }
  return success();
}

/// The same for what is carried; true in `found` if there is any.
LogicalResult checkCarried(ModuleOp module, bool &found) {
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!carriesScaled(op))
      return WalkResult::advance();
    found = true;
    StringRef name = op->getName().getStringRef();
    return failed(checkSizes(op, name, op->getOperandTypes())) ||
                   failed(checkSizes(op, name, op->getResultTypes()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

struct DecomposeScaledSignaturesPass
    : impl::NumeraDecomposeScaledSignaturesBase<DecomposeScaledSignaturesPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (hasScaled(function))
        functions.push_back(function);
    bool isCarried = false;
    if (failed(checkCarried(getOperation(), isCarried)))
      return signalPassFailure();
    if (functions.empty() && !isCarried)
      return;
    struct Attributes {
      SmallVector<Attribute> arguments, results;
    };
    SmallVector<Attributes> attributes;
    for (func::FuncOp function : functions) {
      if (failed(checkSizes(function, function.getName(),
                            function.getArgumentTypes())))
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
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
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
