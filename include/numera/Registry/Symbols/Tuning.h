// SPDX-License-Identifier: MIT
//
// Questions about the CPU that a program is compiled for: functions `i1 ()`
// that choose between two implementations with the same bits. Lowered programs
// and the runtime call them, and lib/Target (Tuning.cpp) defines them as
// constants.

#ifndef NUMERA_REGISTRY_SYMBOLS_TUNING_H
#define NUMERA_REGISTRY_SYMBOLS_TUNING_H

namespace numera {

/// The CPU looks up many bytes at once.
inline constexpr char hasByteLookupsSymbol[] = "numera_has_byte_lookups";
/// The CPU adds vectors only in the units in which it multiplies them, so the
/// number of operations matters, and not their kind.
inline constexpr char fusesAdditionsSymbol[] = "numera_fuses_additions";

/// The CPU has a fused multiply-add of f32.
inline constexpr char fusesProductsSymbol[] = "numera_fuses_products";

/// The infix between the name of a contraction and those of its hooks for CPUs
/// that compute in binary16.
inline constexpr char halfHooks[] = "half";

} // namespace numera

#endif // NUMERA_REGISTRY_SYMBOLS_TUNING_H
