// SPDX-License-Identifier: MIT
//
// Numbers become elements of a block and numbers again without being scaled:
//
//   q = x · 2^-e        a number for the element format F
//   r = round_to<F> q
//   y = r · 2^e
//
// is x rounded to F's numbers times 2^e, which BlockSteps.h does at once for
// most blocks. Largest magnitudes are known where scales come from them, as
// words of f32, NaNs last: one comparison sees that all numbers are finite.

#include "BlockSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "numera/Registry/Scaling.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAROUNDBLOCKS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// An elementwise operation on one tensor; null if `value` is not its result.
linalg::GenericOp mapOf(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  bool isMap = generic && generic.getNumDpsInputs() == 1 &&
               generic.getNumDpsInits() == 1 &&
               generic.getNumReductionLoops() == 0 &&
               !generic.hasIndexSemantics() &&
               llvm::all_of(generic.getIndexingMapsArray(),
                            [](AffineMap map) { return map.isIdentity(); });
  return isMap ? generic : linalg::GenericOp();
}

mlir::Operation *yieldedBy(linalg::GenericOp generic) {
  return generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
}

bool isCastFromScale(mlir::Operation *op) {
  auto cast = dyn_cast_or_null<CastOp>(op);
  if (!cast || !cast.getType().isF32() ||
      !isa<BlockArgument>(cast.getOperand()))
    return false;
  FormatOpInterface interface = cast;
  ElementKind from = interface.getOperandElement(0);
  return from.isFormat() && from.format == powersOfTwo() &&
         !isOverridden(interface);
}

/// The codes of which `scales` are the values; null if they are something else.
Value codesOf(Value scales) {
  linalg::GenericOp map = mapOf(scales);
  return map && isCastFromScale(yieldedBy(map)) ? map.getInputs()[0] : Value();
}

/// The codes of which `numbers` are one divided by the values; null likewise.
Value codesOfReciprocals(Value numbers) {
  linalg::GenericOp map = mapOf(numbers);
  auto div = map ? dyn_cast_or_null<DivOp>(yieldedBy(map)) : DivOp();
  llvm::APFloat one(0.0f);
  bool isReciprocal = div && !isOverridden(div) &&
                      matchPattern(div.getLhs(), m_ConstantFloat(&one)) &&
                      one.isExactlyValue(1.0) &&
                      isCastFromScale(div.getRhs().getDefiningOp());
  return isReciprocal ? map.getInputs()[0] : Value();
}

/// The largest magnitudes, as words, that `codes` are made from.
linalg::GenericOp magnitudesBehind(Value codes) {
  linalg::GenericOp map = mapOf(codes);
  auto maxima = map ? map.getInputs()[0].getDefiningOp<linalg::GenericOp>()
                    : linalg::GenericOp();
  if (!maxima || maxima.getNumDpsInputs() != 1 ||
      maxima.getNumReductionLoops() != 1)
    return {};
  // max(sum, bits of x & 0x7fffffff)
  Block &body = *maxima.getBody();
  auto max = dyn_cast_or_null<arith::MaxUIOp>(yieldedBy(maxima));
  Value word =
      max ? (max.getLhs() == body.getArgument(1) ? max.getRhs() : max.getLhs())
          : Value();
  auto mask = word ? word.getDefiningOp<arith::AndIOp>() : arith::AndIOp();
  llvm::APInt bits;
  if (!mask || !matchPattern(mask.getRhs(), m_ConstantInt(&bits)) ||
      bits != BlockSteps::magnitudes)
    return {};
  auto cast = mask.getLhs().getDefiningOp<arith::BitcastOp>();
  bool isOfNumber = cast && cast.getIn() == body.getArgument(0) &&
                    cast.getIn().getType().isF32();
  return isOfNumber ? maxima : linalg::GenericOp();
}

/// A number on its way through its element: what stands between `scaled` and
/// `result` is `rounding`.
struct RoundTrip {
  Value number;            ///< f32, an argument of the body
  mlir::Operation *scaled; ///< by the reciprocal of the scale
  SmallVector<mlir::Operation *, 2> rounding;
  MulOp result;             ///< times the scale
  linalg::GenericOp maxima; ///< what the scales come from
  Value codes;              ///< of the scales
  AffineMap access;         ///< of the scales
  BlockSteps steps;
};

