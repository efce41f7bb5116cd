// SPDX-License-Identifier: MIT

#include "numera/Target/Driver/Compiler.h"
#include "OneLine.h"
#include "Signatures.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/Passes.h"
#include "numera/Conversion/NumeraToCPU.h"
#include "numera/Conversion/NumeraToNVPTX.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/IR/Operator.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "numera/Dialect/Numera/Transforms/IndependentRows.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "numera/Dialect/Numera/Transforms/Proofs/LibraryUses.h"
#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include "numera/Dialect/Numera/Transforms/Retype/RuleUses.h"
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h"
#include "numera/InitAll.h"
#include "numera/Target/NVPTX/GPU.h"
#include "numera/Target/NVPTX/LocalGPU.h"
#include "numera/Target/Support/Cancel.h"
#include "numera/Target/Support/StepTimes.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace numera {

Compiler::Compiler(const Registry &registry) : registry(registry) {
  DialectRegistry dialects;
  registerAll(dialects);
  context =
      std::make_unique<MLIRContext>(dialects, MLIRContext::Threading::DISABLED);
  // The caller's registry outlives the compiler.
  context->getOrLoadDialect<NumeraDialect>()->setRegistry(
      std::shared_ptr<const Registry>(std::shared_ptr<void>(), &registry));
}

OwningOpRef<ModuleOp> Compiler::emptyModule() {
  context->loadDialect<arith::ArithDialect, func::FuncDialect>();
  return ModuleOp::create(UnknownLoc::get(context.get()));
}

bool withOptions(const CompileOptions &options, Format &format,
                 std::string &error) {
  const FormatFamily &family = format.getFamily();
  auto fail = [&](StringRef message) {
    error = message.str();
    return false;
  };
  auto disagrees = [&](StringRef word, StringRef why) {
    return fail("'" + word.str() + "' does not go with " + format.spelling() +
                ": " + why.str());
  };
  if (!options.overflow.empty()) {
    auto overflow = overflowFromName(options.overflow);
    if (!overflow)
      return disagrees(options.overflow,
                       "expected infinity, saturate, propagate or wrap");
    Format changed = family.hasArithmetic()
                         ? family.withOverflow(format, *overflow)
                         : Format();
    if (!changed)
      return disagrees(options.overflow, "the family '" + family.name().str() +
                                             "' has no such rule");
    format = changed;
  }
  Rounding rounding = format.getRounding();
  if (!options.rounding.empty()) {
    auto named = roundingFromName(options.rounding);
    if (!named)
      return disagrees(options.rounding,
                       "expected nearest-even, nearest-away, nearest-zero, "
                       "toward-zero, up, down, to-odd or stochastic");
    if (!family.hasArithmetic())
      return disagrees(options.rounding,
                       "only its library defines how it rounds");
    rounding = *named;
  }
  uint64_t bits = options.randomBits.value_or(
      format.getRandomBits() ? format.getRandomBits() : defaultRandomBits);
  if (options.randomBits && rounding != Rounding::Stochastic)
    return fail("option '--random-bits' is for stochastic rounding, found '" +
                nameOf(rounding).str() + "'; add --rounding stochastic");
  if (bits < 1 || bits > 32)
    return fail("option '--random-bits' is '" + std::to_string(bits) +
                "', expected 1 to 32");
  format = format.withRounding(rounding, static_cast<int32_t>(bits));
  return true;
}

/// As a policy names it; nothing where it is the usual one.
static std::string describe(const BlockAxis &axis) {
  switch (axis.kind) {
  case BlockAxis::Kind::Usual:
    return "";
  case BlockAxis::Kind::Summed:
    return ", axis summed";
  case BlockAxis::Kind::Channel:
    return ", axis channel";
  case BlockAxis::Kind::Number:
    break;
  }
  return ", axis " + (axis.number == -1  ? "last"
                      : axis.number == 0 ? "first"
                                         : std::to_string(axis.number));
}

