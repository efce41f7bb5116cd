// SPDX-License-Identifier: MIT
//
// The target machines of a program. Results may not depend on them: no fusion
// of operations.

#include "Machines.h"
#include "Compiled.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/Targets.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
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

namespace {

/// A CPU as LLVM knows it.
struct CPU {
  const llvm::Target *target = nullptr;
  Triple triple;
  std::string name, features;
};

bool isValid(const CPU &cpu) {
  // Asked of an empty subtarget: for an unknown name LLVM prints, and goes on.
  std::unique_ptr<MCSubtargetInfo> known(
      cpu.target->createMCSubtargetInfo(cpu.triple, "", ""));
  return known && known->isCPUStringValid(cpu.name);
}

/// The CPU of that name in an architecture, if LLVM has them.
std::optional<CPU> find(const Triple &triple, StringRef name,
                        StringRef features) {
  std::string error;
  CPU cpu{TargetRegistry::lookupTarget(triple, error), triple, name.str(),
          features.str()};
  if (!cpu.target || !isValid(cpu))
    return std::nullopt;
  return cpu;
}

std::optional<CPU> findAArch64(StringRef name) {
#if LLVM_HAS_AARCH64_TARGET
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeAArch64AsmParser();
#endif
  return find(Triple("aarch64-unknown-linux-gnu"),
              name == "aarch64" ? "generic" : name, "");
}

Expected<CPU> findCPU(StringRef name) {
  Triple host(sys::getDefaultTargetTriple());
  bool isHost = name == "native";
  std::optional<CPU> cpu = find(host, isHost ? sys::getHostCPUName() : name,
                                isHost ? hostFeatures() : "");
  if (!cpu)
    cpu = findAArch64(name);
  if (cpu)
    return *cpu;
  return createStringError(
      "unknown cpu '" + name +
      "'; expected native, x86-64-v2, x86-64-v3, x86-64-v4, aarch64 or a name "
      "that `llc -mcpu=help` lists");
}

std::unique_ptr<TargetMachine> create(const CPU &cpu, unsigned optimization) {
  TargetOptions options;
  options.UseInitArray = true; // what loaders know
  options.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(cpu.target->createTargetMachine(
      cpu.triple, cpu.name, cpu.features, options, Reloc::PIC_,
      CodeModel::Small, codeGenLevel(optimization)));
}

uint64_t featuresOf(const TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86())
    return 0;
  const MCSubtargetInfo &has = *machine.getMCSubtargetInfo();
  uint64_t features = 0;
  unsigned place = 0;
#define NUMERA_X86_FEATURE(name, leaf, subleaf, reg, bit, state)               \
  features |= uint64_t(has.checkFeatures("+" name)) << place++;
#include "numera/Runtime/X86Features.def"
  return features;
}

} // namespace

Expected<Machines> numera::createMachines(const CPUOptions &options) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  InitializeNativeTargetAsmParser();
  Machines machines;
  SmallVector<StringRef> names;
  StringRef(options.cpu).split(names, ',');
  CPU first;
  for (StringRef name : names) {
    Expected<CPU> cpu = findCPU(name);
    if (!cpu)
      return cpu.takeError();
    if (!first.target)
      first = *cpu;
    if (cpu->triple.getArch() != first.triple.getArch())
      return createStringError("cpu '" + names[0] + "' is of " +
                               first.triple.getArchName() + ", '" + name +
                               "' of " + cpu->triple.getArchName() +
                               "; a program is for one of them");
    Machines::Version version;
    version.machine = create(*cpu, options.optimization);
    version.cpu = name == "native" ? cpu->name : name.str();
    version.features = featuresOf(*version.machine);
    auto needsLess = [](const auto &a, const auto &b) {
      return popcount(a.features) < popcount(b.features);
    };
    auto place = upper_bound(machines.versions, version, needsLess);
    machines.versions.insert(place, std::move(version));
  }
  first.name = first.triple.isX86() ? "x86-64" : "generic";
  first.features.clear();
  machines.baseline = create(first, options.optimization);
  return machines;
}

Error numera::checkNative(const Compiled &program) {
  if (Triple(sys::getDefaultTargetTriple()).getArch() ==
      program.machine->getTargetTriple().getArch())
    return Error::success();
  return createStringError(
      "code for the CPU '" + StringRef(program.metadata.target).substr(4) +
      "' does not run on this machine; write it with --emit obj, asm or llvm");
}
