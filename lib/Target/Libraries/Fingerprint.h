// SPDX-License-Identifier: MIT
//
// A hash of everything that a proof about a library's functions depends on. It
// is the key of the proof, so one byte of difference invalidates the proof.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_FINGERPRINT_H
#define NUMERA_LIB_TARGET_LIBRARIES_FINGERPRINT_H

#include "Support/Fingerprint.h"
#include "numera/Registry/Registry.h"
#include "llvm/Support/Error.h"

namespace numera {

/// Of functions on these formats: the code of the libraries that have them,
/// what the configuration says of these formats, the runtime's arithmetic and
/// what it is compiled with, and this machine. An error names a file that
/// cannot be read.
llvm::Expected<Fingerprint> fingerprintOf(const Registry &registry,
                                          llvm::ArrayRef<Format> formats);

/// Of the bytes of a file.
llvm::Expected<std::string> fingerprintOfFile(llvm::StringRef path);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_FINGERPRINT_H
