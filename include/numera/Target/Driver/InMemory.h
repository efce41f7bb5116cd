// SPDX-License-Identifier: MIT
//
// Programs from MLIR in memory, for tools that write a few functions, call them
// on arrays of codes, and look at the results.

#ifndef NUMERA_TARGET_DRIVER_INMEMORY_H
#define NUMERA_TARGET_DRIVER_INMEMORY_H

#include "numera/Target/Driver/Compiler.h"
#include "numera/Target/Program/Program.h"

namespace numera {

/// Compiles MLIR for this process. `name` stands for the text in messages. The
/// error is one line.
llvm::Expected<std::unique_ptr<Program>>
compileInMemory(Compiler &compiler, const Registry &registry,
                llvm::StringRef text, llvm::StringRef name,
                const CompileOptions &options);

/// The element type of arrays of a format's codes: u1, u2, u4 or u8.
host::DType dtypeOfCodes(const Format &format);

/// An element of an array, as bits.
uint64_t bitsOf(const host::Array &array, size_t place);
void setBits(host::Array &array, size_t place, uint64_t bits);

} // namespace numera

#endif // NUMERA_TARGET_DRIVER_INMEMORY_H
