// SPDX-License-Identifier: MIT
//
// `identities: {zero: my_zero}`: a library's functions that return the codes of
// identities are run once, in a child process, before the first program. A
// constant in source or bitcode is read instead.

#include "Codegen/Machines.h"
#include "Libraries/LibraryRun.h"
#include "Libraries/LibrarySignature.h"
#include "Libraries/LinkLibraries.h"
#include "Libraries/OpenLibraries.h"
#include "LibraryExamination.h"
#include "Peephole/Optimize.h"

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

/// Without the bits above the format's width.
static void keep(Registry &registry, const Lowering &identity, APInt code) {
  const Format &format = identity.result;
  code &= APInt::getLowBitsSet(format.storageBits(), format.width());
  registry.keepIdentity(format, identity.operation, code);
}

/// Keeps those that are constants; the others are functions.
static Expected<std::vector<const Lowering *>>
readConstants(Registry &registry, ArrayRef<const Lowering *> identities) {
  LLVMContext context;
  OpenLibraries libraries(registry, context);
  std::vector<const Lowering *> functions;
  for (const Lowering *identity : identities) {
    Expected<LibraryFile &> file = libraries.find(*identity);
    if (!file)
      return file.takeError();
    if (const ConstantInt *constant = file->constant(identity->symbol))
      keep(registry, *identity, constant->getValue());
    else
      functions.push_back(identity);
  }
  return functions;
}

Error numera::findIdentities(Registry &registry,
                             ArrayRef<const Lowering *> identities) {
  Expected<std::vector<const Lowering *>> functions =
      readConstants(registry, identities);
  if (!functions)
    return functions.takeError();
  if (functions->empty())
    return Error::success();
  Expected<std::vector<std::string>> codes = run(registry, *functions);
  if (!codes)
    return codes.takeError();
  for (auto [identity, bytes] : zip_equal(*functions, *codes)) {
    if (bytes.empty())
      return createStringError(
          identity->location + ": '" + identity->symbol +
          "' crashes, does not return or gives two results, expected the code "
          "of " +
          nameOf(identity->operation));
    APInt code(identity->result.storageBits(), 0);
    for (unsigned char byte : reverse(bytes)) {
      code <<= 8;
      code |= byte;
    }
    keep(registry, *identity, code);
  }
  return Error::success();
}
