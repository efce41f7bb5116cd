// SPDX-License-Identifier: MIT
//
// A call into machine code takes 5 ns and more, and stops the vectoriser; a
// table of one operand of 8 bits takes 0.04 to 0.3 ns, one of two operands 0.5
// (Zen 4, 1 M elements). So a table pays for every function in machine code
// without a vector variant. In source and bitcode it pays for functions that
// cannot be vectorised, or whose instructions take longer than a lookup.

#include "LibraryTables.h"
#include "LibraryRun.h"
#include "Vectorize/Specialize.h"
#include "numera/Registry/Symbols/Lookup.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/VFABIDemangler.h"

using namespace llvm;
using namespace numera;

static constexpr StringLiteral attribute = "numera-operand-bits";
static constexpr size_t mostBytes = 1 << 17;

/// `8` or `4,4`; empty where there is no table.
static std::string operandBits(const Lowering &lowering) {
  auto isSmall = [](const Format &format) {
    return format && format.storageBits() == 8;
  };
  if (!lowering.result || isPartOfAccumulator(lowering.operation) ||
      isProduct(lowering.operation) || isIdentity(lowering.operation) ||
      lowering.operands.empty() || lowering.operands.size() > 2 ||
      lowering.getRoundingMode() == Rounding::Stochastic ||
      lowering.operation == OpKind::Cmp ||
      lowering.operation == OpKind::IsNaN ||
      !all_of(lowering.operands, isSmall))
    return "";
  return join(map_range(lowering.operands,
                        [](const Format &format) {
                          return std::to_string(format.width());
                        }),
              ",");
}

void numera::noteOperandBits(Function &function,
                             ArrayRef<const Lowering *> lowerings) {
  std::string bits = operandBits(*lowerings.front());
  if (!bits.empty() && all_of(lowerings, [&](const Lowering *lowering) {
        return operandBits(*lowering) == bits;
      }))
    function.addFnAttr(attribute, bits);
}

/// True if calls of the function are slower than a table.
static bool isWorthATable(const LibraryRun &run) {
  const Function &function = *run.function;
  if (function.hasFnAttribute(VFABI::MappingsAttrName) ||
      run.bytes() > mostBytes)
    return false;
  bool isPermuted = run.places() <= 256 && run.resultBytes() == 1;
  return function.isDeclaration() || !isStraight(function) ||
         function.getInstructionCount() > (isPermuted ? 12 : 80);
}

static std::vector<LibraryRun> collect(Module &module) {
  std::vector<LibraryRun> runs;
  for (Function &function : module) {
    if (!function.hasFnAttribute(attribute) || function.use_empty())
      continue;
    LibraryRun run{&function, {}};
    SmallVector<StringRef> parts;
    function.getFnAttribute(attribute).getValueAsString().split(parts, ',');
    for (StringRef part : parts)
      part.getAsInteger(10, run.operandBits.emplace_back());
    if (isWorthATable(run))
      runs.push_back(std::move(run));
  }
  return runs;
}

static Constant *tableOf(LLVMContext &context, const LibraryRun &run,
                         std::string results) {
  results.resize(Lookup::elementsInMemory(run.places()) * run.resultBytes());
  Type *element = Type::getIntNTy(context, 8 * run.resultBytes());
  return ConstantDataArray::getRaw(results, results.size() / run.resultBytes(),
                                   element);
}

/// A function that reads the results from a table.
static Function *addReader(Module &module, const LibraryRun &run,
                           const std::string &results) {
  LLVMContext &context = module.getContext();
  Constant *values = tableOf(context, run, results);
  auto *table =
      new GlobalVariable(module, values->getType(),
                         /*isConstant=*/true, GlobalValue::InternalLinkage,
                         values, "numera_table_" + run.function->getName());
  table->setAlignment(Align(64));

  IRBuilder<> builder(context);
  Lookup lookup = Lookup::of(run.places(), 8 * run.resultBytes());
  Type *index = builder.getIntNTy(lookup.placeWidth());
  FunctionCallee callee = module.getOrInsertFunction(
      lookup.symbol(), FunctionType::get(builder.getIntNTy(lookup.elementBits),
                                         {index, builder.getPtrTy()}, false));
  auto *reader = Function::Create(run.function->getFunctionType(),
                                  GlobalValue::InternalLinkage,
                                  run.function->getName() + ".table", module);
  reader->addFnAttr(Attribute::AlwaysInline);
  builder.SetInsertPoint(BasicBlock::Create(context, "", reader));
  Value *place = nullptr;
  for (auto [argument, bits] : zip_equal(reader->args(), run.operandBits)) {
    Value *code = builder.CreateAnd(&argument, (1u << bits) - 1);
    code = builder.CreateZExtOrTrunc(code, index);
    place =
        place ? builder.CreateOr(builder.CreateShl(place, bits), code) : code;
  }
  builder.CreateRet(builder.CreateBitCast(
      builder.CreateCall(callee, {place, table}), reader->getReturnType()));
  return reader;
}

void numera::tabulateLibraries(
    Module &module, TargetMachine &machine,
    const std::vector<std::string> &nativeLibraries) {
  std::vector<LibraryRun> runs = collect(module);
  std::vector<std::string> results =
      runLibraries(module, machine, nativeLibraries, runs);
  for (auto [run, found] : zip_equal(runs, results)) {
    if (found.empty())
      continue;
    Function *reader = addReader(module, run, found);
    run.function->replaceUsesWithIf(reader, [](Use &use) {
      auto *call = dyn_cast<CallBase>(use.getUser());
      return call && call->isCallee(&use);
    });
  }
}
