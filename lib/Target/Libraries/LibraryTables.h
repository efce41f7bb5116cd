// SPDX-License-Identifier: MIT
//
// Tables of the functions that a configuration registers, for formats of few
// bits.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_LIBRARYTABLES_H
#define NUMERA_LIB_TARGET_LIBRARIES_LIBRARYTABLES_H

#include "numera/Registry/Registry.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Notes on a registered function how many bits of each operand it looks at, if
/// a table of it may be made: every operand and the result are codes of 8 bits
/// or less. `lowerings` are those that call it.
void noteOperandBits(llvm::Function &function,
                     llvm::ArrayRef<const Lowering *> lowerings);

/// Runs the functions that are slow to call on all codes, and lets the program
/// read their results from tables. That is done in a child process: a function
/// that does not come back from there, or that gives two results for one input,
/// stays what it is; so do all where this machine is not the program's.
void tabulateLibraries(llvm::Module &module, llvm::TargetMachine &machine,
                       const std::vector<std::string> &nativeLibraries);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_LIBRARYTABLES_H
