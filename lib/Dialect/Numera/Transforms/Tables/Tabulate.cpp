// SPDX-License-Identifier: MIT
//
// A table is the result of folding the operation on a constant of all codes, so
// it cannot differ from the operation. Operations that a library defines are
// not folded. A program on bytes is compared with that table.

#include "ByteArithmetic.h"
#include "Folding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "numera/Registry/Symbols/Lookup.h"
#include "numera/Registry/Symbols/Tuning.h"
#include "llvm/ADT/DenseMap.h"

#include <numeric>

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERATABULATE
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

using Effort = FormatFamily::Effort;

/// A table for operands of these widths against computing: see the pass.
bool isWorthATable(Effort effort, ArrayRef<unsigned> widths,
                   unsigned elementBits) {
  constexpr unsigned permutedBits = 8, mostBits = 20; // 128 KiB
  unsigned places = std::accumulate(widths.begin(), widths.end(), 0u);
  if (places > 16 || places + llvm::Log2_32(elementBits) > mostBits)
    return false;
  switch (effort) {
  case Effort::Codes:
    return false;
  case Effort::Short:
    return places <= permutedBits && elementBits == 8;
  case Effort::Long:
    return llvm::all_of(widths, [](unsigned width) { return width <= 8; });
  case Effort::Slow:
    return true;
  }
  return false;
}

/// A table of the operation on the operands that vary.
class Tabulation {
public:
  explicit Tabulation(FormatOpInterface op) : op(op) {
    for (unsigned i = 0; i < op.getFormatOperandCount(); ++i) {
      Attribute constant = splatOf(op->getOperand(i));
      constants.push_back(constant);
      if (constant)
        continue;
      operands.push_back(op->getOperand(i));
      widths.push_back(op.getOperandElement(i).isFormat()
                           ? op.getOperandElement(i).format.width()
                           : 64);
    }
  }

  bool isWanted() {
    Type result = numera::elementType(op->getResult(0).getType());
    return isPossible() && !isOfDrawnCodes() &&
           isWorthATable(effortOf(op), widths, result.getIntOrFloatBitWidth());
  }

  /// A program that computes the operation on two codes of 8 bits.
  std::optional<ByteProgram> findByteProgram() {
    if (!isPossible() || effortOf(op) != Effort::Short || isOverridden(op) ||
        widths != ArrayRef<unsigned>{8, 8} ||
        op->getOperandTypes().front() != op->getResult(0).getType())
      return std::nullopt;
    DenseElementsAttr table;
    auto results = [&]() -> std::vector<uint8_t> {
      table = compute();
      if (!table)
        return std::vector<uint8_t>(1 << 16);
      auto values = table.getValues<uint8_t>();
      return {values.begin(), values.end()};
    };
    auto program =
        byteProgramOf(op.getFormatOperation(), op.getRules().encoding, results);
    return table ? program : std::nullopt;
  }

  /// True if the operation has a table at all.
  bool isPossible() {
    auto isCode = [](Type type) {
      type = numera::elementType(type);
      return type.isInteger(8) || type.isInteger(16);
    };
    Type result = numera::elementType(op->getResult(0).getType());
    return !op.drawsRandom() && !widths.empty() && widths.size() <= 2 &&
           (isCode(result) || isa<FloatType>(result)) &&
           llvm::all_of(operands,
                        [&](Value value) { return isCode(value.getType()); });
  }

  /// Null where the operation does not fold.
  DenseElementsAttr compute() {
    SmallVector<int64_t> shape;
    for (unsigned width : widths)
      shape.push_back(int64_t{1} << width);
    auto type = RankedTensorType::get(
        shape, numera::elementType(op->getResult(0).getType()));
    std::vector<char> bytes;
    for (int64_t begin = 0; begin < type.getNumElements();
         begin += foldedCodes) {
      auto results =
          evaluate(begin, std::min(foldedCodes, type.getNumElements() - begin));
      if (!results)
        return {};
      appendTo(bytes, results);
    }
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }

  ArrayRef<Value> varyingOperands() const { return operands; }
  /// What tells two tables apart.
  Attribute key() {
    SmallVector<Attribute> parts = {
        StringAttr::get(op->getContext(), op->getName().getStringRef()),
        op->getAttrDictionary(), elementOf(op->getResult(0))};
    for (auto [i, constant] : llvm::enumerate(constants))
      parts.push_back(constant ? constant : elementOf(op->getOperand(i)));
    return ArrayAttr::get(op->getContext(), parts);
  }

private:
  /// A cast of codes that were just rounded by chance, in vectors. Elements of
  /// 32 bits are loaded one by one, for which LLVM would also compute each
  /// place by itself.
  bool isOfDrawnCodes() {
    if (operands.size() != 1 || !isa<CastOp>(op.getOperation()) ||
        !isa<FloatType>(numera::elementType(op->getResult(0).getType())))
      return false;
    auto code = operands.front().getDefiningOp<FormatOpInterface>();
    return code && code.drawsRandom();
  }

  static Attribute elementOf(Value value) {
    return TypeAttr::get(numera::elementType(value.getType()));
  }

  /// The results at the places from `begin` on.
  DenseElementsAttr evaluate(int64_t begin, int64_t count) {
    SmallVector<Attribute> codes;
    unsigned place = 0;
    for (auto [i, constant] : llvm::enumerate(constants)) {
      auto type = typeOfCodes(op->getOperand(i), count);
      codes.push_back(constant ? DenseElementsAttr::get(type, constant)
                               : codesAt(type, place++, begin));
    }
    return foldOn(op, codes, count);
  }

