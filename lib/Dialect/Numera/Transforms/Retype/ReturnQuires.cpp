// SPDX-License-Identifier: MIT
//
// Results whose sums are returned as well. Behind the results of a function
// stand, for each result that was asked for, the words of the quire that it was
// rounded from:
//
//   %s = linalg.generic … {numera.quire_mac}       %s = …
//   %r = numera.quire_round %s                     %r = numera.quire_round %s
//   return %r                                      return %r, (words of %s)
//
// A result that is moved after its rounding has the words moved in the same
// way. Where rounded sums are added, as those of a weight that is used in
// several places, or where a loop adds values to elements, as gradients of an
// embedding are, the words are those of one sum. Any other result is a value;
// its words are those of a quire that has this value. Callers tell one from the
// other by the name of the words, `quire posit<16,2>` or `value posit<16,2>`.

#include "Retype.h"
#include "RetypeRules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

namespace {
/// Builds the sum, before any rounding, that a value is made of.
class SumBuilder {
public:
  explicit SumBuilder(OpBuilder &builder) : builder(builder) {}

  /// The sum that a value is the rounding of, moved as the value is: of one
  /// contraction, or of several that are added; null if it is something else.
  Value behind(Value value);
  /// The value as a sum of one term.
  Value ofOne(Value value, Type quire);

private:
  Value moved(Operation *op);
  Value ofTwo(Value lhs, Value rhs);
  Value ofLoop(scf::ForOp loop);
  scf::ForOp rebuild(scf::ForOp loop, Value start, IRMapping &mapping);

  OpBuilder &builder;
  /// Of the tensors whose elements a loop adds.
  DenseMap<Value, Value> terms;
};
} // namespace

Value SumBuilder::ofOne(Value value, Type quire) {
  Location loc = value.getLoc();
  Value zero = QuireZeroOp::create(builder, loc, quire, FormatAttr());
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, value), quire);
  Value sums = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  return QuireAddOp::create(builder, loc, sums.getType(), sums, value,
                            FormatAttr());
}

/// The operands of an addition of tensors, of each element to its own.
static std::optional<std::pair<Value, Value>> addendsOf(Operation *op) {
  if (auto add = dyn_cast<AddOp>(op); add && isa<TensorType>(add.getType()))
    return std::pair(add.getLhs(), add.getRhs());
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 2 ||
      generic.getNumReductionLoops() != 0 ||
      generic.getBody()->getOperations().size() != 2 ||
      llvm::any_of(generic.getIndexingMapsArray(),
                   [](AffineMap map) { return !map.isIdentity(); }))
    return std::nullopt;
  auto add = dyn_cast<AddOp>(generic.getBody()->front());
  ArrayRef<BlockArgument> inputs = generic.getBody()->getArguments();
  if (!add || add.getLhs() == add.getRhs() ||
      !llvm::is_contained(inputs.take_front(2), add.getLhs()) ||
      !llvm::is_contained(inputs.take_front(2), add.getRhs()))
    return std::nullopt;
  return std::pair(generic.getInputs()[0], generic.getInputs()[1]);
}

static bool isZero(Value value) {
  auto constant = dyn_cast_or_null<DenseElementsAttr>(valueOfConstant(value));
  if (!constant || !constant.isSplat())
    return false;
  if (auto codes = dyn_cast<DenseIntElementsAttr>(constant))
    return codes.getSplatValue<APInt>().isZero();
  return constant.getSplatValue<APFloat>().isPosZero();
}

Value SumBuilder::behind(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto round = dyn_cast<QuireRoundOp>(op))
    return round.getQuire();
  if (auto addends = addendsOf(op))
    return ofTwo(addends->first, addends->second);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return ofLoop(loop);
  // A fill and a concatenation have other parts.
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
          tensor::ExtractSliceOp>(op) ||
      (generic && generic.getNumDpsInputs() == 1 && onlyMoves(generic) &&
       generic.getBody()->getTerminator()->getOperand(0) ==
           generic.getBody()->getArgument(0)))
    return moved(op);
  return {};
}

