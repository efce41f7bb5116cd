// SPDX-License-Identifier: MIT

#include "Finish.h"
#include "Codegen/Tuning.h"
#include "Libraries/LibraryTables.h"
#include "Link/LinkRuntime.h"
#include "Peephole/AvoidSubnormalAssists.h"
#include "Peephole/Deinterleave.h"
#include "Peephole/LaneInstructions.h"
#include "Peephole/Lookups.h"
#include "Peephole/Optimize.h"
#include "Peephole/PackedLoads.h"
#include "Vectorize/BfloatConversions.h"
#include "Vectorize/HalfConversions.h"
#include "Vectorize/LongCode.h"
#include "Vectorize/Specialize.h"
#include "Vectorize/VectorForms.h"
#include "Vectorize/VectorVariants.h"

using namespace llvm;
using namespace numera;

Error numera::finishModule(Module &module, TargetMachine &machine,
                           const FinishOptions &options) {
  StepScope step(options.times, "link");
  if (Error error = linkRuntime(module))
    return error;
  replaceHalfConversions(module, machine);
  step.next("specialise");
  if (options.tabulated)
    tabulateLibraries(module, machine, *options.tabulated);
  defineAnswers(module, machine);
  defineLookups(module, machine);
  definePackedLoads(module, machine);
  setTarget(module, machine);
  defineBfloatConversions(module, machine);
  specializeRuntimeCalls(module, machine);
  // Parts, which are unrolled, are mostly loops, and short.
  if (!options.optimizer.unrolls)
    keepCallsOfLongCode(module);
  step.next("optimise");
  if (Error error = optimize(module, machine, options.optimizer))
    return error;
  step.next("lanes");
  dropUnusedVariants(module);
  avoidSubnormalAssists(module, machine);
  deinterleaveLanes(module, machine);
  selectLaneInstructions(module, machine);
  return Error::success();
}

Error numera::finishPart(KernelPart &part, TargetMachine &machine,
                         FinishOptions options) {
  {
    StepScope step(options.times, "link");
    if (Error error = linkKernelPart(part))
      return error;
    if (Error error = defineVectorForms(*part.module))
      return error;
  }
  // Sums in quires take longer without what the higher levels do.
  options.optimizer.simplified = part.form.kind != "quire";
  options.optimizer.unrolls = true;
  options.tabulated = nullptr;
  return finishModule(*part.module, machine, options);
}
