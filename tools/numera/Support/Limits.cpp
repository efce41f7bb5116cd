// SPDX-License-Identifier: MIT

#include "Limits.h"

#include "numera/Target/Support/NullFault.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <new>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

using namespace llvm;
using namespace numera;

// A signal handler, and one that has no memory, can reach nothing else.
static char memoryLine[128] = "numera: error: out of memory\n";
static char timeLine[128];

static void say(const char *line) {
  ssize_t written = write(STDERR_FILENO, line, strlen(line));
  (void)written; // there is nobody left to tell
}

[[noreturn]] static void endWith(const char *line) {
  // Threads run out of it together: the first one tells, and ends them all,
  // also where it runs out of it once more.
  static std::atomic<pid_t> ending = 0;
  pid_t nobody = 0, self = gettid();
  if (!ending.compare_exchange_strong(nobody, self)) {
    while (nobody != self)
      pause();
    _exit(1);
  }
  say(line);
  sys::RunInterruptHandlers(); // removes temporary files
  _exit(1);
}

[[noreturn]] static void endWithoutMemory() { endWith(memoryLine); }

void numera::endWithoutThread() {
  rlimit data{}, space{};
  getrlimit(RLIMIT_DATA, &data);
  getrlimit(RLIMIT_AS, &space);
  bool isLimited = std::min(data.rlim_cur, space.rlim_cur) != RLIM_INFINITY;
  endWith(isLimited ? memoryLine
                    : "numera: error: no more threads can be started\n");
}

/// Ends as after an interrupt: tools that run are ended, temporary files
/// removed.
static void endOfTime(int) {
  say(timeLine);
  sys::SetInterruptFunction([] { _exit(1); });
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  if (!sigismember(&blocked, SIGTERM)) {
    raise(SIGTERM);
    return;
  }
  sys::RunInterruptHandlers();
  _exit(1);
}

void numera::addLimitFlags(CommandLine &line, Limits &limits) {
  line.add({"max-memory", "MIB",
            "end with an error where more memory is needed", &limits.memory});
  line.add({"max-time", "SECONDS", "end with an error where it takes longer",
            &limits.time});
}

void numera::reportMemory() {
  std::set_new_handler(endWithoutMemory);
  install_bad_alloc_error_handler(
      [](void *, const char *, bool) { endWithoutMemory(); });
}

int numera::setLimits(const Limits &limits) {
  constexpr uint64_t most = uint64_t(1) << 40;
  if (limits.memory && (*limits.memory < 1 || *limits.memory > most))
    return fail("option '--max-memory' is '" + Twine(*limits.memory) +
                "', expected 1 to " + Twine(most) + " MiB");
  if (limits.time && (*limits.time < 1 || *limits.time > INT32_MAX))
    return fail("option '--max-time' is '" + Twine(*limits.time) +
                "', expected 1 to " + Twine(INT32_MAX) + " seconds");
  if (limits.memory) {
    snprintf(memoryLine, sizeof memoryLine,
             "numera: error: out of memory: --max-memory is %llu MiB\n",
             static_cast<unsigned long long>(*limits.memory));
    // What is written to, not what is mapped: libraries are no part of it.
    rlimit limit{};
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, *limits.memory << 20);
    if (setrlimit(RLIMIT_DATA, &limit) != 0)
      return fail(Twine("cannot limit memory: ") + strerror(errno));
    sys::SetInterruptFunction(nullptr); // LLVM's handlers are installed first
    endAtNullFault(endWithoutMemory);
  }
  if (limits.time) {
    snprintf(timeLine, sizeof timeLine,
             "numera: error: not done after %llu s, which --max-time is\n",
             static_cast<unsigned long long>(*limits.time));
    sys::SetInterruptFunction(nullptr); // installs LLVM's handlers now
    struct sigaction action{};
    action.sa_handler = endOfTime;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, nullptr);
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(*limits.time);
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  return 0;
}
