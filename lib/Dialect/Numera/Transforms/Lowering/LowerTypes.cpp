// SPDX-License-Identifier: MIT
//
// Every `!numera.num` and `!numera.quire` becomes its storage integer.
// Operations of other dialects are rebuilt as they are, with converted
// operands, results, attributes and regions: tensor, linalg, scf, memref,
// vector and func need no pattern of their own. Operations of `numera` keep
// their definition and say in attributes what the integers mean.

#include "LowerTypes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Transforms/DialectConversion.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "numera/Dialect/Numera/IR/StatusFlags.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERALOWERTYPES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

class StorageConverter : public TypeConverter {
public:
  StorageConverter() {
    replacer.addReplacement(
        [](NumType type) -> Type { return type.getStorageType(); });
    replacer.addReplacement(
        [](QuireType type) -> Type { return type.getStorageType(); });
    // Codes without gaps are bytes.
    replacer.addReplacement([](RankedTensorType type)
                                -> std::optional<std::pair<Type, WalkResult>> {
      if (!numera::isPacked(type))
        return std::nullopt;
      int64_t count =
          type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
      int64_t width = cast<NumType>(type.getElementType()).getFormat().width();
      Type bytes = RankedTensorType::get(
          packedBytes(count, width), IntegerType::get(type.getContext(), 8));
      return std::pair(bytes, WalkResult::skip());
    });
    addConversion([this](Type type) { return replacer.replace(type); });
  }
  Attribute convertAttribute(Attribute attribute) const {
    // A format names a format, in either form.
    return isa<FormatAttr>(attribute) ? attribute : replacer.replace(attribute);
  }

private:
  mutable AttrTypeReplacer replacer;
};

/// Rebuilds an operation of any dialect.
struct RebuildOperation : ConversionPattern {
  RebuildOperation(const StorageConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 0, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa_and_nonnull<NumeraDialect>(op->getDialect()))
      return failure();
    auto &converter = *getTypeConverter<StorageConverter>();
    OperationState state(op->getLoc(), op->getName());
    SmallVector<Type> results;
    if (failed(converter.convertTypes(op->getResultTypes(), results)))
      return failure();
    state.addOperands(operands);
    state.addTypes(results);
    state.addSuccessors(op->getSuccessors());
    for (NamedAttribute attribute : op->getAttrDictionary())
      state.addAttribute(attribute.getName(),
                         converter.convertAttribute(attribute.getValue()));
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    Operation *rebuilt = rewriter.create(state);
    for (auto [from, to] : llvm::zip(op->getRegions(), rebuilt->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.end());
      if (failed(rewriter.convertRegionTypes(&to, converter)))
        return failure();
    }
    rewriter.replaceOp(op, rebuilt->getResults());
    return success();
  }
};

/// An operation on values becomes the same operation on storage.
struct ToStorageForm : OpInterfaceConversionPattern<FormatOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult
  matchAndRewrite(FormatOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    OperationState state(op->getLoc(), op->getName());
    Type result = getTypeConverter()->convertType(op->getResult(0).getType());
    state.addOperands(operands);
    state.addTypes(result);
    state.addAttributes(op->getAttrs());
    ElementKind kind = op.getResultElement();
    SmallVector<Attribute> formats;
    bool mixed = false;
    for (unsigned i = 0; i < op.getFormatOperandCount(); ++i) {
      ElementKind operand = op.getOperandElement(i);
      mixed |= operand != kind;
      formats.push_back(attributeOf(getContext(), operand));
    }
    state.attributes.set("format", attributeOf(getContext(), kind));
    if (mixed)
      state.attributes.set("operand_formats", rewriter.getArrayAttr(formats));
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};

/// `numera.pack` and `numera.unpack` say how wide codes are.
template <typename Op> struct PackingToStorageForm : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto num = cast<NumType>(numera::elementType(op.getInput().getType()));
    OperationState state(op->getLoc(), op->getName(), adaptor.getOperands(),
                         this->getTypeConverter()->convertType(op.getType()));
    state.addAttribute("width",
                       rewriter.getI32IntegerAttr(num.getFormat().width()));
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};