/// What contractions read and write, where it is not the format itself.
static std::vector<std::pair<std::string, std::string>>
rolesOf(const Registry &registry, const ResolvedPolicy &policy) {
  std::vector<std::pair<std::string, std::string>> roles;
  for (auto [name, role] :
       {std::pair<StringRef, const Role *>{"weights", &policy.weights},
        {"activations", &policy.activations},
        {"outputs", &policy.outputs}}) {
    if (!role->scaled && !role->format)
      continue;
    std::string text = role->scaled ? registry.nameOrSpelling(role->scaled)
                                    : registry.nameOrSpelling(role->format);
    roles.emplace_back(name, text + (role->isPerChannel ? " per-channel" : "") +
                                 describe(role->blockAxis));
  }
  return roles;
}

/// True if the model, a role or a rule has scales.
static bool isScaled(const ResolvedPolicy &policy) {
  return policy.scaled || policy.weights.scaled || policy.activations.scaled ||
         policy.outputs.scaled ||
         llvm::any_of(policy.rules, [](const ResolvedRule &rule) {
           return isScaled(rule.policy);
         });
}

bool Compiler::resolve(const CompileOptions &options, Resolved &resolved,
                       llvm::raw_ostream &errors) const {
  std::string error;
  auto fail = [&](StringRef message) {
    errors << "error: " << message << '\n';
    return false;
  };
  auto request =
      readRequest(registry, options.format, options.accumulate, error);
  if (!request ||
      !readReplaced(registry, options.replace, request->replaced, error))
    return fail(error);
  auto policy = resolvePolicy(registry, *request, error);
  if (!policy)
    return fail(error);
  // The reader of the file leaves it to the command to name a scaled format.
  if (options.format.empty() && !registry.policy().scales.empty() &&
      !isScaled(*policy))
    return fail("scales for a policy that scales nothing; expected --format or "
                "a 'default' that is scaled");
  bool usesTensorCores =
      policy->usesTensorCores ||
      llvm::any_of(policy->rules, [](const ResolvedRule &rule) {
        return rule.policy.usesTensorCores;
      });
  if (usesTensorCores && options.target != "nvptx")
    return fail("accumulate 'tensorcore' needs the matrix instructions of a "
                "GPU, found target '" +
                options.target +
                "'; choose --target nvptx, or --accumulate f32");
  // Another rounding or overflow is another format.
  ScaledFormat scaled = policy->scaled;
  Format format = policy->format;
  if (!withOptions(options, scaled ? scaled.element : format, error))
    return fail(error);
  resolved.formatName = scaled ? registry.nameOrSpelling(scaled)
                               : registry.nameOrSpelling(format);
  // What accumulates in the format itself has its rounding.
  request->scaled = scaled;
  request->format = scaled ? Format() : format;
  request->keepsRoles = options.format.empty();
  policy = resolvePolicy(registry, *request, error);
  if (!policy)
    return fail(error);
  resolved.format = policy->format;
  resolved.accumulateName = policy->accumulateName;
  resolved.roles = rolesOf(registry, *policy);
  resolved.rules.clear();
  for (const auto &[rule, own] : policy->rules)
    resolved.rules.push_back({rule->pattern(),
                              own.scaled ? registry.nameOrSpelling(own.scaled)
                                         : registry.nameOrSpelling(own.format),
                              own.accumulateName,
                              rolesOf(registry, own),
                              {}});
  resolved.policy = std::move(*policy);
  return true;
}

namespace {
/// While one lives, passes are left out once a compilation is given up.
class PassGate {
public:
  explicit PassGate(MLIRContext &context) : context(context) {
    if (mayBeCancelled())
      context.registerActionHandler(
          [](function_ref<void()> run, const tracing::Action &action) {
            if (!isa<PassExecutionAction>(action) || !isCancelled())
              run();
          });
  }
  ~PassGate() { context.registerActionHandler(nullptr); }

private:
  MLIRContext &context;
};
} // namespace

