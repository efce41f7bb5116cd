// SPDX-License-Identifier: MIT

#ifndef NUMERA_TOOLS_RUN_EXECUTE_H
#define NUMERA_TOOLS_RUN_EXECUTE_H

#include "DataSet.h"
#include "numera/Target/Program/Program.h"

namespace numera {

/// A function that can be called.
struct Executable {
  std::unique_ptr<Program> program;
  FunctionSignature function;
};

/// The function of that name, or the only one; null with a line in `error`.
const FunctionSignature *
chooseFunction(llvm::ArrayRef<FunctionSignature> functions,
               llvm::StringRef name, std::string &error);

/// Opens a function of a shared object that `numera compile` wrote.
llvm::Error openShared(const std::string &path, llvm::StringRef function,
                       Executable &out);

/// Results of a function and the seconds it took.
struct Measured {
  std::vector<host::Array> outputs; ///< of the last pass
  std::vector<double> seconds;      ///< of each pass, the function alone
};

/// Passes `count` times over the data, with a progress bar on a terminal.
llvm::Error execute(const Executable &executable, DataSet &data,
                    const numera_options &options, uint64_t count,
                    llvm::StringRef label, Measured &out);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_EXECUTE_H
