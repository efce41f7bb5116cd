// SPDX-License-Identifier: MIT
//
// LLVM's pipeline. Results may not depend on it: no fast-math flags, and no
// fusion of operations but where the code allows it and checks the result
// (Numerics/Elementary/FastPath.h).

#include "Optimize.h"
#include "Lookups.h"
#include "PackedLoads.h"
#include "Vectorize/BfloatConversions.h"
#include "Vectorize/VectorVariants.h"
#include "numera/Target/Support/Cancel.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace numera;

static OptimizationLevel pipelineLevel(unsigned level) {
  switch (level) {
  case 0:
    return OptimizationLevel::O0;
  case 1:
    return OptimizationLevel::O1;
  case 2:
    return OptimizationLevel::O2;
  default:
    return OptimizationLevel::O3;
  }
}

void numera::setTarget(Module &module, const TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  // LLVM prefers 256 bits on several CPUs that have 512, for the sake of other
  // code's clock; loops over formats are long and all vector.
  bool isWide =
      machine.getTargetTriple().isX86() &&
      machine.getMCSubtargetInfo()->checkFeatures("+avx512f,+avx512vl");
  for (Function &function : module) {
    if (function.isDeclaration() || function.hasFnAttribute("target-cpu"))
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!machine.getTargetFeatureString().empty())
      function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (isWide)
      function.addFnAttr("prefer-vector-width", "512");
  }
}

namespace {
struct ReleaseLookups : PassInfoMixin<ReleaseLookups> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    dropUnusedVariants(module);
    releaseLookups(module);
    releasePackedLoads(module);
    releaseBfloatConversions(module);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};
} // namespace

namespace {
/// A loop that calls a vector form has registers for one such call at a time.
struct KeepVariantsApart : PassInfoMixin<KeepVariantsApart> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    for (Loop *loop : analyses.getResult<LoopAnalysis>(function))
      for (Loop *inner : depth_first(loop))
        if (inner->isInnermost() && callsVariant(*inner))
          addStringMetadataToLoop(inner, "llvm.loop.interleave.count", 1);
    return PreservedAnalyses::all();
  }

  static bool callsVariant(const Loop &loop) {
    return any_of(loop.blocks(), [](const BasicBlock *block) {
      return any_of(*block, [](const Instruction &instruction) {
        auto *call = dyn_cast<CallBase>(&instruction);
        const Function *callee = call ? call->getCalledFunction() : nullptr;
        return callee && callee->hasFnAttribute(VFABI::MappingsAttrName);
      });
    });
  }
};

/// Vector forms that few loops call become part of these, so that what is
/// constant in them is loaded once a loop.
struct InlineVariants : PassInfoMixin<InlineVariants> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    constexpr unsigned mostCalls = 12, mostInstructions = 400;
    for (Function &function : module)
      if (isVariant(function) && !function.isDeclaration() &&
          function.hasLocalLinkage() && function.hasNUsesOrMore(1) &&
          !function.hasNUsesOrMore(mostCalls + 1) &&
          function.getInstructionCount() <= mostInstructions &&
          !function.hasFnAttribute(Attribute::NoInline))
        function.addFnAttr(Attribute::AlwaysInline);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};
} // namespace

/// What the vectoriser has seen as calls; a table is loaded once a loop.
static void inlineLookups(ModulePassManager &passes) {
  passes.addPass(ReleaseLookups());
  passes.addPass(InlineVariants());
  passes.addPass(AlwaysInlinerPass());
  FunctionPassManager clean;
  clean.addPass(EarlyCSEPass());
  clean.addPass(InstCombinePass());
  clean.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                /*UseMemorySSA=*/true));
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(clean)));
}

/// Of thousands of instructions without a branch, as an unrolled loop has them,
/// SLP takes seconds, and finds what the loop vectorizer has made already.
static bool hasLongBlock(Any ir) {
  constexpr size_t most = 4096;
  const auto *function = any_cast<const Function *>(&ir);
  return function && any_of(**function, [](const BasicBlock &block) {
           return block.size() > most;
         });
}

/// Which function a pointer may be of, and whether the caller could load what
/// an argument points to, is asked in vain here, and takes most of the time for
/// a function of a thousand buffers. Nothing is asked once it is given up.
static bool shouldRun(StringRef pass, Any ir) {
  return pass != "CalledValuePropagationPass" &&
         pass != "ArgumentPromotionPass" && !isCancelled() &&
         !(pass == "SLPVectorizerPass" && hasLongBlock(ir));
}

Error numera::optimize(Module &module, TargetMachine &machine,
                       const OptimizerOptions &options) {
  unsigned level = options.level;
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(shouldRun);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = level >= 2;
  tuning.LoopInterleaving = level >= 2;
  tuning.LoopUnrolling = level >= 2 && options.unrolls;
  PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // The runtime's entries, whose copies under constants are called.
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager &first, OptimizationLevel) {
        first.addPass(GlobalDCEPass());
      });
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &first, OptimizationLevel) {
        first.addPass(KeepVariantsApart());
      });
  bool haveVariants = any_of(module.functions(), isVariant);
  if (haveVariants || hasLookups(module) || hasPackedLoads(module) ||
      bfloatConversion(module))
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager &last, OptimizationLevel, ThinOrFullLTOPhase) {
          inlineLookups(last);
        });
  if (options.simplified)
    level = std::min(level, 1u);
  ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(OptimizationLevel::O0)
                 : builder.buildPerModuleDefaultPipeline(pipelineLevel(level));
  passes.run(module, modules);
  return isCancelled() ? cancelled() : Error::success();
}
