// SPDX-License-Identifier: MIT
//
// The commands of `numera`. Each takes the words behind its name and returns
// the exit status; errors are printed.

#ifndef NUMERA_TOOLS_COMMANDS_COMMANDS_H
#define NUMERA_TOOLS_COMMANDS_COMMANDS_H

#include "llvm/ADT/ArrayRef.h"

namespace numera {

int compileCommand(llvm::ArrayRef<const char *> arguments);
int runCommand(llvm::ArrayRef<const char *> arguments);
int formatsCommand(llvm::ArrayRef<const char *> arguments);
int evalCommand(llvm::ArrayRef<const char *> arguments);
int checkCommand(llvm::ArrayRef<const char *> arguments);
int calibrateCommand(llvm::ArrayRef<const char *> arguments);
int newCommand(llvm::ArrayRef<const char *> arguments);

} // namespace numera

#endif // NUMERA_TOOLS_COMMANDS_COMMANDS_H
