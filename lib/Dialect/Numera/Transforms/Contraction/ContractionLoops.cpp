// SPDX-License-Identifier: MIT

#include "ContractionLoops.h"
#include "Carrier/OpaqueCarriers.h"
#include "Lowering/Lowerings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "numera/Runtime/Contraction.h"
#include <cmath>

using namespace mlir;

namespace numera {

/// True if the configuration registers a function for the step as it stands:
/// it takes the operands in their own formats.
static bool isRegistered(MacOp mac) {
  FormatOpInterface op = mac;
  auto *dialect = mac->getContext()->getLoadedDialect<NumeraDialect>();
  return llvm::any_of(
      dialect->getRegistry().lowerings(), [&](const Lowering &lowering) {
        if ((lowering.operation != OpKind::Mac &&
             lowering.operation != OpKind::Fma &&
             !isProduct(lowering.operation)) ||
            lowering.result != op.getResultElement().format)
          return false;
        for (auto [i, format] : llvm::enumerate(lowering.operands))
          if (op.getOperandElement(i).format != format)
            return false;
        return true;
      });
}

static bool embeds(FormatOpInterface step, unsigned operand) {
  Format from = step.getOperandElement(operand).format;
  ElementKind to = step.getResultElement();
  if (!from || !to.isFormat())
    return false;
  // What an opaque format's values are is said by its cast to f32 or f64.
  if (!from.getFamily().hasArithmetic())
    return machineWidth(to) != 0 && !from.isWide();
  return isExactCast(from, to.format);
}

bool factorsEmbed(MacOp step) {
  // What is cut off the factors is cut in their own formats.
  return !step.getProduct() && !isRegistered(step) &&
         stepRulesOf(step).sum.truncation.empty() && embeds(step, 0) &&
         embeds(step, 1);
}

bool PackedContraction::findBody(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  if (generic.getNumReductionLoops() == 0 || generic.getNumDpsInputs() != 2 ||
      generic.getNumDpsInits() != 1 || body->getOperations().size() != 2 ||
      body->getTerminator()->getOperand(0).getDefiningOp() != &body->front())
    return false;
  BlockArgument sum = body->getArgument(2);
  step = dyn_cast<MacOp>(&body->front());
  quireStep = dyn_cast<QuireMacOp>(&body->front());
  if (step)
    return step.getAddend() == sum &&
           findFactors(body, step.getLhs(), step.getRhs());
  return quireStep && quireStep.getQuire() == sum &&
         findFactors(body, quireStep.getLhs(), quireStep.getRhs());
}

bool PackedContraction::findStep(linalg::GenericOp generic, Target target) {
  return findBody(generic) && (step ? acceptsMac(target) : acceptsQuire());
}

/// Each input is a factor.
bool PackedContraction::findFactors(Block *body, Value lhs, Value rhs) {
  for (auto [value, input] :
       {std::pair(lhs, &rowsInput), {rhs, &columnsInput}}) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != body ||
        argument.getArgNumber() == 2 || !argument.hasOneUse())
      return false;
    *input = argument.getArgNumber();
  }
  return true;
}

/// True if the configuration has a word in what the step is made of.
static bool isChanged(const Registry &registry, const Format &format) {
  return llvm::any_of(registry.lowerings(), [&](const Lowering &lowering) {
    switch (lowering.operation) {
    case OpKind::Mac:
    case OpKind::Fma:
    case OpKind::Mul:
    case OpKind::Add:
    case OpKind::Cast:
      return lowering.result == format ||
             llvm::is_contained(lowering.operands, format);
    default:
      return false;
    }
  });
}

