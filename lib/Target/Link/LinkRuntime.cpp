// SPDX-License-Identifier: MIT
//
// Bitcode into the program's module: only what is needed, and internal, so that
// the optimiser treats it as the program's own and nothing of it is exported.

#include "LinkRuntime.h"
#include "Support/Embedded.h"
#include "numera/Registry/Formats/Plugin.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;
using namespace numera;

void numera::stripTarget(Module &library) {
  for (Function &function : library)
    for (const char *attribute :
         {"target-cpu", "target-features", "tune-cpu", "no-builtins",
          "min-legal-vector-width", "prefer-vector-width", "frame-pointer"})
      function.removeFnAttr(attribute);
}

Error numera::linkInternal(Module &module, std::unique_ptr<Module> library) {
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  stripTarget(*library);
  std::string name = library->getName().str();
  auto internalize = [](Module &linked, const StringSet<> &added) {
    internalizeModule(linked, [&](const GlobalValue &value) {
      return !value.hasName() || !added.contains(value.getName());
    });
  };
  if (Linker::linkModules(module, std::move(library), Linker::LinkOnlyNeeded,
                          internalize))
    return createStringError("cannot link '" + name + "'");
  return Error::success();
}

static Error linkEmbedded(Module &module, MemoryBufferRef bitcode) {
  // Lazily: of 400 entries a program needs a few.
  Expected<std::unique_ptr<Module>> library = getLazyBitcodeModule(
      bitcode, module.getContext(), /*ShouldLazyLoadMetadata=*/true);
  if (!library)
    return library.takeError();
  return linkInternal(module, std::move(*library));
}

/// Plugins first: they call what the runtime has.
static Error linkArithmetic(Module &module, MemoryBufferRef runtime,
                            StringRef Plugin::*bitcode) {
  for (const Plugin *plugin : loadedPlugins()) {
    StringRef bytes = plugin->*bitcode;
    if (bytes.empty())
      continue;
    if (Error error = linkEmbedded(module, {bytes, plugin->family->name()}))
      return error;
  }
  return linkEmbedded(module, runtime);
}

Error numera::linkRuntime(Module &module) {
  return linkArithmetic(module, embeddedRuntime(), &Plugin::cpuBitcode);
}

Error numera::linkDeviceRuntime(Module &module) {
  return linkArithmetic(module, embeddedDeviceRuntime(), &Plugin::nvptxBitcode);
}

Error numera::linkHost(Module &module) {
  bool isAArch64 = module.getTargetTriple().isAArch64();
  return linkEmbedded(module,
                      isAArch64 ? embeddedAArch64Entry() : embeddedEntry());
}
