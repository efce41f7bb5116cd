// SPDX-License-Identifier: MIT
//
// A shared object runs code of its own when it is loaded, and so does a program
// that has a library's constructors from source or bitcode. It may crash, end
// the process or not return: it is run in a child first.

#include "Child.h"
#include "JIT.h"
#include "LibraryExamination.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace numera;

static constexpr int mostSeconds = 10;

/// What the loader said; empty: nothing.
static std::string loadAll(ArrayRef<std::string> paths, int mode) {
  for (const std::string &path : paths)
    if (!dlopen(path.c_str(), mode)) {
      const char *why = dlerror();
      return why ? why : "cannot be loaded";
    }
  return "";
}

/// What comes out of the pipe until it is closed; nothing where that takes too
/// long.
static std::optional<std::string> readAll(int pipe) {
  std::string text;
  for (;;) {
    pollfd waiting{pipe, POLLIN, 0};
    int ready = poll(&waiting, 1, mostSeconds * 1000);
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return std::nullopt;
    char buffer[512];
    ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count <= 0)
      return text;
    text.append(buffer, size_t(count));
  }
}

/// Runs `load` in a child, which says through a pipe what it returned behind a
/// "+", or nothing. What that is, or that it does not return.
static Expected<std::string> tryInChild(const Library &library,
                                        function_ref<std::string()> load) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return "";
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(ends[0]);
    prepareChild(parent, /*isQuiet=*/true);
    std::string said = "+" + load();
    ssize_t written = write(ends[1], said.data(), said.size());
    // Destructors are none of our affair.
    _exit(written < 0);
  }
  close(ends[1]);
  std::optional<std::string> said =
      child < 0 ? std::optional<std::string>("+") : readAll(ends[0]);
  close(ends[0]);
  if (!said)
    kill(child, SIGKILL);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  auto fail = [&](const Twine &what) {
    return createStringError(library.location + ": library '" + library.name +
                             "' " + what + " when it was loaded");
  };
  if (!said)
    return fail("did not return within " + Twine(mostSeconds) + " s");
  if (!said->empty())
    return said->substr(1);
  if (WIFSIGNALED(status))
    return fail(Twine("crashed (") + strsignal(WTERMSIG(status)) + ")");
  return fail("ended the process");
}

static Error tryShared(const Library &library) {
  SmallVector<std::string> paths;
  for (const std::string &path : library.paths)
    if (sys::path::extension(path) == ".so")
      paths.push_back(path.find('/') == std::string::npos ? "./" + path : path);
  if (paths.empty())
    return Error::success();
  // Symbols may be those of the library's other files.
  bool isAlone = library.paths.size() == 1 && library.links.empty();
  int mode = (isAlone ? RTLD_NOW : RTLD_LAZY) | RTLD_GLOBAL;
  Expected<std::string> said =
      tryInChild(library, [&] { return loadAll(paths, mode); });
  if (!said)
    return said.takeError();
  if (said->empty())
    return Error::success();
  return createStringError(library.location + ": library '" + library.name +
                           "' cannot be loaded: " + *said);
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
    program.nativeLibraries = file.native();
    setTarget(*program.module, *program.machine);
    // What does not link is said of the program that needs it.
    auto jit = numera::load(program);
    if (!jit)
      consumeError(jit.takeError());
    return "";
  };
  return tryInChild(file.library(), load).takeError();
}

Error numera::tryToLoad(const LibraryFile &file) {
  if (Error error = tryShared(file.library()))
    return error;
  return tryConstructors(file);
}
