// SPDX-License-Identifier: MIT
//
// The target machines of kernels. Results may not depend on them: no fusion of
// operations, no flushing, no approximation.

#include "Codegen/Tuning.h"
#include "Device.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using namespace numera;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

/// The oldest GPUs that CUDA still knows.
static constexpr unsigned oldest = 75;

static bool isKnown(const llvm::Target &target, const Triple &triple,
                    StringRef gpu) {
  if (versionOf(gpu) < oldest)
    return false;
  // Asked of an empty subtarget: for an unknown name LLVM prints, and goes on.
  std::unique_ptr<MCSubtargetInfo> known(
      target.createMCSubtargetInfo(triple, "", ""));
  return known && known->isCPUStringValid(gpu);
}

Expected<std::unique_ptr<TargetMachine>>
numera::createGPUMachine(const GPUOptions &options, const KernelNeeds &needs) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError(error);
  if (!isKnown(*target, triple, options.gpu))
    return createStringError("unknown gpu '" + options.gpu +
                             "'; expected sm_75, sm_80, sm_86, sm_89, sm_90, "
                             "sm_90a, sm_100 or a later one that LLVM knows");
  TargetOptions rules;
  rules.AllowFPOpFusion = FPOpFusion::Strict;
  CodeGenOptLevel level =
      CodeGenOpt::getLevel(int(std::min(options.optimization, 3u)))
          .value_or(CodeGenOptLevel::Aggressive);
  // LLVM's own choice for other GPUs is as late or later.
  unsigned version = versionOf(options.gpu);
  bool isOld = version == 75 && (needs.factorBits == 16 || needs.isOnBytes);
  StringRef ptx = needs.factorBits == 8 && version < 100 ? "+ptx84"
                  : needs.isOnBytes && version == 89     ? "+ptx81"
                  : isOld                                ? "+ptx65"
                                                         : "";
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, options.gpu, ptx, rules, std::nullopt, std::nullopt, level));
}
