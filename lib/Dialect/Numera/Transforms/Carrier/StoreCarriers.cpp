// SPDX-License-Identifier: MIT
//
// A tensor of codes that is read as codes and, cast, as f32 would be stored
// twice. It is stored as f32 alone, which has all numbers of its format:
//
//   %y = elementwise(%x) : tensor<…xi16>      %y = elementwise(%x), cast
//   %z = cast %y : tensor<…xf32>                 : tensor<…xf32>
//   %w = elementwise(%y) : tensor<…xi16>      %w = encode, elementwise(%y)
//   contraction(%z, …)                        contraction(%y, …)
//
// numera-promote-to-carrier, which comes next, takes the cast and the encoding
// away where the operations beside them run in f32.

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERASTORECARRIERS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// The cast to f32 that an operation on tensors is, element by element and
/// exact, of a format of which f32 has all numbers; null for any other
/// operation.
static CastOp exactCastToF32(linalg::GenericOp generic) {
  Block &body = *generic.getBody();
  auto cast = dyn_cast<CastOp>(body.front());
  if (!cast || body.getOperations().size() != 2 ||
      body.getTerminator()->getOperand(0) != cast.getResult() ||
      !cast.getType().isF32() || generic.getNumDpsInputs() != 1 ||
      cast.getOperand() != body.getArgument(0) ||
      generic.getNumParallelLoops() != generic.getNumLoops() ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  FormatOpInterface interface = cast;
  Format from = interface.getOperandElement(0).format;
  bool isExact =
      from && !from.isOpaque() && from.getFamily().hasCarrier(from, 32) &&
      interface.getRules().truncation.empty() && !isOverridden(interface);
  return isExact ? cast : CastOp();
}

/// True for what computes the elements one by one, the last step of each an
/// operation whose results are codes of `format`.
static bool makesCodesOf(linalg::GenericOp generic, const Format &format) {
  if (generic.getNumResults() != 1 ||
      generic.getNumParallelLoops() != generic.getNumLoops() ||
      !generic.getIndexingMapsArray().back().isIdentity() ||
      generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0)))
    return false;
  Value code = generic.getBody()->getTerminator()->getOperand(0);
  auto maker = code.getDefiningOp<FormatOpInterface>();
  // A registered function may have a NaN of its own.
  if (!maker || isa<CmpOp, IsNaNOp>(maker) || isOverridden(maker))
    return false;
  Format made = maker.getResultElement().format;
  return made && haveSameCodes(made, format);
}

/// True if the use can encode the numbers before it reads them. What is looked
/// up stays a code.
static bool takesNumbers(OpOperand &use) {
  auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
  return generic && generic.isDpsInput(&use) &&
         generic.getNumParallelLoops() == generic.getNumLoops() &&
         llvm::none_of(generic.getMatchingBlockArgument(&use).getUsers(),
                       llvm::IsaPred<LookupOp, linalg::YieldOp>);
}

namespace {

/// A tensor of codes, and what casts it to f32.
struct Twice {
  linalg::GenericOp maker;
  SmallVector<linalg::GenericOp> casts;
  CastOp cast; ///< of one of them
};

struct StoreCarriersPass : impl::NumeraStoreCarriersBase<StoreCarriersPass> {
  void runOnOperation() override {
    SmallVector<Twice> found;
    getOperation()->walk([&](linalg::GenericOp generic) {
      if (generic.hasPureTensorSemantics())
        if (auto twice = twiceStored(generic))
          found.push_back(std::move(*twice));
    });
    for (Twice &twice : found)
      store(twice);
  }

private:
  static std::optional<Twice> twiceStored(linalg::GenericOp maker);
  void store(Twice &twice);
};

} // namespace

std::optional<Twice> StoreCarriersPass::twiceStored(linalg::GenericOp maker) {
  Twice twice = {maker, {}, {}};
  bool isStored = false;
  for (Operation *user : maker->getUsers()) {
    auto generic = dyn_cast<linalg::GenericOp>(user);
    CastOp cast = generic ? exactCastToF32(generic) : CastOp();
    if (!cast)
      continue;
    auto type = llvm::cast<RankedTensorType>(maker.getResult(0).getType());
    if (generic.getResult(0).getType() != type.clone(cast.getType()))
      return std::nullopt;
    twice.casts.push_back(generic);
    twice.cast = cast;
    // One that is only padded is written where its padding is.
    isStored |=
        !llvm::all_of(generic->getUsers(), llvm::IsaPred<tensor::PadOp>);
  }
  if (!isStored || !llvm::all_of(maker->getUses(), takesNumbers) ||
      !makesCodesOf(maker,
                    FormatOpInterface(twice.cast).getOperandElement(0).format))
    return std::nullopt;
  return twice;
}

void StoreCarriersPass::store(Twice &twice) {
  linalg::GenericOp maker = twice.maker;
  OpBuilder builder(maker);
  Location loc = maker.getLoc();
  Type f32 = builder.getF32Type();
  Format format = FormatOpInterface(twice.cast).getOperandElement(0).format;

  // The cast at the end of what makes the codes.
  Value init = maker.getDpsInits()[0];
  auto type = cast<RankedTensorType>(init.getType()).clone(f32);
  Value numbers = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, init), f32);
  auto made = linalg::GenericOp::create(
      builder, loc, type, maker.getDpsInputs(), numbers,
      maker.getIndexingMapsArray(), maker.getIteratorTypesArray());
  for (NamedAttribute attribute : maker->getDiscardableAttrs())
    made->setDiscardableAttr(attribute.getName(), attribute.getValue());
  made.getRegion().takeBody(maker.getRegion());
  Block &body = *made.getBody();
  body.getArguments().back().setType(f32);
  Operation *yield = body.getTerminator();
  builder.setInsertionPoint(yield);
  IRMapping map;
  map.map(twice.cast.getOperand(), yield->getOperand(0));
  yield->setOperand(0, builder.clone(*twice.cast, map)->getResult(0));

  for (linalg::GenericOp each : twice.casts) {
    each.getResult(0).replaceAllUsesWith(made.getResult(0));
    each.erase();
  }
  for (OpOperand &use : llvm::make_early_inc_range(maker->getUses())) {
    auto user = cast<linalg::GenericOp>(use.getOwner());
    BlockArgument argument = user.getMatchingBlockArgument(&use);
    Type code = argument.getType();
    use.set(made.getResult(0));
    argument.setType(f32);
    if (argument.use_empty())
      continue;
    builder.setInsertionPointToStart(user.getBody());
    auto encode =
        EncodeOp::create(builder, loc, code, argument,
                         FormatAttr::get(builder.getContext(), format),
                         RoundingAttr(), IntegerAttr(), Value());
    argument.replaceAllUsesExcept(encode.getResult(), encode);
  }
  maker.erase();
}

} // namespace numera
