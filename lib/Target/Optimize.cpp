// SPDX-License-Identifier: MIT
//
// The target machine and LLVM's pipeline for it. Results may not depend on
// either: no fusion of operations, no fast-math flags.

#include "Compile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using namespace numera;

static std::string hostFeatures() {
  SubtargetFeatures features;
  // In a fixed order: the string becomes part of the program.
  StringMap<bool> host = sys::getHostCPUFeatures();
  SmallVector<StringRef> names(host.keys());
  sort(names);
  for (StringRef name : names)
    features.AddFeature(name, host[name]);
  return features.getString();
}

static CodeGenOptLevel codeGenLevel(unsigned level) {
  return CodeGenOpt::getLevel(int(std::min(level, 3u)))
      .value_or(CodeGenOptLevel::Aggressive);
}

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

Expected<std::unique_ptr<TargetMachine>>
numera::createTargetMachine(const CPUOptions &options) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  InitializeNativeTargetAsmParser();
  Triple triple(sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError(error);

  bool isNative = options.cpu == "native";
  std::string cpu = isNative ? sys::getHostCPUName().str() : options.cpu;
  // Asked of an empty subtarget: for an unknown name LLVM prints, and goes on.
  std::unique_ptr<MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!known || !known->isCPUStringValid(cpu))
    return createStringError(
        "unknown cpu '" + cpu +
        "'; expected native, x86-64-v2, x86-64-v3, x86-64-v4 or a name that "
        "`llc -mcpu=help` lists");

  TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, cpu, isNative ? hostFeatures() : "", targetOptions, Reloc::PIC_,
      CodeModel::Small, codeGenLevel(options.optimization)));
}

void numera::setTarget(Module &module, const TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  // LLVM prefers 256 bits on several CPUs that have 512, for the sake of other
  // code's clock; loops over formats are long and all vector.
  bool isWide =
      machine.getMCSubtargetInfo()->checkFeatures("+avx512f,+avx512vl");
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!machine.getTargetFeatureString().empty())
      function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (isWide)
      function.addFnAttr("prefer-vector-width", "512");
  }
}

void numera::optimize(Module &module, TargetMachine &machine, unsigned level) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = level >= 2;
  tuning.LoopInterleaving = tuning.LoopUnrolling = level >= 2;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(OptimizationLevel::O0)
                 : builder.buildPerModuleDefaultPipeline(pipelineLevel(level));
  passes.run(module, modules);
}
