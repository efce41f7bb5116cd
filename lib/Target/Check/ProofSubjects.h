// SPDX-License-Identifier: MIT
//
// The subjects of proofs about an opaque format: operations of programs, all of
// whose operands can be tried.

#ifndef NUMERA_LIB_TARGET_CHECK_PROOFSUBJECTS_H
#define NUMERA_LIB_TARGET_CHECK_PROOFSUBJECTS_H

#include "Cases.h"

namespace numera::check {

/// An operation with an opaque format, and the same with what that is
/// equivalent to.
struct ProofSubject {
  Checked own, meant;
  unsigned bits; ///< of all operands

  uint64_t inputs() const { return uint64_t{1} << bits; }
  /// The operation as programs look it up.
  Lowering key() const { return keyOf(own); }
};

/// The operations of a format with at most `mostBits` bits of operands; the
/// others that are registered go to `untried`, where that is not null. Empty
/// for a format of more than 16 bits and for one without an equivalent that
/// rounds by rule.
std::vector<ProofSubject>
proofSubjects(const Registry &registry, const Format &format, unsigned mostBits,
              std::vector<std::string> *untried = nullptr);

/// `add of my`, `cast of f32 to my`.
std::string describe(const Registry &registry, const Checked &checked);

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_PROOFSUBJECTS_H
