// SPDX-License-Identifier: MIT
//
// Sums in a wide accumulator, in blocked order: term i joins
// partial sum i mod 32, in ascending order; then neighbours are added in
// pairs, five times. The partial sums are as many lanes, so that the order is
// fixed and the machine still goes through 32 terms at a time.
//
//   terms    [p…, r…]   every term, elementwise
//   blocks   [p…, steps, 32]   collapsed, padded with zeros, split
//   partial  [p…, 32]   one reduction over the steps
//   tree     [p…, 16] … [p…, 1]
//
// Of 32 terms or fewer, every partial sum is 0 plus a term or 0, and adding 0
// changes no sum: they are added where the result is computed.
//
//   result   [p…] = ((0 + x0) + (0 + x1)) + ((0 + x2) + …) …

#include "Retype.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

namespace {

constexpr int64_t lanes = 32;
using Sizes = SmallVector<OpFoldResult>;
using Body = function_ref<Value(OpBuilder &, Location, ValueRange)>;

class BlockedSum {
public:
  BlockedSum(IRRewriter &rewriter, linalg::GenericOp generic,
             const ResolvedPolicy &policy)
      : rewriter(rewriter), generic(generic), loc(generic.getLoc()),
        policy(policy),
        format(typeOfFormat(rewriter.getContext(), policy.format)),
        accumulator(typeOfFormat(rewriter.getContext(), policy.accumulator)) {
    generic.getParallelDims(parallel);
    generic.getReductionDims(reduction);
  }

  /// False where a reduced size is not known: the sum then stays as it is.
  bool isPossible() {
    for (unsigned loop : reduction)
      if (ShapedType::isDynamic(generic.getStaticLoopRanges()[loop]))
        return false;
    return true;
  }

  Value build() {
    if (isShort())
      return addShort();
    Value blocks = split(collapse(createTerms()));
    return createResult(reduceInPairs(createPartialSums(blocks)));
  }

private:
  OpFoldResult sizeOf(unsigned loop);
  /// True if the sum is short enough to be written out.
  bool isShort();
  Value addShort();
  Value addTree(OpBuilder &builder, Value zero, ArrayRef<Value> arguments,
                size_t terms);
  /// `source` as far as the loops go, where `map`, which was `before`, has
  /// come to have a loop alone.
  Value cutToLoops(Value source, AffineMap before, AffineMap map);
  /// The indices of the terms, in order.
  SmallVector<SmallVector<int64_t>> placesOfTerms();
  /// Where the result has what lies at (p…).
  AffineMap layoutOfResult();
  Value castToResult(OpBuilder &builder, Location loc, Value sum);
  Value emptyResult();

  Value empty(Sizes sizes, ArrayRef<int64_t> trailing, Type element) {
    for (int64_t size : trailing)
      sizes.push_back(rewriter.getIndexAttr(size));
    return tensor::EmptyOp::create(rewriter, loc, sizes, element);
  }

  AffineMap identity(unsigned rank) {
    return rewriter.getMultiDimIdentityMap(rank);
  }
  /// (p…, x) -> (p…, last(x))
  AffineMap withLast(unsigned dims, AffineExpr last) {
    SmallVector<AffineExpr> results;
    for (unsigned i = 0; i < parallel.size(); ++i)
      results.push_back(rewriter.getAffineDimExpr(i));
    results.push_back(last);
    return AffineMap::get(dims, 0, results, rewriter.getContext());
  }

  Value createGeneric(ValueRange inputs, Value init, ArrayRef<AffineMap> maps,
                      ArrayRef<utils::IteratorType> iterators, Body body) {
    return linalg::GenericOp::create(
               rewriter, loc, init.getType(), inputs, init, maps, iterators,
               [&](OpBuilder &builder, Location loc, ValueRange arguments) {
                 linalg::YieldOp::create(builder, loc,
                                         body(builder, loc, arguments));
               })
        .getResult(0);
  }

  Value createTerms();
  Value collapse(Value terms);
  Value split(Value terms);
  Value createPartialSums(Value blocks);
  Value reduceInPairs(Value partial);
  Value createResult(Value sum);

  IRRewriter &rewriter;
  linalg::GenericOp generic;
  Location loc;
  const ResolvedPolicy &policy;
  Type format, accumulator;
  SmallVector<unsigned> parallel, reduction;
  Sizes parallelSizes;
};

} // namespace

