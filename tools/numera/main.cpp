// SPDX-License-Identifier: MIT
//
// `numera`: compiles and runs models in number formats (docs/CommandLine.md).

#include "Commands/Commands.h"
#include "Support/CommandLine.h"
#include "Support/Limits.h"
#include "Support/Reproducer.h"

#include "numera/Registry/Formats/Words.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace numera;

static void printSummaries(ArrayRef<Command> commands) {
  for (const Command &command : commands) {
    auto [first, second] = command.summary.split('\n');
    outs() << "  " << left_justify(command.name, 11) << first << '\n';
    if (!second.empty())
      outs() << left_justify("", 13) << second << '\n';
  }
}

static void printHelp() {
  outs() << "usage: numera COMMAND …\n\n";
  printSummaries(commands());
  outs() << "\nWith the Python package (NUMERA_PYTHON, else python3):\n\n";
  printSummaries(pythonCommands());
  outs() << "\nnumera COMMAND --help lists the options of a command, numera "
            "--version\nprints the version, and numera completion SHELL "
            "completions for bash, zsh\nor fish.\n";
}

static int dispatch(ArrayRef<const char *> arguments) {
  std::vector<StringRef> names;
  for (ArrayRef<Command> some : {commands(), pythonCommands()})
    for (const Command &command : some)
      names.push_back(command.name);
  names.push_back("completion");
  if (arguments.empty())
    return fail("no command, expected " + listed(names) +
                "; see numera --help");
  StringRef name = arguments.consume_front();
  for (const Command &command : commands())
    if (name == command.name)
      return command.run(arguments);
  for (const Command &command : pythonCommands())
    if (name == command.name)
      return runInPython(name, arguments);
  if (name == "completion")
    return completionCommand(arguments);
  if (name == "man") // for the build, which installs it
    return manCommand(NUMERA_VERSION);
  if (name == "--version") {
    printVersion(NUMERA_VERSION);
    return 0;
  }
  if (name == "help" && !arguments.empty() && arguments.front() != name)
    return dispatch({arguments.front(), "--help"});
  if (name == "--help" || name == "-h" || name == "help") {
    printHelp();
    return 0;
  }
  return fail("unknown command '" + name + "', expected " + listed(names) +
              "; see numera --help");
}

static void blockSignals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  // A file over the limit is an error of the write; in tools that are run from
  // here as well.
  sigaddset(&blocked, SIGXFSZ);
  // What is ignored (nohup, a job in the background) stays so: LLVM's handlers,
  // which remove temporary files, would take it back.
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) == 0 &&
        action.sa_handler == SIG_IGN)
      sigaddset(&blocked, signal);
  }
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
}

/// The process that `main` has not left yet; its children end as they like.
static pid_t unfinished;

/// A library that calls exit(0) would look as if all were done.
static void watchForExit() {
  unfinished = getpid();
  on_exit(
      [](int status, void *) {
        if (unfinished != getpid() || status != 0)
          return;
        fail("a library ended the process (exit(0))");
        _exit(1);
      },
      nullptr);
}

int main(int argc, char **argv) {
  watchForExit();
  blockSignals();
  reportMemory();
  watchForFailures(ArrayRef<const char *>(argv, argc));
  int status = dispatch(ArrayRef<const char *>(argv, argc).drop_front());
  // A full disk behind a redirection is an error of ours, not of LLVM's.
  outs().flush();
  if (outs().has_error()) {
    std::string reason = outs().error().message();
    outs().clear_error();
    unfinished = 0;
    return fail("cannot write to standard output: " + reason);
  }
  unfinished = 0;
  return status;
}
