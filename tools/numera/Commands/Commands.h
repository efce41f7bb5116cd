// SPDX-License-Identifier: MIT
//
// The commands of `numera`. Each takes the words behind its name and returns
// the exit status; errors are printed.

#ifndef NUMERA_TOOLS_COMMANDS_COMMANDS_H
#define NUMERA_TOOLS_COMMANDS_COMMANDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace numera {

struct Command {
  llvm::StringRef name;
  llvm::StringRef summary; ///< of one or two lines
  int (*run)(llvm::ArrayRef<const char *> arguments);
};

/// Every command of this tool, in the order of `--help`.
llvm::ArrayRef<Command> commands();
/// Those of the Python package, without a function.
llvm::ArrayRef<Command> pythonCommands();
/// Becomes Python, which runs one of these. Returns only where there is none.
int runInPython(llvm::StringRef name, llvm::ArrayRef<const char *> arguments);

int compileCommand(llvm::ArrayRef<const char *> arguments);
int runCommand(llvm::ArrayRef<const char *> arguments);
int formatsCommand(llvm::ArrayRef<const char *> arguments);
int evalCommand(llvm::ArrayRef<const char *> arguments);
int checkCommand(llvm::ArrayRef<const char *> arguments);
int vectorsCommand(llvm::ArrayRef<const char *> arguments);
int calibrateCommand(llvm::ArrayRef<const char *> arguments);
int newCommand(llvm::ArrayRef<const char *> arguments);
int doctorCommand(llvm::ArrayRef<const char *> arguments);
int schemaCommand(llvm::ArrayRef<const char *> arguments);

/// Prints what a shell completes words with.
int completionCommand(llvm::ArrayRef<const char *> arguments);
/// Prints the man page.
int manCommand(llvm::StringRef version);
/// Prints the versions of Numera and LLVM, the CPU and the targets.
void printVersion(llvm::StringRef version);

} // namespace numera

#endif // NUMERA_TOOLS_COMMANDS_COMMANDS_H
