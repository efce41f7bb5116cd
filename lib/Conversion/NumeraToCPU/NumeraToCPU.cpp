// SPDX-License-Identifier: MIT
//
// Types are lowered on tensors, so that upstream passes on integers apply from
// there on. Operations become calls last, inside scalar loops, so that calls do
// not prevent loop transformations.

#include "numera/Conversion/NumeraToCPU.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/MathToFuncs/MathToFuncs.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h"

using namespace mlir;

namespace numera {

static void addOptimisations(OpPassManager &passes, Target target) {
  passes.addPass(createNumeraDecomposeScaledSignatures());
  passes.addPass(createNumeraExpandScales({nameOf(target).str()}));
  passes.addPass(createNumeraSimplify());
  passes.addPass(createNumeraNarrowQuires());
  if (target == Target::CPU)
    passes.addPass(createNumeraFoldTransposes());
  passes.addPass(createNumeraWidenContractions({nameOf(target).str()}));
  passes.addPass(createNumeraLowerTypes());
  passes.addPass(createNumeraUseProofs({nameOf(target).str()}));
  passes.addPass(createNumeraExpandPacked({nameOf(target).str()}));
  passes.addPass(createConvertElementwiseToLinalgPass());
  passes.addPass(createNumeraFuse({/*trees=*/target == Target::NVPTX}));
  passes.addPass(createNumeraSimplify());
  if (target == Target::CPU) {
    passes.addPass(createNumeraComposeTables());
    passes.addPass(createNumeraStoreCarriers());
  }
  passes.addPass(createNumeraPromoteToCarrier({nameOf(target).str()}));
  if (target == Target::CPU) {
    // Where chains of them begin and end, values are transposed.
    passes.addPass(createNumeraChannelsLast({/*fewestConvolutions=*/3}));
    passes.addPass(createNumeraRoundBlocks());
    passes.addPass(createNumeraWriteInPlace());
  }
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createNumeraShowRows());
  // What these make twice is to stay so.
  passes.addPass(createNumeraSeparateFills());
  passes.addPass(createNumeraDestinations());
  passes.addPass(createCanonicalizerPass());
}

static void addBufferization(OpPassManager &passes) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.allowReturnAllocsFromLoops = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  passes.addPass(bufferization::createOneShotBufferizePass(options));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(memref::createExpandReallocPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(bufferization::createOwnershipBasedBufferDeallocationPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createNumeraSplitDeallocations());
  passes.addPass(bufferization::createBufferDeallocationSimplificationPass());
  passes.addPass(bufferization::createLowerDeallocationsPass());
  passes.addPass(createCSEPass());
  passes.addPass(createCanonicalizerPass());
  // A returned argument is cloned: its copy is memref's.
  passes.addPass(createConvertBufferizationToMemRefPass());
}

static void addLoweringToLLVM(OpPassManager &passes) {
  passes.addPass(createNumeraLowerShapes());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createNumeraConvertVectors({/*to=*/"loops"}));
  passes.addPass(createLowerAffinePass());
  passes.addPass(createConvertMathToFuncs()); // powers of integers
  passes.addPass(createSCFToControlFlowPass());
  // Casts of shape, transfers: what the pass below has no patterns for.
  passes.addPass(createNumeraConvertVectors({/*to=*/"llvm"}));
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createNumeraAnnotateBranches());
}

void buildNumeraToBuffers(OpPassManager &passes, bool checkShapes,
                          Target target) {
  addOptimisations(passes, target);
  if (checkShapes) {
    passes.addPass(createNumeraVerifyShapes());
    passes.addPass(createCanonicalizerPass());
  }
  passes.addPass(createNumeraLowerAsserts());
  addBufferization(passes);
}

void buildNumeraToCPU(OpPassManager &passes, bool checkShapes) {
  buildNumeraToBuffers(passes, checkShapes, Target::CPU);
  // Before the runtime's functions are declared: those are called directly.
  passes.addNestedPass<func::FuncOp>(LLVM::createLLVMRequestCWrappersPass());
  passes.addPass(createNumeraContract());
  passes.addNestedPass<func::FuncOp>(createNumeraFuseRows());
  passes.addNestedPass<func::FuncOp>(createNumeraLoops());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createNumeraTabulate());
  passes.addPass(createCSEPass());
  // Passes above look for the uses of buffers that they merge.
  passes.addNestedPass<func::FuncOp>(createNumeraReleaseBuffers());
  passes.addPass(createNumeraParallelize());
  passes.addPass(createNumeraOutlineLoops());
  passes.addNestedPass<func::FuncOp>(createNumeraDrawBlocks());
  passes.addPass(createNumeraLowerOps());
  addLoweringToLLVM(passes);
}

void registerNumeraToCPU() {
  PassPipelineRegistration<>(
      "numera-to-cpu",
      "Lower a model in a format to the LLVM dialect for the CPU",
      [](OpPassManager &passes) { buildNumeraToCPU(passes); });
}

} // namespace numera
