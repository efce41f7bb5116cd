// SPDX-License-Identifier: MIT

#ifndef NUMERA_TARGET_SUPPORT_TEXTFILE_H
#define NUMERA_TARGET_SUPPORT_TEXTFILE_H

#include "llvm/Support/Error.h"

namespace numera {

/// Writes text to a file, completely or not at all, or to a device or pipe. `-`
/// is standard output.
llvm::Error writeTextFile(llvm::StringRef path, llvm::StringRef text);

} // namespace numera

#endif // NUMERA_TARGET_SUPPORT_TEXTFILE_H
