// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_LINK_CONSTANTSOBJECT_H
#define NUMERA_LIB_TARGET_LINK_CONSTANTSOBJECT_H

#include "LargeConstants.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

namespace numera {

/// Writes an object of ELF for a linker that defines the constants as hidden
/// symbols, each in a section of its own. The bytes go to the stream from where
/// they are: LLVM's writers would have three copies of them in memory, and the
/// weights of a model are most of what compiling it needs.
///
/// The format is that of the System V ABI, the section for constants that lie
/// beyond the reach of an instruction that of its supplement for x86-64.
void writeObject(llvm::raw_ostream &stream, const llvm::Triple &triple,
                 llvm::ArrayRef<CodeConstant> constants);

/// Writes an object of ELF that LLVM made for this machine's byte order, and
/// with it the constants that it reads: their symbols, undefined in it, become
/// hidden ones of sections behind its own. An object of as many sections as
/// ELF has no numbers for is an error.
llvm::Error writeObject(llvm::raw_ostream &stream, const llvm::Triple &triple,
                        llvm::MemoryBufferRef code,
                        llvm::ArrayRef<CodeConstant> constants);

/// Writes the same as text of assembly, which goes behind that of code.
void writeAssembly(llvm::raw_ostream &stream, const llvm::Triple &triple,
                   llvm::ArrayRef<CodeConstant> constants);

/// Writes a module that declares the constants as text of LLVM that defines
/// them, as arrays of bytes: LLVM's writer would keep an object in memory for
/// each number that occurs.
void writeLLVM(llvm::raw_ostream &stream, const llvm::Module &module,
               llvm::ArrayRef<CodeConstant> constants);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LINK_CONSTANTSOBJECT_H
