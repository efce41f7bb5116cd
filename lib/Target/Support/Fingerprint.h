// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_SUPPORT_FINGERPRINT_H
#define NUMERA_LIB_TARGET_SUPPORT_FINGERPRINT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"
#include <cstdint>
#include <string>

namespace numera {

/// BLAKE3 of a sequence of texts: what follows from them can be kept under it,
/// and one byte of difference is another one.
class Fingerprint {
public:
  /// Two texts are not the one that they make together.
  Fingerprint &add(llvm::StringRef text);
  Fingerprint &add(uint64_t number);
  std::string digits() const; ///< 64 of base 16

private:
  llvm::BLAKE3 hasher;
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_SUPPORT_FINGERPRINT_H
