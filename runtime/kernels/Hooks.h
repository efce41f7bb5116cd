// SPDX-License-Identifier: MIT
//
// The hooks of a contraction, functions that the compiler supplies: they
// convert elements to values of the carrier and back, and do one step on a
// vector of values. Every contraction has its own hooks
// (lib/Target/Link/Kernels.cpp renames them), and all are inlined.
//
// A contraction may have a short form of its step as well
// (Numerics/MultiplyAdd/Step.h), on values that are prepared once, when they
// are packed. A tile whose sums end without NaN is correct. Any other tile is
// computed again with the general step. NUMERA_SHORT_STEPS is 1 for kernels of
// those, NUMERA_QUIRES for sums in quires (include/numera/Runtime/Kernels.def).
//
// NUMERA_CARRIER is the type of a value while it is computed with: float,
// double, or the unsigned integer of a code. NUMERA_PREPARED, if it is another,
// is that of prepared values: _Float16 (Numerics/MultiplyAdd/StepHalf.h).

#ifndef NUMERA_KERNELS_HOOKS_H
#define NUMERA_KERNELS_HOOKS_H

#include <stdint.h>

#ifndef NUMERA_SHORT_STEPS
#define NUMERA_SHORT_STEPS 0
#endif

namespace numera::kernel {

using Carrier = NUMERA_CARRIER;
/// Values in the lanes of a vector, whatever the carrier: 16 for float.
constexpr int lanes = sizeof(Carrier) == 8 ? 8 : 16;
typedef Carrier Vector __attribute__((ext_vector_type(lanes)));

/// What panels hold. A load spreads 32 bits to all lanes, and not fewer: rows
/// have a value of 16 bits twice.
#ifdef NUMERA_PREPARED
using Prepared = NUMERA_PREPARED;
constexpr int preparedLanes = 64 / sizeof(Prepared);
using RowValue = uint32_t;
#else
using Prepared = Carrier;
constexpr int preparedLanes = lanes;
using RowValue = Prepared;
#endif
typedef Prepared PreparedVector __attribute__((ext_vector_type(preparedLanes)));

inline RowValue rowValue(Prepared value) {
#ifdef NUMERA_PREPARED
  static_assert(sizeof(Prepared) == 2);
  return RowValue{__builtin_bit_cast(uint16_t, value)} * 0x10001;
#else
  return value;
#endif
}
inline PreparedVector spread(RowValue value) {
#ifdef NUMERA_PREPARED
  typedef RowValue Spread
      __attribute__((ext_vector_type(64 / sizeof(RowValue))));
  return __builtin_bit_cast(PreparedVector, Spread(value));
#else
  return value;
#endif
}

extern "C" {
/// The element `index` places behind `base`, as a value.
Carrier numera_hook_row(const void *base, int64_t index);
Carrier numera_hook_column(const void *base, int64_t index);
Carrier numera_hook_load(const void *base, int64_t index);
void numera_hook_store(void *base, int64_t index, Carrier value);
/// Has the memory of a sum fetched, to be written later.
void numera_hook_prefetch(const void *base, int64_t index);
/// One step of the contraction in every lane.
Vector numera_hook_step(Vector sum, Vector row, Vector column);

#if NUMERA_SHORT_STEPS
/// True if products whose nonzero magnitudes lie between these suit the short
/// form; the greatest is infinite or NaN where an element is.
uint8_t numera_hook_admits(Carrier least, Carrier most);
/// An element of a row as the short form takes it, twice.
Prepared numera_hook_first(Carrier row);
Prepared numera_hook_second(Carrier row);
Prepared numera_hook_prepared(Carrier column);
/// A sum as the short form takes it, and back; NaN where it does not.
Prepared numera_hook_start(Carrier sum);
Carrier numera_hook_result(Prepared sum);
PreparedVector numera_hook_short(PreparedVector sum, PreparedVector first,
                                 PreparedVector second, PreparedVector column);
/// True if products between these suit the confined form, on the same prepared
/// values, too.
uint8_t numera_hook_confines(Carrier least, Carrier most);
PreparedVector numera_hook_confined(PreparedVector sum, PreparedVector first,
                                    PreparedVector second,
                                    PreparedVector column);
#endif

#if NUMERA_QUIRES
/// The numera::Span, packed, of elements whose nonzero magnitudes have these
/// bounds.
uint64_t numera_hook_span(Carrier least, Carrier most);
/// Adds sums of products of slices (Numerics/MultiplyAdd/Slices.h) to the quire
/// `index` places behind `sums`.
void numera_hook_add(void *sums, int64_t index, const Carrier *products,
                     int32_t count);
/// Adds the product of two elements, which may be special, to a quire.
void numera_hook_mac(void *sums, int64_t index, const void *rows, int64_t row,
                     const void *columns, int64_t column);
#endif
}

} // namespace numera::kernel

#endif // NUMERA_KERNELS_HOOKS_H
