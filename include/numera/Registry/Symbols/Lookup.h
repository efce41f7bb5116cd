// SPDX-License-Identifier: MIT
//
// Table lookups: `numera_lookup_<place bits>_<element bits>`(place, table).
// Lowered programs call them, and lib/Target defines them for the CPU.

#ifndef NUMERA_REGISTRY_SYMBOLS_LOOKUP_H
#define NUMERA_REGISTRY_SYMBOLS_LOOKUP_H

#include <algorithm>
#include <cstdint>
#include <string>

namespace numera {

inline constexpr char lookupPrefix[] = "numera_lookup_";

/// How a table is read.
struct Lookup {
  /// Bits of a place, 8 or 16; 6 or 7 in a table of bytes that is so small,
  /// where higher bits are ignored.
  unsigned placeBits = 0;
  unsigned elementBits = 0; ///< 8, 16, 32 or 64

  /// The lookup in a table of `places` elements, at most 2^16.
  static Lookup of(uint64_t places, unsigned elementBits) {
    if (elementBits == 8 && places <= 128)
      return {places <= 64 ? 6u : 7u, elementBits};
    return {places <= 256 ? 8u : 16u, elementBits};
  }
  /// The width of the integer that holds a place.
  unsigned placeWidth() const { return placeBits <= 8 ? 8 : 16; }
  std::string symbol() const {
    return lookupPrefix + std::to_string(placeBits) + "_" +
           std::to_string(elementBits);
  }
  /// The elements that a table of `places` has in memory: at least 256, because
  /// they are loaded at once, and 4 more, because a gather reads 32 bits beyond
  /// the last one.
  static uint64_t elementsInMemory(uint64_t places) {
    return std::max<uint64_t>(places, 256) + 4;
  }
};

} // namespace numera

#endif // NUMERA_REGISTRY_SYMBOLS_LOOKUP_H
