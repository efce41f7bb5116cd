// SPDX-License-Identifier: MIT
//
// A shared object runs its own code when it is loaded, and so does a program
// with a library's constructors from source or bitcode. This code may crash,
// end the process or not return, so it is first run in a child process.

#include "Codegen/JIT.h"
#include "Codegen/Machines.h"
#include "LibraryExamination.h"
#include "Peephole/Optimize.h"
#include "Support/Child.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <dlfcn.h>

using namespace llvm;
using namespace numera;

/// What the loader said; empty: nothing.
static std::string loadAll(ArrayRef<std::string> paths, int mode) {
  for (const std::string &path : paths)
    if (!dlopen(path.c_str(), mode)) {
      const char *why = dlerror();
      return why ? why : "cannot be loaded";
    }
  return "";
}

static Error notLoaded(const Library &library, Error how) {
  return createStringError(library.location + ": library '" + library.name +
                           "' " + toString(std::move(how)) +
                           " when it was loaded");
}

static Error tryShared(const Library &library) {
  SmallVector<std::string> paths;
  for (const std::string &path : library.paths)
    if (isSharedObject(path))
      paths.push_back(path.find('/') == std::string::npos ? "./" + path : path);
  if (paths.empty())
    return Error::success();
  // Symbols may be those of the library's other files.
  bool isAlone = library.paths.size() == 1 && library.links.empty();
  int mode = (isAlone ? RTLD_NOW : RTLD_LAZY) | RTLD_GLOBAL;
  Expected<std::string> said = tryInChild([&] { return loadAll(paths, mode); });
  if (!said)
    return notLoaded(library, said.takeError());
  if (said->empty())
    return Error::success();
  return createStringError(library.location + ": library '" + library.name +
                           "' cannot be loaded: " + *said);
}

/// Leaves what constructors call: they have so many seconds to return, which
/// compiling all of a large library would use up.
static void keepConstructors(Module &module) {
  internalizeModule(module, [](const GlobalValue &) { return false; });
  ModuleAnalysisManager analyses;
  FunctionAnalysisManager functions;
  PassBuilder builder;
  builder.registerModuleAnalyses(analyses);
  builder.registerFunctionAnalyses(functions);
  analyses.registerPass(
      [&] { return FunctionAnalysisManagerModuleProxy(functions); });
  functions.registerPass(
      [&] { return ModuleAnalysisManagerFunctionProxy(analyses); });
  GlobalDCEPass().run(module, analyses);
}

/// Constructors of sources and bitcode, without the programs that get them.
static Error tryConstructors(const LibraryFile &file) {
  if (!file.module || !file.module->getGlobalVariable("llvm.global_ctors"))
    return Error::success();
  Expected<Machines> machines = createMachines(CPUOptions());
  if (!machines)
    return machines.takeError();
  auto load = [&]() -> std::string {
    Compiled program;
    program.module = CloneModule(*file.module);
    program.machine = std::move(machines->baseline);
    program.machine->setOptLevel(CodeGenOptLevel::None);
    program.nativeLibraries = file.native();
    setTarget(*program.module, *program.machine);
    keepConstructors(*program.module);
    // What does not link is said of the program that needs it.
    auto jit = numera::load(program);
    if (!jit)
      consumeError(jit.takeError());
    return "";
  };
  Expected<std::string> said = tryInChild(load);
  return said ? Error::success() : notLoaded(file.library(), said.takeError());
}

Error numera::tryToLoad(const LibraryFile &file) {
  if (Error error = tryShared(file.library()))
    return error;
  return tryConstructors(file);
}
