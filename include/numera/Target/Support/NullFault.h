// SPDX-License-Identifier: MIT

#ifndef NUMERA_TARGET_SUPPORT_NULLFAULT_H
#define NUMERA_TARGET_SUPPORT_NULLFAULT_H

namespace numera {

/// Has a fault at an address near null call `end`, which does not return, from
/// the signal's handler. Where memory is limited, that is an allocation that
/// failed and that MLIR or a package does not look at: MLIR stores into what
/// malloc gives. Other faults go to what handled them before. Only the first
/// call counts.
void endAtNullFault(void (*end)());

} // namespace numera

#endif // NUMERA_TARGET_SUPPORT_NULLFAULT_H
