// SPDX-License-Identifier: MIT

#include "Child.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

static constexpr int mostSeconds = 10;

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

Expected<std::string> numera::tryInChild(function_ref<std::string()> body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return "";
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(ends[0]);
    prepareChild(parent, /*isQuiet=*/true);
    std::string said = "+" + body();
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
  if (!said)
    return createStringError("did not return within " + Twine(mostSeconds) +
                             " s");
  if (!said->empty())
    return said->substr(1);
  if (WIFSIGNALED(status))
    return createStringError(Twine("crashed (") + strsignal(WTERMSIG(status)) +
                             ")");
  return createStringError("ended the process");
}