/// `rounded` as a cast to a format and back, or as both in one. Null if it is
/// neither.
mlir::Operation *findRounding(Value rounded, RoundTrip &trip) {
  if (auto round = rounded.getDefiningOp<RoundToOp>()) {
    if (round.getRandom() || round.getRounding())
      return nullptr;
    Format format = round.getFormat().getFormat();
    auto steps =
        blockStepsOf(format, rulesOf(Operation::Cast, format, formatF32()));
    if (!steps)
      return nullptr;
    trip.steps = *steps;
    trip.rounding = {round};
    return round;
  }
  auto back = rounded.getDefiningOp<CastOp>();
  auto there = back ? back.getOperand().getDefiningOp<CastOp>() : CastOp();
  if (!there || !there.getOperand().getType().isF32() ||
      !back.getType().isF32() || there.getRandom() || isOverridden(there) ||
      isOverridden(back))
    return nullptr;
  FormatOpInterface interface = there;
  Format format = interface.getRules().encoding;
  ElementKind from = interface.getOperandElement(0);
  if (!from.isFormat() || from.format != formatF32() ||
      FormatOpInterface(back).getOperandElement(0) !=
          interface.getResultElement())
    return nullptr;
  auto steps = blockStepsOf(format, interface.getRules());
  if (!steps)
    return nullptr;
  trip.steps = *steps;
  trip.rounding = {there, back};
  return there;
}

std::optional<RoundTrip> roundTripOf(linalg::GenericOp generic, MulOp result) {
  auto inputOf = [&](Value value) -> OpOperand * {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isInput = argument && argument.getOwner() == generic.getBody() &&
                   argument.getArgNumber() < generic.getNumDpsInputs();
    return isInput ? &generic->getOpOperand(argument.getArgNumber()) : nullptr;
  };
  RoundTrip trip;
  trip.result = result;
  mlir::Operation *rounding = findRounding(result.getLhs(), trip);
  trip.scaled = rounding ? rounding->getOperand(0).getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::MulFOp, MulOp>(trip.scaled) ||
      isOverridden(result))
    return std::nullopt;
  if (auto mul = dyn_cast<MulOp>(trip.scaled); mul && isOverridden(mul))
    return std::nullopt;
  trip.number = trip.scaled->getOperand(0);
  OpOperand *number = inputOf(trip.number),
            *reciprocal = inputOf(trip.scaled->getOperand(1)),
            *scale = inputOf(result.getRhs());
  if (!number || !reciprocal || !scale)
    return std::nullopt;
  trip.codes = codesOf(scale->get());
  trip.access = generic.getMatchingIndexingMap(scale);
  if (!trip.codes || trip.codes != codesOfReciprocals(reciprocal->get()) ||
      trip.access != generic.getMatchingIndexingMap(reciprocal))
    return std::nullopt;
  // A block along the last dimension, all of whose numbers are finite if its
  // largest magnitude is.
  trip.maxima = magnitudesBehind(trip.codes);
  if (!trip.maxima || trip.maxima.getInputs()[0] != number->get())
    return std::nullopt;
  AffineMap all = generic.getMatchingIndexingMap(number);
  SmallVector<AffineMap> maps = trip.maxima.getIndexingMapsArray();
  bool isLast = all.isIdentity() && maps[0].isIdentity() &&
                trip.access == all.dropResult(all.getNumResults() - 1) &&
                maps[1] == trip.access;
  return isLast ? std::optional(std::move(trip)) : std::nullopt;
}

/// Writes what replaces one.
class Writer {
public:
  Writer(OpBuilder &builder, RoundTrip trip)
      : builder(builder), loc(trip.result.getLoc()), trip(trip) {}

