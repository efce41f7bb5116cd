// SPDX-License-Identifier: MIT
//
// Registered functions, run while a program is compiled.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_LIBRARYRUN_H
#define NUMERA_LIB_TARGET_LIBRARIES_LIBRARYRUN_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// A function to run on all codes of its operands: the last operand's vary
/// first.
struct LibraryRun {
  llvm::Function *function;
  llvm::SmallVector<unsigned, 2> operandBits;

  unsigned places() const { return 1u << llvm::sum_of(operandBits); }
  unsigned resultBytes() const {
    return function->getReturnType()->getScalarSizeInBits() / 8;
  }
  size_t bytes() const { return size_t{places()} * resultBytes(); }
};

/// Runs `body` in a child process whose output is dropped, and waits for it.
/// Memory that both see says how far it came: it may crash, and is ended after
/// so many seconds.
void runInQuietChild(llvm::function_ref<void()> body, unsigned mostSeconds);

/// The results of each, as they lie in memory; empty for a function that
/// crashes, takes more than ten seconds or gives two results for one input, and
/// for all where this machine cannot run what `machine` is for.
std::vector<std::string>
runLibraries(const llvm::Module &module, llvm::TargetMachine &machine,
             const std::vector<std::string> &nativeLibraries,
             llvm::ArrayRef<LibraryRun> runs);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_LIBRARYRUN_H