/// Runs what `build` adds; with `warned`, warnings are printed, each once.
LogicalResult
Compiler::runPasses(ModuleOp module,
                    llvm::function_ref<void(OpPassManager &)> build,
                    llvm::raw_ostream &errors, llvm::StringSet<> *warned) {
  OneLine oneLine(*module.getContext(), errors, warned);
  PassManager passes(module.getContext());
  // Half the time of a pass, and tests verify with numera-opt.
  passes.enableVerifier(false);
  build(passes);
  PassGate gate(*module.getContext());
  LogicalResult result = passes.run(module);
  if (isCancelled()) {
    errors << "error: " << toString(cancelled()) << '\n';
    return failure();
  }
  if (succeeded(result))
    return success();
  if (!oneLine.anyPrinted()) {
    isFaulty = true;
    errors << "error: the model could not be lowered\n";
  }
  return failure();
}

LogicalResult Compiler::run(ModuleOp module,
                            llvm::function_ref<void(OpPassManager &)> build,
                            llvm::raw_ostream &errors) {
  return runPasses(module, build, errors, /*warned=*/nullptr);
}

LogicalResult Compiler::retype(ModuleOp module, const CompileOptions &options,
                               Resolved &resolved, llvm::raw_ostream &errors) {
  // A model's own attribute of that name says nothing.
  for (auto function : module.getOps<func::FuncOp>())
    dropLayerRows(function);
  bool usesTosa = false;
  module.walk([&](Operation *op) {
    if (!isa<tosa::TosaDialect>(op->getDialect()))
      return;
    usesTosa = true;
    op->setLoc(withOperator(op->getLoc(), op->getName().getStringRef()));
  });
  LogicalResult result = runPasses(
      module,
      [&](OpPassManager &passes) {
        if (usesTosa) {
          auto &nested = passes.nest<func::FuncOp>();
          nested.addPass(tosa::createTosaToLinalgNamed());
          nested.addPass(tosa::createTosaToLinalg());
          nested.addPass(createTosaToArithPass());
          nested.addPass(createTosaToTensorPass());
          passes.addPass(createCanonicalizerPass());
        }
        passes.addPass(createNumeraDecompose());
        NumeraRetypeOptions retypeOptions;
        retypeOptions.observe = options.observe;
        retypeOptions.layers = options.showLayers;
        retypeOptions.quires = options.quires;
        if (!options.outputAs.empty())
          retypeOptions.outputAs = options.outputAs;
        passes.addPass(createRetypePass(resolved.policy, retypeOptions));
        // The filters that a layer and its copy have in common. What is counted
        // stays apart until then.
        if (options.showLayers && !options.countStatusFlags)
          passes.addPass(createCSEPass());
      },
      errors, &warned);
  // What is of no type that its operation takes would compute something else.
  if (succeeded(result)) {
    OneLine oneLine(*context, errors);
    result = verify(module);
  }
  for (auto [rule, operations] :
       llvm::zip(resolved.rules, takeRuleUses(module)))
    rule.operations = operations;
  if (options.showLayers)
    for (auto function : module.getOps<func::FuncOp>())
      resolved.layers[function.getName().str()] = layerRowsOf(function);
  return result;
}

