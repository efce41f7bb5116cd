// SPDX-License-Identifier: MIT
//
// Stores proofs about libraries from one run of a tool to the next: a file for
// each operation, in $XDG_CACHE_HOME/numera/proofs or ~/.cache/numera/proofs,
// whose name is the fingerprint of everything that the proof depends on.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_PROOFCACHE_H
#define NUMERA_LIB_TARGET_LIBRARIES_PROOFCACHE_H

#include "Fingerprint.h"
#include "Support/CacheFolder.h"
#include <optional>

namespace numera {

/// Operands that give something else than the equivalent does.
struct ProofException {
  uint64_t operands; ///< the code, or of two the place among all pairs
  uint64_t result, expected;
};
/// How many there may be in a proof.
inline constexpr uint32_t mostExceptions = 8;

/// What is known of a function.
struct ProofRecord {
  std::string subject; ///< for readers: `add of my as posit<16,1>`
  /// The results are equal, but for `exceptions`, and for `nans` where both are
  /// NaNs.
  bool holds = false;
  uint64_t inputs = 0; ///< that were tried
  std::vector<ProofException> exceptions = {}, nans = {};
  bool hasManyNaNs = false; ///< more than `nans` has
  /// Files that were loaded with the library: others that it needs.
  std::vector<std::string> files = {};
};

class ProofCache {
public:
  /// What cannot be read or written is a line in `warnings`.
  explicit ProofCache(llvm::raw_ostream &warnings);

  /// What was kept of it; nothing where a file that was loaded is another one
  /// by now.
  std::optional<ProofRecord> find(const Fingerprint &about) const;
  void keep(const Fingerprint &about, const ProofRecord &record);

private:
  llvm::raw_ostream &warnings;
  CacheFolder folder;
  bool isUsable = true;
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_PROOFCACHE_H
