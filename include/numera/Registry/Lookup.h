// SPDX-License-Identifier: MIT
//
// Reads of tables: `numera_lookup_<place bits>_<element bits>`(place, table).
// The dialect calls them, lib/Target defines them as the CPU has it.

#ifndef NUMERA_REGISTRY_LOOKUP_H
#define NUMERA_REGISTRY_LOOKUP_H

#include <algorithm>
#include <cstdint>
#include <string>

namespace numera {

inline constexpr char lookupPrefix[] = "numera_lookup_";

/// How a table is read.
struct Lookup {
  unsigned placeBits = 0;   ///< of the integer that a place is: 8 or 16
  unsigned elementBits = 0; ///< 8, 16, 32 or 64

  /// Of a table of `places` elements, at most 2^16.
  static Lookup of(uint64_t places, unsigned elementBits) {
    return {places <= 256 ? 8u : 16u, elementBits};
  }
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

#endif // NUMERA_REGISTRY_LOOKUP_H