/// The operation on quires, where its operand is a sum.
Value SumBuilder::moved(Operation *op) {
  Value sum = behind(op->getOperand(0));
  if (!sum)
    return {};
  Type quire = numera::elementType(sum.getType());
  IRMapping mapping;
  mapping.map(op->getOperand(0), sum);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    mapping.map(
        generic.getDpsInits()[0],
        tensor::EmptyOp::create(
            builder, op->getLoc(),
            tensor::getMixedSizes(builder, op->getLoc(), op->getResult(0)),
            quire)
            .getResult());
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(withElement(copy->getResult(0).getType(), quire));
  for (Region &region : copy->getRegions())
    for (BlockArgument argument : region.getArguments())
      argument.setType(quire);
  return copy->getResult(0);
}

Value SumBuilder::ofTwo(Value lhs, Value rhs) {
  Value sum = behind(lhs), other = behind(rhs);
  if (!sum)
    std::swap(sum, other), std::swap(lhs, rhs);
  if (!sum || isZero(rhs))
    return sum;
  Location loc = sum.getLoc();
  if (other && other.getType() != sum.getType())
    return {};
  if (other)
    return QuireMergeOp::create(builder, loc, sum.getType(), sum, other,
                                FormatAttr());
  auto quire = cast<QuireType>(numera::elementType(sum.getType()));
  if (formatOfType(numera::elementType(rhs.getType())) != quire.getFormat())
    return {};
  return QuireAddOp::create(builder, loc, sum.getType(), sum, rhs,
                            FormatAttr());
}

/// The addition of a term to an element that a loop reads, `tensor`, if the
/// element goes nowhere else; null else.
static AddOp additionTo(tensor::ExtractOp element) {
  if (!element->hasOneUse())
    return {};
  auto add = dyn_cast<AddOp>(*element->user_begin());
  return add && add->hasOneUse() && add.getLhs() != add.getRhs() ? add
                                                                 : AddOp();
}

static Value termOf(AddOp add, Value element) {
  return add.getLhs() == element ? add.getRhs() : add.getLhs();
}

/// True if a loop does nothing with the tensor that it carries but adding terms
/// to its elements, and carries on what it makes so.
static bool onlyAdds(scf::ForOp loop) {
  if (loop.getNumRegionIterArgs() != 1)
    return false;
  SmallVector<Value> tensors{loop.getRegionIterArg(0)};
  for (size_t i = 0; i < tensors.size(); ++i) {
    Value tensor = tensors[i];
    for (Operation *user : tensor.getUsers()) {
      if (user->getBlock() != loop.getBody())
        return false;
      if (auto element = dyn_cast<tensor::ExtractOp>(user)) {
        AddOp add = additionTo(element);
        auto insert =
            add ? dyn_cast<tensor::InsertOp>(*add->user_begin()) : nullptr;
        if (!insert || insert.getScalar() != add.getResult() ||
            insert.getDest() != tensor ||
            insert.getIndices() != element.getIndices())
          return false;
      } else if (auto insert = dyn_cast<tensor::InsertOp>(user)) {
        auto add = insert.getScalar().getDefiningOp<AddOp>();
        if (insert.getDest() != tensor || !add)
          return false;
        auto isOld = [&](Value operand) {
          auto element = operand.getDefiningOp<tensor::ExtractOp>();
          return element && element.getTensor() == tensor;
        };
        if (!isOld(add.getLhs()) && !isOld(add.getRhs()))
          return false;
        tensors.push_back(insert.getResult());
      } else if (auto inner = dyn_cast<scf::ForOp>(user)) {
        if (!onlyAdds(inner))
          return false;
        tensors.push_back(inner.getResult(0));
      } else if (!isa<scf::YieldOp>(user)) {
        return false;
      }
    }
  }
  return llvm::is_contained(tensors,
                            loop.getBody()->getTerminator()->getOperand(0));
}

