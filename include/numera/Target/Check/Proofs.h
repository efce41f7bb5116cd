// SPDX-License-Identifier: MIT
//
// Proofs about libraries. An operation of an opaque format is run on all
// operands and compared with the same operation of the format that its entry
// calls equivalent. Operations that are proven equal are then computed in that
// format (numera-use-proofs), with the same bits.

#ifndef NUMERA_TARGET_CHECK_PROOFS_H
#define NUMERA_TARGET_CHECK_PROOFS_H

#include "numera/Target/Check/Check.h"

namespace numera {

/// Loads proofs of earlier runs into the registry, for its opaque formats of at
/// most 16 bits that name an equivalent. For formats of at most 8 bits,
/// operations with at most 65,536 operands and without a proof are tried now.
/// Call it before the registry is shared. A proof that cannot be read or stored
/// is a line in `warnings`, and not a failure.
void loadProofs(Registry &registry, llvm::raw_ostream &warnings);

namespace check {

/// Tries to prove every operation of an opaque format with an equivalent, in
/// child processes as checkFormat does, and stores the proofs for later runs.
/// An operation that was proven before is not run. `progress` is called with
/// the number of operands that are done, and of all.
llvm::Expected<Report>
proveFormat(const Registry &registry, const Format &format,
            const Options &options, llvm::raw_ostream &warnings,
            llvm::function_ref<void(uint64_t, uint64_t)> progress);

} // namespace check

} // namespace numera

#endif // NUMERA_TARGET_CHECK_PROOFS_H