  /// 0, or one more than the scale's code for blocks that go the long way; then
  /// the words of the steps, times 2^e. One to ask and others to load into all
  /// lanes: a processor does not get them there from a register.
  ValueRange blocks();
  /// In the body: the result, with a block's words.
  Value result(ValueRange words);

private:
  Value word(uint32_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(int32_t(value)));
  }
  template <typename Op> Value op(Value x, Value y) {
    return Op::create(builder, loc, x, y);
  }
  template <typename Op> Value op(Value x, uint32_t y) {
    return op<Op>(x, word(y));
  }
  Value compare(arith::CmpIPredicate predicate, Value x, uint32_t y) {
    return arith::CmpIOp::create(builder, loc, predicate, x, word(y));
  }
  Value asWord(Value x) {
    return arith::BitcastOp::create(builder, loc, builder.getI32Type(), x);
  }
  Value asNumber(Value x) {
    return arith::BitcastOp::create(builder, loc, builder.getF32Type(), x);
  }
  SmallVector<Value> wordsOf(Value most, Value code);
  Value toFloat(Value largest, Value least);
  Value toMultiple(Value highest, Value lowest, Value m);
  Value scaled(Value code);

  OpBuilder &builder;
  Location loc;
  RoundTrip trip;
};

SmallVector<Value> Writer::wordsOf(Value most, Value code) {
  using enum arith::CmpIPredicate;
  const BlockSteps &steps = trip.steps;
  code = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), code);
  Value isPlain =
      op<arith::AndIOp>(compare(ult, op<arith::SubIOp>(code, steps.firstCode),
                                steps.lastCode - steps.firstCode + 1),
                        compare(ult, most, BlockSteps::infinity));
  isPlain = op<arith::OrIOp>(isPlain, compare(eq, most, 0));
  SmallVector<Value> words = {arith::SelectOp::create(
      builder, loc, isPlain, word(0), op<arith::AddIOp>(code, 1))};
  Value power = op<arith::ShLIOp>(code, BlockSteps::mantissa);
  for (uint32_t number : steps.words)
    words.push_back(op<arith::AddIOp>(power, number - BlockSteps::powerOf(0)));
  return words;
}

ValueRange Writer::blocks() {
  Value most = trip.maxima.getResult(0);
  auto sizes = tensor::getMixedSizes(builder, loc, most);
  Value init =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getI32Type());
  auto rank = unsigned(sizes.size());
  size_t count = 1 + trip.steps.words.size();
  SmallVector<AffineMap> maps(2 + count, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  SmallVector<Value> inits(count, init);
  auto generic = linalg::GenericOp::create(
      builder, loc, ValueRange(inits).getTypes(), ValueRange{most, trip.codes},
      inits, maps, loops);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types = {builder.getI32Type(),
                             getElementTypeOrSelf(trip.codes)};
  types.append(count, builder.getI32Type());
  Block *body = builder.createBlock(&generic.getRegion(), {}, types,
                                    SmallVector<Location>(types.size(), loc));
  linalg::YieldOp::create(builder, loc,
                          wordsOf(body->getArgument(0), body->getArgument(1)));
  return generic.getResults();
}

/// The steps at the top of this file, on words as far as they go: units for
/// integers are more than those for f32.
Value Writer::toFloat(Value largest, Value least) {
  Value x = asWord(trip.number);
  Value a = op<arith::AndIOp>(x, BlockSteps::magnitudes);
  a = op<arith::MinSIOp>(a, largest);
  Value m =
      op<arith::AddIOp>(a, uint32_t(trip.steps.count) << BlockSteps::mantissa);
  m = asNumber(op<arith::MaxSIOp>(m, least));
  Value rounded = op<arith::AddFOp>(op<arith::SubFOp>(asNumber(a), m), m);
  Value sign = op<arith::AndIOp>(x, ~BlockSteps::magnitudes);
  return asNumber(op<arith::OrIOp>(asWord(rounded), sign));
}

Value Writer::toMultiple(Value highest, Value lowest, Value m) {
  auto choose = [&](arith::CmpFPredicate predicate, Value x, Value limit) {
    limit = asNumber(limit);
    Value isInside = arith::CmpFOp::create(builder, loc, predicate, x, limit);
    return arith::SelectOp::create(builder, loc, isInside, x, limit);
  };
  Value a = choose(arith::CmpFPredicate::OLT, trip.number, highest);
  a = choose(arith::CmpFPredicate::OGT, a, lowest);
  m = asNumber(m);
  return op<arith::SubFOp>(op<arith::AddFOp>(a, m), m);
}

