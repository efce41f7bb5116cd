// SPDX-License-Identifier: MIT
//
// The pipeline equals the CPU's down to linalg on memrefs. Each linalg
// operation then becomes a kernel, which the functions around it launch.

#include "numera/Conversion/NumeraToNVPTX.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "numera/Conversion/NumeraToCPU.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {

static void addLoweringToLLVM(OpPassManager &passes) {
  passes.addPass(createNumeraLowerShapes());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createNumeraConvertVectors({/*to=*/"loops"}));
  passes.addPass(createLowerAffinePass());
  passes.addPass(createSCFToControlFlowPass());
  OpPassManager &kernels = passes.nest<gpu::GPUModuleOp>();
  kernels.addPass(createConvertGpuOpsToNVVMOps());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  passes.addNestedPass<func::FuncOp>(
      createNumeraConvertVectors({/*to=*/"llvm"}));
  passes.addPass(createNumeraOffload());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
}

void buildNumeraToNVPTX(OpPassManager &passes, bool checkShapes, StringRef gpu,
                        unsigned processors) {
  buildNumeraToBuffers(passes, checkShapes, Target::NVPTX);
  // Before the runtime's functions are declared: those are called directly.
  passes.addNestedPass<func::FuncOp>(LLVM::createLLVMRequestCWrappersPass());
  passes.addPass(createNumeraTileContractions({gpu.str(), processors}));
  passes.addPass(createNumeraKernels());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createNumeraLowerKernels());
  // What is left computes on scalars, on the host.
  passes.addPass(createNumeraLowerOps());
  addLoweringToLLVM(passes);
}

void registerNumeraToNVPTX() {
  PassPipelineRegistration<>(
      "numera-to-nvptx",
      "Lower a model in a format to the LLVM dialect for an NVIDIA GPU",
      [](OpPassManager &passes) { buildNumeraToNVPTX(passes); });
}

} // namespace numera
