// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_JIT_H
#define NUMERA_LIB_TARGET_JIT_H

#include "Compile.h"

namespace llvm::orc {
class LLJIT;
}

namespace numera {

/// Loads a program into this process. The code is the object that would be
/// written to a file.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> load(Compiled &program);

} // namespace numera

#endif // NUMERA_LIB_TARGET_JIT_H
