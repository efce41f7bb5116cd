// SPDX-License-Identifier: MIT

#ifndef NUMERA_REGISTRY_LOWERINGS_LIBRARY_H
#define NUMERA_REGISTRY_LOWERINGS_LIBRARY_H

#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <vector>

namespace numera {

/// How functions take and return codes of more than 64 bits: pointers to them,
/// the result's first; structs of two doubles; structs of two integers of 64
/// bits, or integers of 128; `__float128`. Sources and bitcode say it
/// themselves.
enum class WideCodes { Unknown, Pointers, Doubles, Integers, Float128 };

/// A library that the configuration names. Paths are absolute, or relative to
/// the working directory.
struct Library {
  std::string name;
  std::string location; ///< file:line:column of its entry
  /// Sources, bitcode and machine code, which may call each other.
  std::vector<std::string> paths;
  // Options for compiling sources.
  std::vector<std::string> includes; ///< folders of headers
  std::vector<std::string> defines;  ///< `NAME` or `NAME=VALUE`
  std::string standard;              ///< `c11`, `c++17`; empty: the usual
  std::vector<std::string> flags;    ///< more flags of clang
  /// System libraries that it needs: `m` is -lm.
  std::vector<std::string> links;
  /// Functions pass f32 and f64 as integers of their bits, as Berkeley
  /// SoftFloat does (`struct { uint32_t v; }`).
  bool passesBits = false;
  /// Codes are signed integers in C, such as `int16_t` in libtakum: callers
  /// sign-extend narrow ones.
  bool hasSignedCodes = false;
  /// How its machine code has codes of more than 64 bits.
  WideCodes wideCodes = WideCodes::Unknown;
  /// Its sources and bitcode, linked into one module, if they have been
  /// compiled (Target/Libraries/Examine/Libraries.h).
  std::shared_ptr<const std::string> bitcode = nullptr;

  /// For messages: the first file, and a hint if there are more.
  std::string files() const;
};

/// True for a source file, and for a file of machine code.
bool isLibrarySource(llvm::StringRef path);
bool isMachineCode(llvm::StringRef path);

/// True for `libx.so`, also with a version: `libx.so.1.0.1`.
bool isSharedObject(llvm::StringRef path);

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_LIBRARY_H