static Value add(OpBuilder &builder, Location loc, Type type, Value x,
                 Value y) {
  return AddOp::create(builder, loc, type, x, y);
}

OpFoldResult BlockedSum::sizeOf(unsigned loop) {
  int64_t known = generic.getStaticLoopRanges()[loop];
  if (ShapedType::isStatic(known))
    return rewriter.getIndexAttr(known);
  return cast<linalg::LinalgOp>(generic.getOperation())
      .createLoopRanges(rewriter, loc)[loop]
      .size;
}

/// The generic without its last addition, over all loops in parallel.
Value BlockedSum::createTerms() {
  SmallVector<AffineExpr> results;
  Sizes sizes;
  for (unsigned loop : llvm::concat<unsigned>(parallel, reduction)) {
    sizes.push_back(sizeOf(loop));
    results.push_back(rewriter.getAffineDimExpr(loop));
  }
  parallelSizes.assign(sizes.begin(), sizes.begin() + parallel.size());
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  maps.back() =
      AffineMap::get(generic.getNumLoops(), 0, results, rewriter.getContext());
  SmallVector<utils::IteratorType> iterators(generic.getNumLoops(),
                                             utils::IteratorType::parallel);
  Value init = tensor::EmptyOp::create(rewriter, loc, sizes, format);
  auto terms =
      linalg::GenericOp::create(rewriter, loc, init.getType(),
                                generic.getInputs(), init, maps, iterators);
  rewriter.cloneRegionBefore(generic.getRegion(), terms.getRegion(),
                             terms.getRegion().end());
  Block *body = terms.getBody();
  Operation *yield = body->getTerminator();
  auto last = cast<AddOp>(yield->getOperand(0).getDefiningOp());
  Value partial = body->getArguments().back();
  yield->setOperand(0,
                    last.getLhs() == partial ? last.getRhs() : last.getLhs());
  rewriter.eraseOp(last);
  return terms.getResult(0);
}

/// [p…, r…] -> [p…, all]
Value BlockedSum::collapse(Value terms) {
  SmallVector<ReassociationIndices> groups;
  for (unsigned i = 0; i < parallel.size(); ++i)
    groups.push_back({i});
  groups.push_back(llvm::to_vector(
      llvm::seq<int64_t>(parallel.size(), parallel.size() + reduction.size())));
  if (reduction.size() == 1)
    return terms;
  return tensor::CollapseShapeOp::create(rewriter, loc, terms, groups);
}

/// [p…, all] -> [p…, steps, 32]
Value BlockedSum::split(Value terms) {
  auto type = cast<RankedTensorType>(terms.getType());
  int64_t steps = llvm::divideCeil(type.getShape().back(), lanes);
  SmallVector<int64_t> shape(type.getShape());
  if (shape.back() != steps * lanes) {
    Value zero = createConstant(rewriter, loc, policy.format,
                                rewriter.getF32FloatAttr(0));
    shape.back() = steps * lanes;
    terms = tensor::createPadHighOp(type.clone(shape), terms, zero,
                                    /*nofold=*/false, loc, rewriter);
  }
  SmallVector<ReassociationIndices> groups;
  for (unsigned i = 0; i < parallel.size(); ++i)
    groups.push_back({i});
  int64_t last = parallel.size();
  groups.push_back({last, last + 1});
  shape.back() = steps;
  shape.push_back(lanes);
  Sizes sizes = parallelSizes;
  sizes.push_back(rewriter.getIndexAttr(steps));
  sizes.push_back(rewriter.getIndexAttr(lanes));
  return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), terms,
                                       groups, sizes);
}

/// [p…, steps, 32] -> [p…, 32]
Value BlockedSum::createPartialSums(Value blocks) {
  Value zero = createConstant(rewriter, loc, policy.accumulator,
                              rewriter.getF32FloatAttr(0));
  Value init =
      linalg::FillOp::create(rewriter, loc, zero,
                             empty(parallelSizes, {lanes}, accumulator))
          .getResult(0);
  unsigned dims = parallel.size() + 2;
  SmallVector<utils::IteratorType> iterators(dims,
                                             utils::IteratorType::parallel);
  iterators[dims - 2] = utils::IteratorType::reduction;
  return createGeneric(
      blocks, init,
      {identity(dims), withLast(dims, rewriter.getAffineDimExpr(dims - 1))},
      iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        return add(builder, loc, accumulator, arguments[1], arguments[0]);
      });
}

