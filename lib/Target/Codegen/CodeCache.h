// SPDX-License-Identifier: MIT
//
// The machine code of parts of programs, from one compilation to the next and
// from one process to another. A part is known by its IR before it is optimised
// and by the compiler that does it; nothing else goes into its code.

#ifndef NUMERA_LIB_TARGET_CODEGEN_CODECACHE_H
#define NUMERA_LIB_TARGET_CODEGEN_CODECACHE_H

#include "Support/CacheFolder.h"
#include "Support/Fingerprint.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

class CodeCache {
public:
  /// `place` is a folder, `off`, or empty: what NUMERA_CODE_CACHE says, else
  /// $XDG_CACHE_HOME/numera/code or ~/.cache/numera/code.
  explicit CodeCache(llvm::StringRef place);

  /// That folder; empty where there is none.
  static std::string placeOf(llvm::StringRef place);

  /// False where nothing is kept: it is off, or this compiler has nothing to be
  /// told by.
  bool isOn() const { return isUsed; }
  /// The compiler's own, to which that of a part is added.
  Fingerprint begin() const { return compiler; }

  /// An object, by the digits of what it is made from; null where there is
  /// none, or none that is whole.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef part) const;
  /// If the folder cannot be written, nothing is kept. Once a minute, what was
  /// used least recently is removed until the rest takes at most
  /// NUMERA_CODE_CACHE_SIZE MiB.
  void keep(llvm::StringRef part, llvm::StringRef object) const;
  /// The bytes of NUMERA_CODE_CACHE_SIZE.
  static uint64_t capacity();

  /// While it lives, no other process or thread that asks has the same part, or
  /// another whose first two digits are the same. It is not worth waiting for
  /// long: then both make it.
  class Lock {
  public:
    Lock(const CodeCache &cache, llvm::StringRef part);
    ~Lock();
    Lock(const Lock &) = delete;

  private:
    /// -1: there is no folder to write to, or no more patience.
    int file = -1;
  };

private:
  CacheFolder folder;
  Fingerprint compiler;
  bool isUsed = false;
};

/// Adds a module, and what its code is made for.
void addTo(Fingerprint &part, const llvm::Module &module);
void addTo(Fingerprint &part, const llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_CODEGEN_CODECACHE_H
