// SPDX-License-Identifier: MIT
//
// Instantiates the kernels of runtime/kernels in a program. For every
// `numera.contraction.<i>` that the pass `numera-contract` declared, a copy of
// the kernel of its kind is linked, and the hooks that the pass made are
// substituted. For a GPU the kernels are those of runtime/kernels/device.

#include "Kernels.h"
#include "Codegen/Tuning.h"
#include "LinkRuntime.h"
#include "Support/Embedded.h"
#include "numera/Registry/Symbols/Tuning.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;
using namespace numera;

KernelKinds numera::kernelsOf(mlir::ModuleOp lowered) {
  KernelKinds kernels;
  for (auto function : lowered.getOps<mlir::LLVM::LLVMFuncOp>())
    if (auto kind = function->getAttrOfType<mlir::StringAttr>("numera.kernel"))
      kernels[function.getName().str()] = kind.str();
  return kernels;
}

/// True for a step that needs no registers but those of its operands: a fused
/// multiply-add, or a multiplication and an addition.
static bool isBrief(const Function *step) {
  auto isOne = [](const Instruction &instruction) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return isa<BinaryOperator, ReturnInst>(instruction) ||
           (call && call->getIntrinsicID() == Intrinsic::fma);
  };
  return step && step->getInstructionCount() <= 3 &&
         all_of(instructions(*step), isOne);
}

/// The tile that the machine's registers hold (Contraction.cpp lists them).
static StringRef tileFor(const TargetMachine &machine, StringRef kind,
                         const Function *step) {
  const MCSubtargetInfo &features = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86())
    return "6x1";
  if (features.checkFeatures("+avx512f")) {
    if (kind.ends_with("_short"))
      return "8x1";
    return isBrief(step) ? "8x3" : "8x2";
  }
  return features.checkFeatures("+avx2") ? "6x1" : "3x1";
}

/// Links `bitcode` as the contraction `name`, with tiles of that shape. Hooks
/// that begin with `preferred` are taken before others.
static Error linkAs(Module &module, StringRef name, MemoryBufferRef bitcode,
                    StringRef tile, StringRef preferred = "") {
  Expected<std::unique_ptr<Module>> kernel =
      parseBitcodeFile(bitcode, module.getContext());
  if (!kernel)
    return kernel.takeError();
  Function *entry = (*kernel)->getFunction(("numera_contract_" + tile).str());
  entry->setName(name);
  for (Function &function : **kernel)
    if (StringRef hook = function.getName();
        hook.consume_front("numera_hook_")) {
      std::string own = (name + "." + preferred + hook).str();
      function.setName(module.getFunction(own) ? own
                                               : (name + "." + hook).str());
    }
  return linkInternal(module, std::move(*kernel));
}

KernelForm numera::kernelFormFor(const Module &module, StringRef name,
                                 StringRef kind, const TargetMachine &machine) {
  std::string halves = std::string(halfHooks) + ".";
  std::string tile =
      tileFor(machine, kind, module.getFunction((name + ".step").str())).str();
  if (computesInF16x2(machine) &&
      module.getFunction((name + "." + halves + "short").str()))
    return {"f32_half", tile, halves};
  return {kind.str(), tile, ""};
}

Error numera::linkKernel(Module &module, StringRef name,
                         const KernelForm &form) {
  return linkAs(module, name, embeddedKernel(form.kind), form.tile,
                form.preferred);
}

Error numera::linkKernels(Module &module, const KernelKinds &kernels,
                          const TargetMachine &machine) {
  for (auto &[name, kind] : kernels) {
    if (!module.getFunction(name))
      continue;
    KernelForm form = kernelFormFor(module, name, kind, machine);
    if (Error error = linkKernel(module, name, form))
      return error;
  }
  return Error::success();
}

/// True for GPUs that copy while their threads go on: sm_80 and later.
static bool copiesAsynchronously(const TargetMachine &machine) {
  return versionOf(machine.getTargetCPU()) >= 80;
}

Error numera::linkDeviceKernels(Module &module, mlir::gpu::GPUModuleOp kernels,
                                const TargetMachine &machine) {
  for (auto function : kernels.getOps<mlir::LLVM::LLVMFuncOp>()) {
    auto kind = function->getAttrOfType<mlir::StringAttr>("numera.kernel");
    if (!kind)
      continue;
    std::string tile =
        function->getAttrOfType<mlir::StringAttr>("numera.tile").str();
    if (kind != "quire" && copiesAsynchronously(machine))
      tile += "_async";
    StringRef name = function.getName();
    if (Error error =
            linkAs(module, name, embeddedDeviceKernel(kind.getValue()), tile))
      return error;
    // So that its loops, of which the caller knows how many there are, are no
    // loops any more.
    module.getFunction(name)->addFnAttr(Attribute::AlwaysInline);
  }
  return Error::success();
}
