// SPDX-License-Identifier: MIT

#include "numera/Target/Support/NullFault.h"

#include <csignal>
#include <cstdint>

// A signal handler can reach nothing that is not global.
static void (*atNull)();
static struct sigaction handledBefore;

static void handleFault(int signal, siginfo_t *info, void *) {
  constexpr uintptr_t nearNull = 1 << 16; // nothing is mapped there
  bool isFault = info->si_code > 0;       // not sent by a process
  if (isFault && reinterpret_cast<uintptr_t>(info->si_addr) < nearNull)
    atNull();
  // The instruction faults once more.
  sigaction(signal, &handledBefore, nullptr);
  if (!isFault)
    raise(signal);
}

void numera::endAtNullFault(void (*end)()) {
  if (atNull)
    return;
  atNull = end;
  struct sigaction action{};
  action.sa_sigaction = handleFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &handledBefore);
}
