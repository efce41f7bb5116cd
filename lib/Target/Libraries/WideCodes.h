// SPDX-License-Identifier: MIT
//
// How C compilers pass codes of more than 64 bits, and adapters between that
// and a program, which passes integers of the code's storage.
//
// A code of 128 bits is a struct of two doubles (two registers, `double,
// double`), a struct of two integers, `__int128`, `__float128` or `long
// double`; a larger one is a struct in memory (`ptr byval`, `ptr sret`). Any of
// them may be passed by pointers: `void f(T *, const T *, const T *)`. The
// types of a function in bitcode say which it is.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_WIDECODES_H
#define NUMERA_LIB_TARGET_LIBRARIES_WIDECODES_H

#include "LibrarySignature.h"

namespace numera {

/// True if the function takes or returns a wide code.
bool hasWideCodes(const CSignature &signature);

/// True if `function` computes what is expected, with wide codes in any of the
/// ways above, and others in a register or a struct in memory (`ptr byval`,
/// `ptr sret`), such as `struct { float high, low; }` for one of 64 bits. A
/// plain pointer does not say how much lies there.
bool isServedInPieces(const CSignature &signature,
                      const llvm::Function &function);

/// The type of a function in machine code with wide codes in the library's way;
/// null if that is not for codes of this size.
llvm::FunctionType *wideType(const CSignature &signature, WideCodes codes,
                             llvm::LLVMContext &context);

/// How the narrow parameters of such a function are extended.
llvm::AttributeList wideExtensions(const CSignature &signature, WideCodes codes,
                                   llvm::LLVMContext &context);

/// Defines `adapter`, on integers, as a call of `callee`, which it is served
/// by.
void defineAdapterOfPieces(llvm::Function &adapter, llvm::Function &callee,
                           const CSignature &signature);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_WIDECODES_H
