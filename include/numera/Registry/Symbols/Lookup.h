// SPDX-License-Identifier: MIT
//
// Reads of tables: `numera_lookup_<place bits>_<element bits>`(place, table).
// The dialect calls them, lib/Target defines them as the CPU has it.

#ifndef NUMERA_REGISTRY_SYMBOLS_LOOKUP_H
#define NUMERA_REGISTRY_SYMBOLS_LOOKUP_H

#include <algorithm>
#include <cstdint>
#include <string>

namespace numera {

inline constexpr char lookupPrefix[] = "numera_lookup_";

/// How a table is read.
struct Lookup {
  /// Of a place, 8 or 16; 6 or 7 of bytes in a table that is so small, where
  /// bits above do not matter.
  unsigned placeBits = 0;
  unsigned elementBits = 0; ///< 8, 16, 32 or 64

  /// Of a table of `places` elements, at most 2^16.
  static Lookup of(uint64_t places, unsigned elementBits) {
    if (elementBits == 8 && places <= 128)
      return {places <= 64 ? 6u : 7u, elementBits};
    return {places <= 256 ? 8u : 16u, elementBits};
  }
  /// The bits of the integer that a place is.
  unsigned placeWidth() const { return placeBits <= 8 ? 8 : 16; }
  std::string symbol() const {
    return lookupPrefix + std::to_string(placeBits) + "_" +
           std::to_string(elementBits);
  }
  /// The elements that a table of `places` has in memory: as many as 8 bits can
  /// tell apart, for they are loaded at once, and behind the last one 32 bits
  /// that a gather reads with it.
  static uint64_t elementsInMemory(uint64_t places) {
    return std::max<uint64_t>(places, 256) + 4;
  }
};

} // namespace numera

#endif // NUMERA_REGISTRY_SYMBOLS_LOOKUP_H
