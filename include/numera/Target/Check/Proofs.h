// SPDX-License-Identifier: MIT
//
// Proofs about libraries: an operation of an opaque format, run on all operands
// that there are, against the same operation of the format that its entry calls
// equivalent. What is proven is computed as that format's own from then on
// (numera-use-proofs), with the same bits.

#ifndef NUMERA_TARGET_CHECK_PROOFS_H
#define NUMERA_TARGET_CHECK_PROOFS_H

#include "numera/Target/Check/Check.h"

namespace numera {

/// Tells the registry what is known of its opaque formats that name an
/// equivalent, of at most 16 bits, from runs before. What is not known of
/// formats of at most 8 bits is tried now, as far as it has no more than 65,536
/// operands. To be called before the registry is shared; what cannot be read or
/// kept is a line in `warnings`, and no failure.
void loadProofs(Registry &registry, llvm::raw_ostream &warnings);

namespace check {

/// Tries to prove every operation of an opaque format with an equivalent, in
/// child processes as checkFormat does, and keeps what holds for later runs.
/// Results are those of operations; of one that was proven before, nothing is
/// run. `progress` is called with the operands tried and those of all.
llvm::Expected<Report>
proveFormat(const Registry &registry, const Format &format,
            const Options &options, llvm::raw_ostream &warnings,
            llvm::function_ref<void(uint64_t, uint64_t)> progress);

} // namespace check

} // namespace numera

#endif // NUMERA_TARGET_CHECK_PROOFS_H