/// Its attributes say all in either form.
struct StatusFlagsToStorageForm : OpConversionPattern<StatusFlagsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StatusFlagsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<StatusFlagsOp>(
        op, op->getResultTypes(), adaptor.getOperands(), op->getAttrs());
    return success();
  }
};

struct QuireToStorageForm : OpInterfaceConversionPattern<QuireOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;

  LogicalResult
  matchAndRewrite(QuireOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    Type result = getTypeConverter()->convertType(op->getResult(0).getType());
    Format format = op.getQuireFormat();
    OperationState state(op->getLoc(), op->getName(), operands, result,
                         op->getAttrs());
    state.attributes.set("format", FormatAttr::get(getContext(), format));
    if (auto round = dyn_cast<QuireRoundOp>(op.getOperation()))
      if (Format rounded = round.getRoundedFormat(); rounded != format)
        state.attributes.set("result_format",
                             FormatAttr::get(getContext(), rounded));
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};

struct LowerQuireZero : OpConversionPattern<QuireZeroOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(QuireZeroOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<QuireType>(op.getType());
    if (!type)
      return failure();
    Format format = type.getFormat();
    auto *dialect = op->getContext()->getLoadedDialect<NumeraDialect>();
    bool hasInit = llvm::any_of(
        dialect->getRegistry().lowerings(), [&](const Lowering &lowering) {
          return lowering.operation == OpKind::AccumulatorInit &&
                 lowering.result == format;
        });
    if (hasInit)
      rewriter.replaceOpWithNewOp<QuireZeroOp>(
          op, type.getStorageType(), FormatAttr::get(getContext(), format));
    else
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          op, rewriter.getIntegerAttr(type.getStorageType(), 0));
    return success();
  }
};

static Value integerConstant(OpBuilder &builder, Location loc, Type type,
                             uint64_t value) {
  APInt number(numera::elementType(type).getIntOrFloatBitWidth(), value);
  TypedAttr attribute =
      builder.getIntegerAttr(numera::elementType(type), number);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attribute = DenseElementsAttr::get(shaped, number);
  return arith::ConstantOp::create(builder, loc, attribute);
}

/// A word of the integer that a quire is.
struct LowerQuireWord : OpConversionPattern<QuireWordOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(QuireWordOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value quire = adaptor.getQuire();
    Value bits = integerConstant(rewriter, loc, quire.getType(),
                                 uint64_t(64) * op.getIndex());
    Value word = arith::ShRUIOp::create(rewriter, loc, quire, bits);
    if (word.getType() == op.getType())
      rewriter.replaceOp(op, word);
    else
      rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), word);
    return success();
  }
};

struct LowerQuireFromWords : OpConversionPattern<QuireFromWordsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(QuireFromWordsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = getTypeConverter()->convertType(op.getType());
    Value quire;
    for (auto [i, word] : llvm::enumerate(adaptor.getWords())) {
      Value part = word;
      if (word.getType() != type)
        part = arith::ExtUIOp::create(rewriter, loc, type, word);
      if (i != 0) {
        Value bits = integerConstant(rewriter, loc, type, 64 * i);
        part = arith::ShLIOp::create(rewriter, loc, part, bits);
        part = arith::OrIOp::create(rewriter, loc, quire, part);
      }
      quire = part;
    }
    rewriter.replaceOp(op, quire);
    return success();
  }
};

/// numera.constant, and what upstream's folders make of several of them.
template <typename Op> struct LowerConstant : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, cast<TypedAttr>(valueOfConstant(op.getValue())));
    return success();
  }
};

} // namespace

static bool holdsNum(Type type) {
  return type
      .walk([](Type part) {
        return isa<NumType, QuireType>(part) ? WalkResult::interrupt()
                                             : WalkResult::advance();
      })
      .wasInterrupted();
}

