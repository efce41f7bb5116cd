// SPDX-License-Identifier: MIT
//
// runtime/kernels into the program: for every `numera.contraction.<i>` that the
// pass `numera-contract` declared, the kernel of its kind once more, with
// its hooks by the names that the pass gave them. What a template is to a
// compiler of C++, linking is here.

#include "Compile.h"
#include "Embedded.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Bitcode/BitcodeReader.h"
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

/// The tile that the machine's registers hold (Contraction.cpp lists them).
static StringRef tileFor(const TargetMachine &machine, StringRef kind) {
  const MCSubtargetInfo &features = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86())
    return "6x1";
  if (features.checkFeatures("+avx512f"))
    return kind.ends_with("-short") ? "8x1" : "8x2";
  return features.checkFeatures("+avx2") ? "6x1" : "3x1";
}

static Error linkKernel(Module &module, StringRef name, StringRef kind,
                        StringRef tile) {
  Expected<std::unique_ptr<Module>> kernel =
      parseBitcodeFile(embeddedKernel(kind), module.getContext());
  if (!kernel)
    return kernel.takeError();
  Function *entry = (*kernel)->getFunction(("numera_contract_" + tile).str());
  entry->setName(name);
  for (Function &function : **kernel)
    if (StringRef hook = function.getName(); hook.consume_front("numera_hook_"))
      function.setName(name + "." + hook);
  return linkInternal(module, std::move(*kernel));
}

Error numera::linkKernels(Module &module, const KernelKinds &kernels,
                          const TargetMachine &machine) {
  for (auto &[name, kind] : kernels)
    if (Error error = linkKernel(module, name, kind, tileFor(machine, kind)))
      return error;
  return Error::success();
}
