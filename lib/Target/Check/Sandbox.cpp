// SPDX-License-Identifier: MIT

#include "Sandbox.h"
#include "Support/Child.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace numera::check {

/// The exit status of a child that came to its end: one that a library's
/// exit() is unlikely to have.
static constexpr int finishedStatus = 113;

pid_t startChild(llvm::function_ref<void()> body, bool isQuiet) {
  pid_t parent = getpid();
  pid_t child = fork();
  if (child != 0)
    return child;
  prepareChild(parent, isQuiet);
  body();
  _exit(finishedStatus);
}

Outcome outcomeOf(int status, int &signal) {
  if (WIFSIGNALED(status)) {
    signal = WTERMSIG(status);
    return Outcome::Crashed;
  }
  return WEXITSTATUS(status) == finishedStatus ? Outcome::Finished
                                               : Outcome::Exited;
}

Outcome runSandboxed(llvm::function_ref<void()> body, Pulse &pulse,
                     double seconds, int &signal) {
  using Clock = std::chrono::steady_clock;
  pulse.isCalling = false;
  pid_t child = startChild(body, /*isQuiet=*/true);
  if (child < 0)
    return Outcome::NotRun;
  uint64_t calls = pulse.calls;
  Clock::time_point since = Clock::now();
  useconds_t nap = 200;
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child)
      return outcomeOf(status, signal);
    if (ended < 0 && errno != EINTR)
      return Outcome::NotRun;
    if (!pulse.isCalling || pulse.calls != calls) {
      calls = pulse.calls;
      since = Clock::now();
    } else if (std::chrono::duration<double>(Clock::now() - since).count() >
               seconds) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return Outcome::TimedOut;
    }
    usleep(nap);
    nap = std::min<useconds_t>(2 * nap, 5000);
  }
}

} // namespace numera::check