/// As it was, with the scale and its reciprocal from its code.
Value Writer::scaled(Value code) {
  auto body = trip.result->getParentOfType<linalg::GenericOp>();
  auto inlined = [&](Value argument) {
    unsigned number = cast<BlockArgument>(argument).getArgNumber();
    auto map = body.getInputs()[number].getDefiningOp<linalg::GenericOp>();
    IRMapping values;
    values.map(map.getBody()->getArgument(0), code);
    for (mlir::Operation &op : map.getBody()->without_terminator())
      builder.clone(op, values);
    return values.lookup(map.getBody()->getTerminator()->getOperand(0));
  };
  IRMapping values;
  for (Value scale : {trip.scaled->getOperand(1), trip.result.getRhs()})
    values.map(scale, inlined(scale));
  builder.clone(*trip.scaled, values);
  for (mlir::Operation *op : trip.rounding)
    builder.clone(*op, values);
  builder.clone(*trip.result, values);
  return values.lookup(trip.result.getResult());
}

Value Writer::result(ValueRange words) {
  Value isPlain = compare(arith::CmpIPredicate::eq, words[0], 0);
  auto choice = scf::IfOp::create(builder, loc, builder.getF32Type(), isPlain,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc,
                       trip.steps.isFloat
                           ? toFloat(words[1], words[2])
                           : toMultiple(words[1], words[2], words[3]));
  builder.setInsertionPointToStart(choice.elseBlock());
  Value code = op<arith::SubIOp>(words[0], 1);
  Type type = getElementTypeOrSelf(trip.codes);
  code = arith::TruncIOp::create(builder, loc, type, code);
  scf::YieldOp::create(builder, loc, scaled(code));
  return choice.getResult(0);
}

/// The generic then reads what its blocks have in place of their scales.
void rewrite(IRRewriter &rewriter, linalg::GenericOp generic, RoundTrip trip) {
  rewriter.setInsertionPoint(generic);
  ValueRange blocks = Writer(rewriter, trip).blocks();
  unsigned inputs = generic.getNumDpsInputs();
  Block *body = generic.getBody();
  SmallVector<Value> words;
  for (auto [i, block] : llvm::enumerate(blocks))
    words.push_back(body->insertArgument(
        inputs + unsigned(i), rewriter.getI32Type(), generic.getLoc()));
  rewriter.setInsertionPoint(trip.result);
  Value result = Writer(rewriter, trip).result(words);
  rewriter.replaceOp(trip.result, result);
  trip.rounding.insert(trip.rounding.begin(), trip.scaled);
  for (mlir::Operation *op : llvm::reverse(trip.rounding))
    if (op->use_empty())
      rewriter.eraseOp(op);

  SmallVector<Value> operands(generic.getInputs());
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  llvm::append_range(operands, blocks);
  maps.insert(maps.begin() + inputs, words.size(), trip.access);
  for (unsigned input = inputs; input-- > 0;)
    if (body->getArgument(input).use_empty()) {
      body->eraseArgument(input);
      operands.erase(operands.begin() + input);
      maps.erase(maps.begin() + input);
    }
  generic.getInputsMutable().assign(operands);
  generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

struct RoundBlocksPass : impl::NumeraRoundBlocksBase<RoundBlocksPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> work;
    getOperation().walk([&](linalg::GenericOp op) { work.push_back(op); });
    for (linalg::GenericOp generic : work) {
      if (!generic.hasPureTensorSemantics() || generic.getNumDpsInits() != 1 ||
          generic.getNumReductionLoops() != 0 || generic.hasIndexSemantics())
        continue;
      for (auto mul :
           llvm::make_early_inc_range(generic.getBody()->getOps<MulOp>()))
        if (auto trip = roundTripOf(generic, mul)) {
          rewrite(rewriter, generic, *trip);
          break;
        }
    }
  }
};

} // namespace
} // namespace numera