/// A loop that adds terms to elements of a tensor, as a loop that adds them to
/// quires. A term that is an element of rounded sums is merged.
Value SumBuilder::ofLoop(scf::ForOp loop) {
  if (!onlyAdds(loop))
    return {};
  Format format =
      formatOfType(numera::elementType(loop.getResult(0).getType()));
  std::string error;
  if (!format || !hasQuire(builder.getContext(), format, error))
    return {};
  Type quire = QuireType::get(builder.getContext(), format);
  loop.walk([&](tensor::ExtractOp element) {
    Value tensor = element.getTensor();
    if (!loop->isAncestor(tensor.getParentBlock()->getParentOp()) &&
        formatOfType(numera::elementType(tensor.getType())) == format)
      if (Value sum = behind(tensor);
          sum && numera::elementType(sum.getType()) == quire)
        terms[tensor] = sum;
  });
  Value start = loop.getInitArgs()[0];
  Value sum = behind(start);
  IRMapping mapping;
  return rebuild(loop, sum ? sum : ofOne(start, quire), mapping).getResult(0);
}

scf::ForOp SumBuilder::rebuild(scf::ForOp loop, Value start,
                               IRMapping &mapping) {
  Type quire = numera::elementType(start.getType());
  auto bound = [&](Value value) { return mapping.lookupOrDefault(value); };
  auto made = scf::ForOp::create(
      builder, loop.getLoc(), bound(loop.getLowerBound()),
      bound(loop.getUpperBound()), bound(loop.getStep()), ValueRange(start));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.getBody());
  mapping.map(loop.getInductionVar(), made.getInductionVar());
  mapping.map(loop.getRegionIterArg(0), made.getRegionIterArg(0));
  auto isSum = [&](Value value) {
    Value now = mapping.lookupOrNull(value);
    return now && numera::elementType(now.getType()) == quire;
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    Location loc = op.getLoc();
    if (auto inner = dyn_cast<scf::ForOp>(op);
        inner && inner.getNumResults() == 1 && isSum(inner.getInitArgs()[0])) {
      scf::ForOp copy =
          rebuild(inner, mapping.lookup(inner.getInitArgs()[0]), mapping);
      mapping.map(inner.getResult(0), copy.getResult(0));
    } else if (auto add = dyn_cast<AddOp>(op);
               add && (isSum(add.getLhs()) || isSum(add.getRhs()))) {
      Value element = isSum(add.getLhs()) ? add.getLhs() : add.getRhs();
      Value term = termOf(add, element), sum = mapping.lookup(element);
      auto read = term.getDefiningOp<tensor::ExtractOp>();
      Value known = read ? terms.lookup(read.getTensor()) : Value();
      Value added;
      if (known) {
        SmallVector<Value> place =
            llvm::map_to_vector(read.getIndices(), bound);
        Value other = tensor::ExtractOp::create(builder, loc, known, place);
        added =
            QuireMergeOp::create(builder, loc, quire, sum, other, FormatAttr());
      } else {
        added = QuireAddOp::create(builder, loc, quire, sum, bound(term),
                                   FormatAttr());
      }
      mapping.map(add.getResult(), added);
    } else {
      Operation *copy = builder.clone(op, mapping);
      if (isa<tensor::ExtractOp>(op) && isSum(op.getOperand(0)))
        copy->getResult(0).setType(quire);
      else if (isa<tensor::InsertOp>(op) && isSum(op.getOperand(1)))
        copy->getResult(0).setType(copy->getOperand(1).getType());
    }
  }
  Value yielded = loop.getBody()->getTerminator()->getOperand(0);
  scf::YieldOp::create(builder, loop.getLoc(), mapping.lookup(yielded));
  return made;
}

