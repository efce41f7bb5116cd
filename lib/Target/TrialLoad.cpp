// SPDX-License-Identifier: MIT
//
// A shared object runs code of its own when it is loaded, which may crash, end
// the process or not return: it is loaded in a child first.

#include "Child.h"
#include "LibraryExamination.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"

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

/// In the child: says through the pipe what the loader said, or nothing.
[[noreturn]] static void loadAll(ArrayRef<std::string> paths, int mode,
                                 pid_t parent, int pipe) {
  prepareChild(parent, /*isQuiet=*/true);
  std::string said = "+";
  for (const std::string &path : paths)
    if (!dlopen(path.c_str(), mode)) {
      const char *why = dlerror();
      said = why ? why : "cannot be loaded";
      break;
    }
  ssize_t written = write(pipe, said.data(), said.size());
  // Destructors are none of our affair.
  _exit(written < 0);
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

Error numera::tryToLoad(const Library &library) {
  SmallVector<std::string> paths;
  for (const std::string &path : library.paths)
    if (sys::path::extension(path) == ".so")
      paths.push_back(path.find('/') == std::string::npos ? "./" + path : path);
  int ends[2];
  if (paths.empty() || pipe2(ends, O_CLOEXEC) != 0)
    return Error::success();
  // Symbols may be those of the library's other files.
  bool isAlone = library.paths.size() == 1 && library.links.empty();
  int mode = (isAlone ? RTLD_NOW : RTLD_LAZY) | RTLD_GLOBAL;
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(ends[0]);
    loadAll(paths, mode, parent, ends[1]);
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
  if (*said == "+")
    return Error::success();
  if (!said->empty())
    return createStringError(library.location + ": library '" + library.name +
                             "' cannot be loaded: " + *said);
  if (WIFSIGNALED(status))
    return fail(Twine("crashed (") + strsignal(WTERMSIG(status)) + ")");
  return fail("ended the process");
}