bool mentionsNum(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), holdsNum) ||
      llvm::any_of(op->getResultTypes(), holdsNum))
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (llvm::any_of(block.getArgumentTypes(), holdsNum))
        return true;
  return op->getAttrDictionary()
      .walk([](Type part) {
        return isa<NumType, QuireType>(part) ? WalkResult::interrupt()
                                             : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Only functions, packing, unpacking and what carries values as they are may
/// know of packed tensors.
static LogicalResult checkPacked(ModuleOp module) {
  auto result = module.walk([](Operation *op) {
    bool isKnown = isa<PackOp, UnpackOp, CallOpInterface>(op) ||
                   op->hasTrait<mlir::OpTrait::ReturnLike>() ||
                   isa_and_nonnull<scf::SCFDialect>(op->getDialect());
    if (isKnown || (llvm::none_of(op->getOperandTypes(), numera::isPacked) &&
                    llvm::none_of(op->getResultTypes(), numera::isPacked)))
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' is on a packed tensor; unpack it first";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Folds casts of weights to floats one after the other, so that the codes of
/// each are released before the next is cast. Makes the others dense.
static void castWeights(ModuleOp module) {
  SharedConstants weights;
  weights.find(module);
  IRRewriter rewriter(module.getContext());
  llvm::DenseMap<std::pair<Attribute, Attribute>, TypedAttr> known;
  module.walk([&](CastOp cast) {
    Attribute codes = elementsOf(cast.getOperand().getDefiningOp());
    if (!SharedElements::find(codes) ||
        !isa<FloatType>(numera::elementType(cast.getType())))
      return;
    // What a cast gives follows from its operand, its type and its attributes.
    TypedAttr &values = known[{
        codes, ArrayAttr::get(cast.getContext(), {TypeAttr::get(cast.getType()),
                                                  cast->getAttrDictionary()})}];
    SmallVector<OpFoldResult> folded;
    if (!values && succeeded(cast->fold({codes}, folded)) && !folded.empty())
      values = llvm::cast<TypedAttr>(llvm::cast<Attribute>(folded.front()));
    if (!values)
      return;
    rewriter.setInsertionPoint(cast);
    Value operand = cast.getOperand();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(cast, values);
    weights.release(operand);
  });
  weights.makeDense(llvm::IsaPred<ConstantOp>);
}

/// Scales are no part of a code.
static LogicalResult checkScaled(ModuleOp module) {
  auto result = module.walk([](Operation *op) {
    auto isScaled = [](Type type) { return bool(numera::scalingOf(type)); };
    if (llvm::none_of(op->getOperandTypes(), isScaled) &&
        llvm::none_of(op->getResultTypes(), isScaled))
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' is on a scaled tensor; expand its scales first "
                          "(numera-expand-scales)";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult lowerTypes(ModuleOp module) {
  if (failed(checkPacked(module)) || failed(checkScaled(module)))
    return failure();
  castWeights(module);
  MLIRContext *context = module.getContext();
  StorageConverter converter;
  // The conversion's root cannot be rebuilt.
  module.walk([&](ModuleOp op) {
    for (NamedAttribute attribute : op->getDiscardableAttrDictionary())
      op->setDiscardableAttr(attribute.getName(),
                             converter.convertAttribute(attribute.getValue()));
  });
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [](Operation *op) { return !mentionsNum(op); });
  RewritePatternSet patterns(context);
  patterns.add<RebuildOperation>(converter, context);
  patterns
      .add<ToStorageForm, StatusFlagsToStorageForm, LowerConstant<ConstantOp>,
           LowerConstant<arith::ConstantOp>, QuireToStorageForm, LowerQuireZero,
           LowerQuireWord, LowerQuireFromWords, PackingToStorageForm<PackOp>,
           PackingToStorageForm<UnpackOp>>(converter, context);
  return applyPartialConversion(module, target, std::move(patterns));
}

namespace {
struct LowerTypesPass : impl::NumeraLowerTypesBase<LowerTypesPass> {
  void runOnOperation() override {
    if (failed(lowerTypes(getOperation())))
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (mentionsNum(op)) {
        op->emitError("a type of numera is left in '") << op->getName() << "'";
        signalPassFailure();
      }
    });
  }
};
} // namespace

} // namespace numera
