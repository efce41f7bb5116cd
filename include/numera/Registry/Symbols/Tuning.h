// SPDX-License-Identifier: MIT
//
// What a program asks about the CPU that it is compiled for: functions `i1 ()`
// that the dialect calls where two ways give the same bits, and lib/Target
// (Tuning.cpp) defines as constants.

#ifndef NUMERA_REGISTRY_SYMBOLS_TUNING_H
#define NUMERA_REGISTRY_SYMBOLS_TUNING_H

namespace numera {

/// The CPU looks up many bytes at once.
inline constexpr char hasByteLookupsSymbol[] = "numera_has_byte_lookups";
/// The CPU adds vectors in the units in which it multiplies them, and in no
/// others: what matters is the number of operations, not of which kind they
/// are.
inline constexpr char fusesAdditionsSymbol[] = "numera_fuses_additions";

/// What stands between the name of a contraction and those of its hooks for
/// CPUs that compute in binary16.
inline constexpr char halfHooks[] = "half";

} // namespace numera

#endif // NUMERA_REGISTRY_SYMBOLS_TUNING_H