  /// The codes of the varying operand `place` at the table's places from
  /// `begin` on.
  DenseElementsAttr codesAt(RankedTensorType type, unsigned place,
                            int64_t begin) const {
    unsigned shift = 0;
    for (unsigned width : ArrayRef(widths).drop_front(place + 1))
      shift += width;
    uint64_t mask = (uint64_t{1} << widths[place]) - 1;
    unsigned bits = type.getElementTypeBitWidth();
    SmallVector<APInt> codes;
    for (int64_t i = begin; i < begin + type.getNumElements(); ++i)
      codes.emplace_back(bits, static_cast<uint64_t>(i) >> shift & mask);
    return DenseElementsAttr::get(type, codes);
  }

  FormatOpInterface op;
  SmallVector<Attribute, 3> constants; ///< null for an operand that varies
  SmallVector<Value, 2> operands;      ///< those that vary
  SmallVector<unsigned, 2> widths;
};

/// Turns operations into lookups; those that compute the same share a table.
class Tabulator {
public:
  explicit Tabulator(ModuleOp module) : module(module) {}

  void run(FormatOpInterface op) {
    auto step = dyn_cast<MacOp>(op.getOperation());
    if (step && split(step))
      return;
    Tabulation tabulation(op);
    if (!tabulation.isWanted())
      return toBytes(op, tabulation);
    DenseElementsAttr table = tableOf(tabulation);
    if (!table)
      return;
    OpBuilder builder(op);
    auto lookup =
        LookupOp::create(builder, op->getLoc(), op->getResult(0).getType(),
                         tabulation.varyingOperands(), table);
    op->getResult(0).replaceAllUsesWith(lookup);
    op->erase();
  }

private:
  /// Computes the operation by a program on bytes, where the CPU is fast at
  /// those and there is one.
  void toBytes(FormatOpInterface op, Tabulation &tabulation) {
    auto [entry, isNew] = programs.try_emplace(tabulation.key());
    if (isNew)
      entry->second = tabulation.findByteProgram();
    if (!entry->second)
      return;
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto operands = tabulation.varyingOperands();
    Value bytes =
        buildBytes(builder, loc, *entry->second, operands[0], operands[1]);
    auto isFast = func::CallOp::create(builder, loc, question());
    builder.setInsertionPointAfter(op);
    auto choice = arith::SelectOp::create(builder, loc, isFast.getResult(0),
                                          bytes, op->getResult(0));
    op->getResult(0).replaceAllUsesExcept(choice, choice);
  }

  /// Whether the CPU is fast at lookups of bytes: a function that lib/Target
  /// defines (Registry/Symbols/Tuning.h).
  func::FuncOp question() {
    if (auto known = module.lookupSymbol<func::FuncOp>(hasByteLookupsSymbol))
      return known;
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto type = builder.getFunctionType({}, builder.getI1Type());
    auto function = func::FuncOp::create(builder, module.getLoc(),
                                         hasByteLookupsSymbol, type);
    function.setPrivate();
    return function;
  }

  DenseElementsAttr tableOf(Tabulation &tabulation) {
    auto [entry, isNew] = tables.try_emplace(tabulation.key());
    if (isNew)
      entry->second = tabulation.compute();
    return entry->second;
  }

  /// A step whose product is rounded, in one format: a table of products and
  /// one of sums.
  bool split(MacOp step) {
    FormatOpInterface op = step;
    Format format = op.getResultElement().format;
    if (isOverridden(op) || !hasPlainParts(step, format))
      return false;
    OpBuilder builder(step);
    auto attribute = FormatAttr::get(step.getContext(), format);
    auto product = MulOp::create(builder, step.getLoc(), step.getType(),
                                 {step.getLhs(), step.getRhs()});
    product.setFormatAttr(attribute);
    auto sum = AddOp::create(builder, step.getLoc(), step.getType(),
                             {step.getAddend(), product});
    sum.setFormatAttr(attribute);
    Tabulation products(product), sums(sum);
    if (!products.isWanted() || !sums.isWanted() || !tableOf(products) ||
        !tableOf(sums)) {
      sum.erase();
      product.erase();
      return false;
    }
    step.getResult().replaceAllUsesWith(sum);
    step.erase();
    run(product);
    run(sum);
    return true;
  }

  /// True if the step is what `mul` and `add` in the format are.
  static bool hasPlainParts(MacOp step, const Format &format) {
    FormatOpInterface op = step;
    StepRules rules = stepRulesOf(step);
    if (!rules.product || step.getRounding() || step.getOverflow())
      return false;
    for (unsigned i = 0; i < op.getFormatOperandCount(); ++i)
      if (op.getOperandElement(i).format != format)
        return false;
    auto isPlain = [&](const OperationRules &part, OpKind operation) {
      OperationRules plain = rulesOf(operation, format, {format, format});
      return part.result == format && part.encoding == plain.encoding &&
             part.rounding.pack() == plain.rounding.pack() &&
             part.truncation == plain.truncation;
    };
    return isPlain(*rules.product, OpKind::Mul) &&
           isPlain(rules.sum, OpKind::Add);
  }

  ModuleOp module;
  llvm::DenseMap<Attribute, DenseElementsAttr> tables;
  llvm::DenseMap<Attribute, std::optional<ByteProgram>> programs;
};

struct TabulatePass : impl::NumeraTabulateBase<TabulatePass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<NumeraDialect, arith::ArithDialect, func::FuncDialect>();
  }
  void runOnOperation() override {
    SmallVector<FormatOpInterface> work;
    getOperation()->walk([&](FormatOpInterface op) { work.push_back(op); });
    Tabulator tabulator(cast<ModuleOp>(getOperation()));
    for (FormatOpInterface op : work)
      tabulator.run(op);
  }
};

} // namespace
} // namespace numera
