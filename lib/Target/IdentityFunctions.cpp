// SPDX-License-Identifier: MIT
//
// `identities: {zero: my_zero}`: a library's functions that give the codes of
// identities are run once, in a child process, before the first program.

#include "Compile.h"
#include "LibraryExamination.h"
#include "LibraryRun.h"
#include "LibrarySignature.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace numera;

/// A function that calls the library's: linking gives that another name.
static Function *addCaller(Module &module, const Registry &registry,
                           const Lowering &identity, const Twine &name) {
  FunctionType *type = CSignature::of(identity).type(module.getContext());
  auto *caller =
      Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  FunctionCallee callee =
      module.getOrInsertFunction(registry.symbolOf(identity), type);
  IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", caller));
  builder.CreateRet(builder.CreateCall(callee));
  return caller;
}

/// Runs the functions; of one that gives no code, the result is empty.
static Expected<std::vector<std::string>>
run(const Registry &registry, ArrayRef<const Lowering *> identities) {
  Expected<Machines> machines = createMachines(CPUOptions());
  if (!machines)
    return machines.takeError();
  TargetMachine &machine = *machines->baseline;
  LLVMContext context;
  Module module("identities", context);
  setTarget(module, machine);
  NamedLibraries libraries;
  std::vector<LibraryRun> runs;
  for (auto [i, identity] : enumerate(identities)) {
    runs.push_back(
        {addCaller(module, registry, *identity, "identity_" + Twine(i)), {}});
    if (!identity->library.empty())
      libraries[registry.symbolOf(*identity)] = identity->library;
  }
  Expected<std::vector<std::string>> native =
      linkLibraries(module, registry, libraries, machine);
  if (!native)
    return native.takeError();
  return runLibraries(module, machine, *native, runs);
}

Error numera::findIdentities(Registry &registry,
                             ArrayRef<const Lowering *> identities) {
  Expected<std::vector<std::string>> codes = run(registry, identities);
  if (!codes)
    return codes.takeError();
  for (auto [identity, bytes] : zip_equal(identities, *codes)) {
    if (bytes.empty())
      return createStringError(
          identity->location + ": '" + identity->symbol +
          "' crashes, does not return or gives two results, expected the code "
          "of " +
          nameOf(identity->operation));
    uint64_t code = 0;
    for (unsigned char byte : reverse(bytes))
      code = code << 8 | byte;
    unsigned unused = 64 - identity->result.width();
    registry.keepIdentity(identity->result, identity->operation,
                          code << unused >> unused);
  }
  return Error::success();
}