bool PackedContraction::acceptsMac(Target target) {
  FormatOpInterface op = step;
  if (op.drawsRandom() || op.getRandomOperand())
    return false;
  // No kernel has registers for codes of more than 64 bits: they are loops.
  if (op.getResultElement().format.isWide())
    return false;
  carrier = storageType(step.getContext(), op.getResultElement());
  auto generic = cast<linalg::GenericOp>(step->getParentOp());
  isDirect = target == Target::CPU && isa<FloatType>(carrier) &&
             op.getOperandElement(0) == op.getResultElement() &&
             op.getOperandElement(1) == op.getResultElement() &&
             elementType(generic->getOperand(0).getType()) == carrier &&
             elementType(generic->getOperand(1).getType()) == carrier;
  if (op.getOperandElement(0) != op.getResultElement() ||
      op.getOperandElement(1) != op.getResultElement())
    return factorsEmbed(step);
  findCarrier(target);
  // A function of the user's may tell its factors apart, and has its own hook.
  auto *dialect = step->getContext()->getLoadedDialect<NumeraDialect>();
  isDirect &= !carried && !isRegistered(step) &&
              !isChanged(dialect->getRegistry(), op.getResultElement().format);
  return true;
}

bool PackedContraction::acceptsQuire() {
  Format format = QuireOpInterface(quireStep).getQuireFormat();
  const OperationChange *change = format.changeOf(OpKind::Mac);
  carrier = Float64Type::get(quireStep.getContext());
  return format.getFamily().embedsInF64(format) &&
         !(change && change->truncateOperands);
}

/// True if the rules are those of the format alone.
static bool isPlain(const OperationRules &rules, const Format &format) {
  return rules.result == format && rules.encoding == format &&
         rules.rounding == Rounding::NearestEven && rules.truncation.empty();
}

void PackedContraction::findCarrier(Target target) {
  Format format = FormatOpInterface(step).getResultElement().format;
  StepRules rules = stepRulesOf(step);
  if (machineWidth({format, {}}) != 0 || !rules.product ||
      !isPlain(*rules.product, format) || !isPlain(rules.sum, format))
    return;
  auto *dialect = step->getContext()->getLoadedDialect<NumeraDialect>();
  const Registry &registry = dialect->getRegistry();
  unsigned bits = format.isOpaque() ? carrierOfStep(registry, format, target)
                  : isChanged(registry, format)
                      ? 0
                      : format.getFamily().carrierStep(format).bits;
  if (bits == 0)
    return;
  // Where an opaque format rounds as one with arithmetic does, in the carrier,
  // its step is that one's.
  Format like = format.isOpaque() ? registry.roundsAs(format, target) : format;
  carried = like ? like : format;
  carrier = bits == 32 ? Type(Float32Type::get(step.getContext()))
                       : Type(Float64Type::get(step.getContext()));
}

/// Every result of the map is a sum of loops times constants.
static bool isLinear(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return isLinear(binary.getLHS()) && isLinear(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && isLinear(binary.getLHS()) &&
         isa<AffineConstantExpr>(binary.getRHS());
}

bool PackedContraction::findLoops(linalg::GenericOp generic) {
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  if (!llvm::all_of(maps,
                    [](AffineMap map) {
                      return llvm::all_of(map.getResults(), isLinear);
                    }) ||
      !maps[2].isProjectedPermutation())
    return false;
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop) {
    bool inRows = maps[rowsInput].isFunctionOfDim(loop);
    bool inColumns = maps[columnsInput].isFunctionOfDim(loop);
    if (!maps[2].isFunctionOfDim(loop))
      steps.push_back(loop);
    else if (inRows && inColumns)
      batch.push_back(loop);
    else if (inRows)
      rows.push_back(loop);
    else if (inColumns)
      columns.push_back(loop);
    else
      return false;
  }
  return llvm::all_of(ArrayRef({&batch, &rows, &columns, &steps}),
                      [](const SmallVector<unsigned> *loops) {
                        return loops->size() <= kernel::maxLoops;
                      });
}

std::optional<int64_t> extentOf(ArrayRef<int64_t> ranges,
                                ArrayRef<unsigned> loops) {
  int64_t product = 1;
  for (unsigned loop : loops) {
    if (ShapedType::isDynamic(ranges[loop]))
      return std::nullopt;
    product *= ranges[loop];
  }
  return product;
}