/// [p…, 32] -> [p…, 1]
Value BlockedSum::reduceInPairs(Value partial) {
  unsigned dims = parallel.size() + 1;
  AffineExpr pair = rewriter.getAffineDimExpr(dims - 1);
  SmallVector<utils::IteratorType> iterators(dims,
                                             utils::IteratorType::parallel);
  for (int64_t size = lanes / 2; size >= 1; size /= 2)
    partial = createGeneric(
        {partial, partial}, empty(parallelSizes, {size}, accumulator),
        {withLast(dims, pair * 2), withLast(dims, pair * 2 + 1),
         identity(dims)},
        iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          return add(builder, loc, accumulator, arguments[0], arguments[1]);
        });
  return partial;
}

/// Of the parallel loops alone.
AffineMap BlockedSum::layoutOfResult() {
  SmallVector<AffineExpr> places(generic.getNumLoops(),
                                 rewriter.getAffineConstantExpr(0));
  for (auto [i, loop] : llvm::enumerate(parallel))
    places[loop] = rewriter.getAffineDimExpr(i);
  return generic.getIndexingMapsArray().back().replaceDimsAndSymbols(
      places, {}, parallel.size(), 0);
}

Value BlockedSum::emptyResult() {
  return tensor::EmptyOp::create(
      rewriter, loc,
      tensor::getMixedSizes(rewriter, loc, generic.getDpsInits()[0]), format);
}

/// On f32 and f64 the cast makes NaNs canonical.
Value BlockedSum::castToResult(OpBuilder &builder, Location loc, Value sum) {
  if (accumulator == format && !isa<FloatType>(format))
    return sum;
  return CastOp::create(builder, loc, format, sum);
}

/// [p…, 1] in the layout of the generic's result, cast to the format.
Value BlockedSum::createResult(Value sum) {
  SmallVector<utils::IteratorType> iterators(parallel.size(),
                                             utils::IteratorType::parallel);
  return createGeneric(
      sum, emptyResult(),
      {withLast(parallel.size(), rewriter.getAffineConstantExpr(0)),
       layoutOfResult()},
      iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        return castToResult(builder, loc, arguments[0]);
      });
}

/// True if x + 0 is x for every sum x: the rounding is that of the accumulator,
/// of which x is a value, and nobody says what else an addition does. (Where
/// rounding goes down and x is -0, the sum of both zeros is -0, too; elsewhere
/// 0 + x has made it +0.)
static bool keepsSumWithZero(const Registry &registry,
                             const Format &accumulator) {
  const FormatFamily &family = accumulator.getFamily();
  return family.hasArithmetic() && accumulator.getChanges().empty() &&
         accumulator.getRounding() != Rounding::Stochastic &&
         family.specialCodes(accumulator).zero > 0 &&
         llvm::none_of(registry.lowerings(), [&](const Lowering &lowering) {
           return lowering.operation == OpKind::Add &&
                  lowering.result == accumulator;
         });
}

bool BlockedSum::isShort() {
  int64_t terms = 1;
  for (unsigned loop : reduction)
    terms *= generic.getStaticLoopRanges()[loop];
  // What terms are made of is written out for each, and so is the addition,
  // long code where the machine has none. Without a term there is nothing to
  // add; random bits hang on loops.
  constexpr int64_t mostOperations = 128, mostInSoftware = 9;
  int64_t operations = int64_t(generic.getBody()->getOperations().size());
  int64_t most = isa<FloatType>(accumulator) ? lanes : mostInSoftware;
  return terms > 0 && terms <= most && terms * operations <= mostOperations &&
         !generic.hasIndexSemantics() &&
         policy.format.getRounding() != Rounding::Stochastic &&
         keepsSumWithZero(registryOf(generic), policy.accumulator);
}

SmallVector<SmallVector<int64_t>> BlockedSum::placesOfTerms() {
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  SmallVector<SmallVector<int64_t>> places = {
      SmallVector<int64_t>(generic.getNumLoops(), 0)};
  for (unsigned loop : reduction) {
    SmallVector<SmallVector<int64_t>> longer;
    for (SmallVector<int64_t> &place : places)
      for (place[loop] = 0; place[loop] < ranges[loop]; ++place[loop])
        longer.push_back(place);
    places = std::move(longer);
  }
  return places;
}

