// SPDX-License-Identifier: MIT

#include "Tuning.h"
#include "numera/Registry/Symbols/Tuning.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;

/// Features of other machines are no question to ask.
static bool isX86With(const TargetMachine &machine, StringRef features) {
  return machine.getTargetTriple().isX86() &&
         machine.getMCSubtargetInfo()->checkFeatures(features.str());
}

bool numera::permutesBytes(const TargetMachine &machine) {
  return isX86With(machine, "+avx512vbmi,+avx512bw");
}

bool numera::computesInF16x2(const TargetMachine &machine) {
  return isX86With(machine, "+avx512fp16");
}

unsigned numera::versionOf(StringRef gpu) {
  unsigned version = 0;
  if (!gpu.consume_front("sm_") || gpu.consumeInteger(10, version))
    return 0;
  return version;
}

/// AMD's Zen adds in two pipes and multiplies in two others (bench/pipes.py);
/// Intel's cores do both in the same ones. What is for any CPU is for either,
/// and loses less by a choice that is wrong on Intel.
static bool fusesAdditions(const TargetMachine &machine) {
  StringRef cpu = machine.getTargetCPU();
  bool isNamed = !cpu.empty() && cpu != "generic" && !cpu.starts_with("x86-64");
  return isNamed && !cpu.starts_with("znver") && isX86With(machine, "+fma");
}

/// Every AArch64 has one. GPUs have, too; but they look up tables slowly, and
/// the answer for them is no.
static bool fusesProducts(const TargetMachine &machine) {
  return machine.getTargetTriple().isAArch64() || isX86With(machine, "+fma");
}

void numera::defineAnswers(Module &module, const TargetMachine &machine) {
  auto define = [&](StringRef question, bool answer) {
    Function *function = module.getFunction(question);
    if (!function || !function->isDeclaration())
      return;
    function->setLinkage(GlobalValue::InternalLinkage);
    function->addFnAttr(Attribute::AlwaysInline);
    IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", function));
    builder.CreateRet(builder.getInt1(answer));
  };
  define(hasByteLookupsSymbol, permutesBytes(machine));
  define(fusesAdditionsSymbol, fusesAdditions(machine));
  define(fusesProductsSymbol, fusesProducts(machine));
}