/// The loop that goes through what lies side by side, if one alone does.
static std::optional<unsigned> innermostLoop(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last ? std::optional(last.getPosition()) : std::nullopt;
}

/// True for elements that are known when the program is compiled.
static bool hasKnownElements(Value value) {
  return value.getDefiningOp<memref::GetGlobalOp>() ||
         value.getDefiningOp<arith::ConstantOp>();
}

/// True if one of the loops does.
static bool runsAlong(AffineMap map, ArrayRef<unsigned> loops) {
  std::optional<unsigned> loop = innermostLoop(map);
  return loop && llvm::is_contained(loops, *loop);
}

void PackedContraction::swapSides() {
  std::swap(rows, columns);
  std::swap(rowsInput, columnsInput);
}

/// About how many cycles the direct kernel takes, if one multiply-add of 16
/// lanes takes one: for these, to pack columns, which is slower where they must
/// be transposed, and to write sums, which is slower where they run along rows.
/// A constant is laid out as it is packed.
double PackedContraction::directCost(linalg::GenericOp generic) const {
  constexpr double lanes = 16, unknown = 256, blockSteps = 512;
  constexpr double packing = 0.3, packingAcross = 1;
  constexpr double writing = 0.06, writingAcross = 0.35;
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  auto extent = [&](ArrayRef<unsigned> loops) {
    double product = 1;
    for (unsigned loop : loops)
      product *=
          ShapedType::isDynamic(ranges[loop]) ? unknown : double(ranges[loop]);
    return product;
  };
  double height = extent(rows), width = extent(columns), depth = extent(steps);
  double cost = height * std::ceil(width / lanes) * depth;
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  if (!hasKnownElements(generic->getOperand(columnsInput)))
    cost += (runsAlong(maps[columnsInput], steps) ? packingAcross : packing) *
            width * depth;
  bool isAcross = runsAlong(maps[2], rows);
  return cost + (isAcross ? writingAcross : writing) * height * width *
                    std::ceil(depth / blockSteps);
}

/// Columns are what vectors run along: where the result is contiguous, unless
/// that fills them badly, or another way is faster where neither side needs to
/// be packed.
bool PackedContraction::orient(linalg::GenericOp generic, Target target) {
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  if (runsAlong(maps[2], rows))
    swapSides();
  std::optional<int64_t> height = extentOf(ranges, rows);
  std::optional<int64_t> width = extentOf(ranges, columns);
  constexpr int64_t tileRows = 8, tileColumns = 32, fewest = 4;
  auto padded = [](int64_t rows, int64_t columns) {
    return llvm::alignTo(rows, tileRows) * llvm::alignTo(columns, tileColumns);
  };
  if (isDirect) {
    double cost = directCost(generic);
    swapSides();
    if (directCost(generic) >= cost)
      swapSides();
  } else if (height && width &&
             padded(*width, *height) < padded(*height, *width) / 2) {
    swapSides();
  }
  auto isShort = [&](ArrayRef<unsigned> loops) {
    std::optional<int64_t> extent = extentOf(ranges, loops);
    return loops.empty() || (extent && *extent < fewest);
  };
  if (!isShort(rows) && !isShort(columns))
    return true;
  if (isShort(columns))
    swapSides();
  if (target != Target::CPU || quireStep || isShort(columns))
    return false;
  // Loops run along what is contiguous, and here that is the steps.
  return runsAlong(maps[columnsInput], steps);
}

std::optional<PackedContraction>
PackedContraction::ofProduct(linalg::GenericOp generic) {
  PackedContraction found;
  if (!found.findBody(generic) || !found.step || !found.findLoops(generic))
    return std::nullopt;
  return found;
}

std::optional<PackedContraction>
PackedContraction::of(linalg::GenericOp generic, Target target) {
  PackedContraction found;
  if (!found.findStep(generic, target) || !found.findLoops(generic) ||
      !found.orient(generic, target))
    return std::nullopt;
  return found;
}

} // namespace numera
