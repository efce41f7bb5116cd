// SPDX-License-Identifier: MIT
//
// Loads of codes stored without gaps: `numera_load_packed_<width>_<storage
// bits>` (address of the bytes, index). Both are i64, because LLVM's vectoriser
// has no vector form of a call with pointers. Lowered programs call them, and
// lib/Target defines them.

#ifndef NUMERA_REGISTRY_SYMBOLS_PACKEDLOAD_H
#define NUMERA_REGISTRY_SYMBOLS_PACKEDLOAD_H

#include <string>

namespace numera {

inline constexpr char packedLoadPrefix[] = "numera_load_packed_";

inline std::string packedLoadSymbol(unsigned width, unsigned storageBits) {
  return packedLoadPrefix + std::to_string(width) + "_" +
         std::to_string(storageBits);
}

} // namespace numera

#endif // NUMERA_REGISTRY_SYMBOLS_PACKEDLOAD_H