/// A tensor with one dimension more, of the words of each quire.
static Value wordsOf(OpBuilder &builder, Value sum) {
  Location loc = sum.getLoc();
  auto type = cast<RankedTensorType>(sum.getType());
  unsigned count =
      quireWords(cast<QuireType>(type.getElementType()).getFormat());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, sum);
  sizes.push_back(builder.getIndexAttr(count));
  Value words =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getI64Type());
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  sizes.back() = builder.getIndexAttr(1);
  for (unsigned i = 0; i < count; ++i) {
    Value word = QuireWordOp::create(builder, loc, quireWordType(type), sum, i);
    offsets.back() = builder.getIndexAttr(i);
    words = tensor::InsertSliceOp::create(builder, loc, word, words, offsets,
                                          sizes, strides);
  }
  return words;
}

/// The sum that a result was rounded from, or that has the result's value.
static FailureOr<Value> quireOf(OpBuilder &builder, func::FuncOp function,
                                unsigned index, Value result, bool &isSum) {
  auto fail = [&](const Twine &reason) {
    return function.emitError("result ")
           << index << " of function '" << function.getName()
           << "' has no quire: " << reason;
  };
  if (!isa<RankedTensorType>(result.getType()))
    return fail("it is no tensor");
  auto formatOf = [](Value value) {
    return formatOfType(numera::elementType(value.getType()));
  };
  // Behind the cast to what the function returns.
  auto cast = result.getDefiningOp<CastOp>();
  Value behind =
      cast && formatOf(cast.getOperand()) ? cast.getOperand() : result;
  SumBuilder sums(builder);
  Value sum = sums.behind(behind);
  isSum = bool(sum);
  if (isSum)
    return sum;
  // A value is that of the result; the narrower of two formats that have it.
  bool isExact =
      behind != result && isExactCast(formatOf(behind), formatOf(result));
  Value value = isExact ? behind : result;
  Format format = formatOf(value);
  std::string error = "it is of integers";
  if (!format || !hasQuire(builder.getContext(), format, error))
    return fail(error);
  if (quireWords(format) == 0)
    return fail("only the library of '" + format.spelling() +
                "' knows its accumulator");
  function.emitWarning("result ")
      << index << " of function '" << function.getName()
      << "' is not one sum in a quire, rounded: its quire has the result";
  return sums.ofOne(value, QuireType::get(builder.getContext(), format));
}

LogicalResult returnQuires(ModuleOp module, ArrayRef<unsigned> results) {
  if (results.empty())
    return success();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    Operation *exit = function.back().getTerminator();
    OpBuilder builder(exit);
    SmallVector<Value> returned(exit->getOperands());
    SmallVector<Type> types(function.getResultTypes());
    SmallVector<Attribute> attributes(returned.size(),
                                      builder.getDictionaryAttr({}));
    if (ArrayAttr own = function.getAllResultAttrs())
      attributes.assign(own.begin(), own.end());
    for (unsigned index : results) {
      if (index >= exit->getNumOperands())
        return function.emitError("function '")
               << function.getName() << "' has " << exit->getNumOperands()
               << (exit->getNumOperands() == 1 ? " result" : " results")
               << "; the quire of result " << index
               << " was asked for, the first one is 0";
      bool isSum = false;
      FailureOr<Value> sum =
          quireOf(builder, function, index, exit->getOperand(index), isSum);
      if (failed(sum))
        return failure();
      auto quire = cast<QuireType>(numera::elementType(sum->getType()));
      returned.push_back(wordsOf(builder, *sum));
      types.push_back(returned.back().getType());
      attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
          "numera.name", builder.getStringAttr((isSum ? "quire " : "value ") +
                                               quire.getFormat().spelling()))));
    }
    exit->setOperands(returned);
    function.setType(
        builder.getFunctionType(function.getArgumentTypes(), types));
    function.setAllResultAttrs(attributes);
  }
  return success();
}

} // namespace numera
