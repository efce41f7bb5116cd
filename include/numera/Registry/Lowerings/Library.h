// SPDX-License-Identifier: MIT

#ifndef NUMERA_REGISTRY_LOWERINGS_LIBRARY_H
#define NUMERA_REGISTRY_LOWERINGS_LIBRARY_H

#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <vector>

namespace numera {

/// A library that the configuration names. Paths are absolute, or relative to
/// the working directory.
struct Library {
  std::string name;
  std::string location; ///< file:line:column of its entry
  /// Sources, bitcode and machine code, which may call each other.
  std::vector<std::string> paths;
  // What sources are compiled with.
  std::vector<std::string> includes; ///< folders of headers
  std::vector<std::string> defines;  ///< `NAME` or `NAME=VALUE`
  std::string standard;              ///< `c11`, `c++17`; empty: the usual
  std::vector<std::string> flags;    ///< more flags of clang
  /// The system's libraries that it needs: `m` is -lm.
  std::vector<std::string> links;
  /// Functions have f32 and f64 as the integers of their bits, as those of
  /// Berkeley SoftFloat do (`struct { uint32_t v; }`).
  bool passesBits = false;
  /// Codes are signed integers in C, `int16_t` as libtakum's: callers extend
  /// narrow ones by their sign.
  bool hasSignedCodes = false;
  /// What its sources and bitcode are as one, where somebody has compiled them
  /// (Target/Libraries/Examine/Libraries.h).
  std::shared_ptr<const std::string> bitcode = nullptr;

  /// The first file, and that there are more: for messages.
  std::string files() const;
};

/// True for a file that is compiled, and for one that is machine code.
bool isLibrarySource(llvm::StringRef path);
bool isMachineCode(llvm::StringRef path);

/// True for `libx.so`, and with a version, `libx.so.1.0.1`.
bool isSharedObject(llvm::StringRef path);

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_LIBRARY_H