/// linalg takes the extent of a loop from a dimension that the loop alone
/// goes through. Of a window with stride 1 that dimension is the image's, which
/// is longer: `d + k` has become `d` where k is 0.
Value BlockedSum::cutToLoops(Value source, AffineMap before, AffineMap map) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> known = generic.getStaticLoopRanges();
  Sizes sizes = tensor::getMixedSizes(rewriter, loc, source);
  bool cuts = false;
  for (auto [i, places] :
       llvm::enumerate(llvm::zip(before.getResults(), map.getResults()))) {
    auto [old, place] = places;
    auto loop = dyn_cast<AffineDimExpr>(place);
    if (!loop || isa<AffineDimExpr>(old))
      continue;
    int64_t size = known[parallel[loop.getPosition()]];
    if (ShapedType::isStatic(size) && size == type.getDimSize(i))
      continue;
    sizes[i] = parallelSizes[loop.getPosition()];
    cuts = true;
  }
  if (!cuts)
    return source;
  Sizes offsets(sizes.size(), rewriter.getIndexAttr(0));
  Sizes strides(sizes.size(), rewriter.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(rewriter, loc, source, offsets, sizes,
                                        strides);
}

Value BlockedSum::addShort() {
  Value zero = createConstant(rewriter, loc, policy.accumulator,
                              rewriter.getF32FloatAttr(0));
  SmallVector<SmallVector<int64_t>> terms = placesOfTerms();
  for (unsigned loop : parallel)
    parallelSizes.push_back(sizeOf(loop));
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const SmallVector<int64_t> &term : terms) {
    SmallVector<AffineExpr> places;
    for (int64_t index : term)
      places.push_back(rewriter.getAffineConstantExpr(index));
    for (auto [i, loop] : llvm::enumerate(parallel))
      places[loop] = rewriter.getAffineDimExpr(i);
    for (OpOperand *input : generic.getDpsInputOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(input);
      maps.push_back(map.replaceDimsAndSymbols(places, {}, parallel.size(), 0));
      inputs.push_back(cutToLoops(input->get(), map, maps.back()));
    }
  }
  maps.push_back(layoutOfResult());
  SmallVector<utils::IteratorType> iterators(parallel.size(),
                                             utils::IteratorType::parallel);
  return createGeneric(
      inputs, emptyResult(), maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        SmallVector<Value> values(arguments);
        return castToResult(builder, loc,
                            addTree(builder, zero, values, terms.size()));
      });
}

/// Neighbours in pairs, as long as there are two; `arguments` are the inputs of
/// each term, in turn.
Value BlockedSum::addTree(OpBuilder &builder, Value zero,
                          ArrayRef<Value> arguments, size_t terms) {
  Block *body = generic.getBody();
  auto last = cast<AddOp>(body->getTerminator()->getOperand(0).getDefiningOp());
  Value sum = body->getArguments().back();
  Value added = last.getLhs() == sum ? last.getRhs() : last.getLhs();
  size_t inputs = body->getNumArguments() - 1;
  SmallVector<Value> sums;
  for (size_t term = 0; term < terms; ++term) {
    IRMapping map;
    map.map(body->getArguments().drop_back(),
            arguments.slice(term * inputs, inputs));
    for (Operation &op : body->without_terminator())
      if (&op != last)
        builder.clone(op, map);
    sums.push_back(
        add(builder, loc, accumulator, zero, map.lookupOrDefault(added)));
  }
  while (sums.size() > 1) {
    for (size_t i = 0; i + 1 < sums.size(); i += 2)
      sums[i / 2] = add(builder, loc, accumulator, sums[i], sums[i + 1]);
    if (sums.size() % 2 == 1)
      sums[sums.size() / 2] = sums.back();
    sums.resize((sums.size() + 1) / 2);
  }
  return sums[0];
}

Value createBlockedSum(IRRewriter &rewriter, linalg::GenericOp generic,
                       const ResolvedPolicy &policy) {
  BlockedSum sum(rewriter, generic, policy);
  return sum.isPossible() ? sum.build() : Value();
}

} // namespace numera
