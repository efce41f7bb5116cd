// SPDX-License-Identifier: MIT
//
// How a program implements the operations of opaque formats, for reports.

#ifndef NUMERA_REGISTRY_LOWERINGS_LIBRARYUSE_H
#define NUMERA_REGISTRY_LOWERINGS_LIBRARYUSE_H

#include <string>

namespace numera {

struct LibraryUse {
  std::string operation; ///< `add`, `cmp olt`, `cast to f32`
  std::string format;    ///< the name of the opaque one
  /// The format whose operation may be proven equal (Target/Check/Proofs.h);
  /// empty: none is named, or it has too many codes.
  std::string equivalent;
  bool isProven = false;   ///< it replaces the library's functions
  unsigned exceptions = 0; ///< codes that the proof excepts

  auto operator<=>(const LibraryUse &) const = default;
};

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_LIBRARYUSE_H
