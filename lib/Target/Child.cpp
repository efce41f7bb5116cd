// SPDX-License-Identifier: MIT

#include "Child.h"

#include <csignal>
#include <fcntl.h>
#include <initializer_list>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

void numera::prepareChild(pid_t parent, bool isQuiet) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    std::signal(signal, SIG_DFL);
  if (!isQuiet)
    return;
  int null = open("/dev/null", O_RDWR);
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    dup2(null, file);
}
