// SPDX-License-Identifier: MIT

#include "Interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <unistd.h>

using namespace numera;

// A signal handler can reach nothing that is not global.
static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
static constexpr size_t mostTools = 256;
static constinit std::atomic<pid_t> tools[mostTools];
static constinit std::atomic<int> interrupted = 0;
static constinit std::mutex users;
static constinit unsigned userCount = 0;
static struct sigaction before[std::size(signals)];

static void interruptTools(int signal) {
  int reason = errno;
  interrupted = signal;
  for (const std::atomic<pid_t> &tool : tools)
    if (pid_t group = tool)
      kill(-group, SIGTERM);
  errno = reason;
}

InterruptScope::InterruptScope() {
  std::lock_guard lock(users);
  if (userCount++ != 0)
    return;
  struct sigaction action{};
  action.sa_handler = interruptTools;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(signals); ++i) {
    sigaction(signals[i], nullptr, &before[i]);
    // nohup, and a shell's jobs in the background, ignore some of them.
    if (before[i].sa_handler != SIG_IGN)
      sigaction(signals[i], &action, nullptr);
  }
}

void InterruptScope::watch(pid_t group) {
  for (size_t i = 0; i < mostTools && place == none; ++i) {
    pid_t empty = 0;
    if (tools[i].compare_exchange_strong(empty, group))
      place = i;
  }
  // The signal may have come before there was a process to end.
  if (interrupted)
    kill(-group, SIGTERM);
}

InterruptScope::~InterruptScope() {
  if (place != none) {
    pid_t group = tools[place];
    // Those that the tool has started may still be there; they end at once.
    for (int wait = 0; interrupted && wait < 2000; ++wait) {
      if (kill(-group, 0) != 0)
        break;
      usleep(1000);
    }
    tools[place] = 0;
  }
  std::lock_guard lock(users);
  if (--userCount != 0)
    return;
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i], &before[i], nullptr);
  if (int signal = interrupted.exchange(0))
    raise(signal);
}