/// Behind the passes that would look for an operation alone where it is not.
LogicalResult Compiler::countStatusFlags(ModuleOp module,
                                         const CompileOptions &options,
                                         Resolved &resolved,
                                         llvm::raw_ostream &errors) {
  if (failed(run(
          module,
          [&](OpPassManager &passes) {
            passes.addPass(createNumeraCountScales());
            passes.addPass(createNumeraSimplify());
            passes.addPass(createNumeraWidenContractions());
            NumeraCountStatusFlagsOptions counts;
            counts.target = options.target;
            counts.postpone = options.postponeCounts;
            counts.rows = options.countedRows;
            passes.addPass(createNumeraCountStatusFlags(counts));
            if (options.showLayers)
              passes.addPass(createCSEPass());
          },
          errors)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    auto counts = flagCountsOf(function);
    if (counts.empty())
      continue;
    resolved.counts[function.getName().str()] = std::move(counts);
    function.removeResultAttr(
        countOwnResults(function) - 1,
        StringAttr::get(function.getContext(), flagCountsAttribute));
  }
  return success();
}

LogicalResult Compiler::lower(ModuleOp module, const CompileOptions &options,
                              Resolved &resolved,
                              std::vector<FunctionSignature> &signatures,
                              llvm::raw_ostream &errors) {
  StepScope step(options.times, "retype");
  if (!resolve(options, resolved, errors))
    return failure();
  if (!options.function.empty()) {
    OneLine oneLine(*context, errors);
    if (failed(keepFunction(module, options.function)))
      return failure();
  }
  passNumbersAsTensors(module);
  {
    OneLine oneLine(*context, errors);
    if (failed(passMemoryDense(module)))
      return failure();
  }
  // What nothing calls need not compile.
  if (failed(run(
          module,
          [](OpPassManager &passes) {
            passes.addPass(createSymbolDCEPass());
            passes.addPass(createNumeraDecomposeScaledSignatures());
          },
          errors)))
    return failure();
  // Before there are scales, which are not the rows' own.
  llvm::StringMap<bool> areApart;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      areApart[function.getName()] = hasIndependentRows(module, function);
  if (failed(retype(module, options, resolved, errors)) ||
      (options.countStatusFlags &&
       failed(countStatusFlags(module, options, resolved, errors))))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (!options.countedRows.empty())
      eraseLayerRows(function);
    else if (!options.showRows) // they are results, as others
      dropLayerRows(function);
  {
    OneLine oneLine(*context, errors);
    auto collected = collectSignatures(module);
    if (failed(collected))
      return failure();
    signatures = std::move(*collected);
    for (FunctionSignature &signature : signatures) {
      signature.hasIndependentRows = areApart.lookup(signature.name);
      auto function = module.lookupSymbol<func::FuncOp>(signature.name);
      // Those that are handed over are results no longer.
      signature.outputs.resize(signature.outputs.size() -
                               countLayerRows(function) * LayerRow::results);
    }
    if (signatures.empty())
      return module.emitError("the model has no public function");
  }
  step.next("lower");
  std::string gpu = options.gpu.empty() ? GPUOptions().gpu : options.gpu;
  // The batch, the one dynamic size of an imported model, is checked at entry.
  bool checkShapes = !module->hasAttr(checksShapesAttribute);
  if (failed(run(
          module,
          [&](OpPassManager &passes) {
            if (options.target == "nvptx")
              buildNumeraToNVPTX(passes, checkShapes, gpu,
                                 processorsFor(gpu, options.startsDriver));
            else
              buildNumeraToCPU(passes, checkShapes);
          },
          errors)))
    return failure();
  resolved.libraryUses = takeLibraryUses(module);
  readDestinations(module, signatures);
  return success();
}

LogicalResult Compiler::lowerTo(ModuleOp module, StringRef stage,
                                const CompileOptions &options,
                                llvm::raw_ostream &errors) {
  llvm::scope_exit dropNote([&] { module->removeAttr(checksShapesAttribute); });
  if (stage == "import") {
    makeElementsDense(module);
    return success();
  }
  Resolved resolved;
  std::vector<FunctionSignature> signatures;
  if (stage == "lowered")
    return lower(module, options, resolved, signatures, errors);
  if (stage != "retype") {
    errors << "error: unknown stage '" << stage
           << "'; expected import, retype or lowered\n";
    return failure();
  }
  if (!resolve(options, resolved, errors))
    return failure();
  LogicalResult result = retype(module, options, resolved, errors);
  makeElementsDense(module);
  for (auto function : module.getOps<func::FuncOp>())
    dropLayerRows(function);
  return result;
}

} // namespace numera
