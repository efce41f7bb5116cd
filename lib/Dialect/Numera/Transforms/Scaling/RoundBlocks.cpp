// SPDX-License-Identifier: MIT
//
// Rounds numbers to elements of a block and back to numbers (RoundTrips.h)
// without scaling them. In most blocks, x is rounded directly to F's numbers
// times 2^e (BlockSteps.h). The largest magnitudes are known, because scales
// follow from them, as words of f32 with NaNs last. So one comparison tells
// whether all numbers are finite.

#include "RoundTrips.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAROUNDBLOCKS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// Writes what replaces one.
class Writer {
public:
  Writer(OpBuilder &builder, RoundTrip trip)
      : builder(builder), loc(trip.result->getLoc()), trip(trip) {}

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
  /// Only as many bits as a code has are kept.
  Value asCode(Value x) {
    Type type = trip.result->getResult(0).getType();
    return arith::TruncIOp::create(builder, loc, type, x);
  }
  SmallVector<Value> wordsOf(Value most, Value code);
  Value toFloat(Value largest, Value least);
  Value toFloatCode(Value largest, Value least);
  Value sumWithMultiples(Value highest, Value lowest, Value m);
  Value toMultiple(Value highest, Value lowest, Value m);
  Value toMultipleCode(Value highest, Value lowest, Value m);
  Value plain(ValueRange words);
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
  Value isZero = compare(eq, most, 0);
  isPlain = op<arith::OrIOp>(isPlain, isZero);
  SmallVector<Value> words = {arith::SelectOp::create(
      builder, loc, isPlain, word(0), op<arith::AddIOp>(code, 1))};
  code = arith::SelectOp::create(builder, loc, isZero, word(BlockSteps::bias),
                                 code);
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

Value Writer::toFloatCode(Value largest, Value least) {
  const BlockSteps &steps = trip.steps;
  Value x = asWord(trip.number);
  Value a = op<arith::AndIOp>(x, BlockSteps::magnitudes);
  a = op<arith::MinSIOp>(a, largest);
  Value m = op<arith::AndIOp>(a, BlockSteps::infinity);
  m = op<arith::AddIOp>(m, BlockSteps::powerOf(steps.count - BlockSteps::bias) |
                               BlockSteps::half);
  m = op<arith::MaxSIOp>(m, least);
  Value s = asWord(op<arith::AddFOp>(asNumber(a), asNumber(m)));
  Value d = op<arith::SubIOp>(s, least);
  Value code =
      op<arith::AddIOp>(op<arith::ShRUIOp>(d, uint32_t(steps.count)), d);
  Value sign = op<arith::ShRUIOp>(x, 32 - steps.width);
  sign = op<arith::AndIOp>(sign, 1u << (steps.width - 1));
  return asCode(op<arith::OrIOp>(code, sign));
}

/// The sum's last bits are the multiple.
Value Writer::sumWithMultiples(Value highest, Value lowest, Value m) {
  auto choose = [&](arith::CmpFPredicate predicate, Value x, Value limit) {
    limit = asNumber(limit);
    Value isInside = arith::CmpFOp::create(builder, loc, predicate, x, limit);
    return arith::SelectOp::create(builder, loc, isInside, x, limit);
  };
  Value a = choose(arith::CmpFPredicate::OLT, trip.number, highest);
  a = choose(arith::CmpFPredicate::OGT, a, lowest);
  return op<arith::AddFOp>(a, asNumber(m));
}

Value Writer::toMultiple(Value highest, Value lowest, Value m) {
  Value sum = sumWithMultiples(highest, lowest, m);
  return op<arith::SubFOp>(sum, asNumber(m));
}

Value Writer::toMultipleCode(Value highest, Value lowest, Value m) {
  Value code = asWord(sumWithMultiples(highest, lowest, m));
  return asCode(op<arith::AndIOp>(code, ~0u >> (32 - trip.steps.width)));
}

/// As it was, with the scale and its reciprocal from its code.
Value Writer::scaled(Value code) {
  auto body = trip.scaled->getParentOfType<linalg::GenericOp>();
  auto inlined = [&](Value argument) {
    unsigned number = cast<BlockArgument>(argument).getArgNumber();
    auto map = body.getInputs()[number].getDefiningOp<linalg::GenericOp>();
    IRMapping values;
    values.map(map.getBody()->getArgument(0), code);
    for (Operation &op : map.getBody()->without_terminator())
      builder.clone(op, values);
    return values.lookup(map.getBody()->getTerminator()->getOperand(0));
  };
  IRMapping values;
  SmallVector<Value, 2> scales = {trip.scaled->getOperand(1)};
  if (!trip.isToCode())
    scales.push_back(trip.result->getOperand(1));
  for (Value scale : scales)
    values.map(scale, inlined(scale));
  builder.clone(*trip.scaled, values);
  for (Operation *op : trip.rounding)
    builder.clone(*op, values);
  builder.clone(*trip.result, values);
  return values.lookup(trip.result->getResult(0));
}

Value Writer::plain(ValueRange words) {
  if (trip.steps.isFloat)
    return trip.isToCode() ? toFloatCode(words[0], words[1])
                           : toFloat(words[0], words[1]);
  return trip.isToCode() ? toMultipleCode(words[0], words[1], words[2])
                         : toMultiple(words[0], words[1], words[2]);
}

Value Writer::result(ValueRange words) {
  Value isPlain = compare(arith::CmpIPredicate::eq, words[0], 0);
  auto choice =
      scf::IfOp::create(builder, loc, trip.result->getResult(0).getType(),
                        isPlain, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, plain(words.drop_front()));
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
  for (Operation *op : llvm::reverse(trip.rounding))
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
      for (Operation &op : llvm::make_early_inc_range(*generic.getBody()))
        if (auto trip = roundTripOf(generic, &op)) {
          rewrite(rewriter, generic, *trip);
          break;
        }
    }
  }
};

} // namespace
} // namespace numera
