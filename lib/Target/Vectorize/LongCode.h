// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_VECTORIZE_LONGCODE_H
#define NUMERA_LIB_TARGET_VECTORIZE_LONGCODE_H

namespace llvm {
class Module;
}

namespace numera {

/// Lets calls stay calls outside the loops of functions in which they would
/// become too much code: LLVM takes time that grows as the square of a block.
/// Loops keep what is inlined, which they are vectorised by.
void keepCallsOfLongCode(llvm::Module &module);

} // namespace numera

#endif // NUMERA_LIB_TARGET_VECTORIZE_LONGCODE_H
