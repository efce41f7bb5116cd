// SPDX-License-Identifier: MIT
//
// `numera`: compiles and runs models in number formats (docs/CommandLine.md).

#include "Commands/Commands.h"
#include "Support/CommandLine.h"

#include "numera/Registry/Formats/Words.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

using namespace llvm;
using namespace numera;

static constexpr StringLiteral help =
    "usage: numera COMMAND …\n\n"
    "  compile    write a model as MLIR, LLVM IR, assembly, an object, a\n"
    "             shared object or an executable, in the number format of "
    "choice\n"
    "  run        run a model on NumPy arrays, and say what the format costs\n"
    "  formats    list the number formats, describe one, or draw several\n"
    "  eval       a calculator in any format\n"
    "  check      certify formats and libraries against the exact reference\n"
    "  calibrate  run sample data, and write a policy with scales that fit\n"
    "  new        write a folder with a number format of your own\n\n"
    "numera COMMAND --help lists the options of a command, numera --version\n"
    "prints the version.\n";

static const StringRef commands[] = {"compile", "run",       "formats", "eval",
                                     "check",   "calibrate", "new"};

static int dispatch(ArrayRef<const char *> arguments) {
  if (arguments.empty())
    return fail("no command, expected " + listed(commands) +
                "; see numera --help");
  StringRef command = arguments.consume_front();
  if (command == "compile")
    return compileCommand(arguments);
  if (command == "run")
    return runCommand(arguments);
  if (command == "formats")
    return formatsCommand(arguments);
  if (command == "eval")
    return evalCommand(arguments);
  if (command == "check")
    return checkCommand(arguments);
  if (command == "calibrate")
    return calibrateCommand(arguments);
  if (command == "new")
    return newCommand(arguments);
  if (command == "--version") {
    outs() << "numera " << NUMERA_VERSION << '\n';
    return 0;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    outs() << help;
    return 0;
  }
  return fail("unknown command '" + command + "', expected " +
              listed(commands) + "; see numera --help");
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

int main(int argc, char **argv) {
  blockSignals();
  int status = dispatch(ArrayRef<const char *>(argv, argc).drop_front());
  // A full disk behind a redirection is an error of ours, not of LLVM's.
  outs().flush();
  if (outs().has_error()) {
    std::string reason = outs().error().message();
    outs().clear_error();
    return fail("cannot write to standard output: " + reason);
  }
  return status;
}
