// SPDX-License-Identifier: MIT
//
// The hooks of a contraction on a GPU, functions that the compiler supplies, as
// in ../Hooks.h for the CPU. Every contraction has its own hooks
// (lib/Target/Link/Kernels.cpp renames them), and all are inlined. Reading an
// element and decoding it are two hooks, so that elements can be loaded while a
// thread computes.
//
// NUMERA_CARRIER is the type of a value while it is computed with: float,
// double, or the unsigned integer of a code. NUMERA_FACTOR is that of a factor,
// where it is another one: the code that tensor cores take.

#ifndef NUMERA_KERNELS_DEVICE_HOOKS_H
#define NUMERA_KERNELS_DEVICE_HOOKS_H

#include <stdint.h>

namespace numera::kernel {

#ifndef NUMERA_FACTOR
#define NUMERA_FACTOR NUMERA_CARRIER
#endif

using Carrier = NUMERA_CARRIER;
using Factor = NUMERA_FACTOR;
/// The bits of an element as they lie in memory, zeros above them.
using Raw = uint64_t;

/// How the elements of an operand lie to each other, as far as the compiler
/// knows.
struct Layout {
  int32_t bytes; ///< of an element
  /// True if a value is nothing but the bits of an element.
  bool isValue;
  bool runsAlongSteps; ///< else, perhaps, along rows or columns
  /// True if it does run along, without gaps, so that as many elements as a
  /// thread fetches lie at a multiple of their size, up to 16 bytes.
  bool isContiguous;

  /// What the hooks return: an element's bytes, and above them the three facts.
  static constexpr Layout of(int32_t packed) {
    return {packed & 15, (packed & 16) != 0, (packed & 32) != 0,
            (packed & 64) != 0};
  }
};

extern "C" {
/// The element `index` places behind `base`.
Raw numera_hook_fetch_row(const void *base, int64_t index);
Raw numera_hook_fetch_column(const void *base, int64_t index);

#if NUMERA_QUIRES
/// The sum `index` places behind `sums` into a thread's own quire, and back.
void numera_hook_load(const void *sums, int64_t index, void *quire);
void numera_hook_store(void *sums, int64_t index, const void *quire);
/// Adds the product of two elements to a quire.
void numera_hook_mac(void *quire, Raw row, Raw column);
#else
/// A Layout, packed: a constant.
int32_t numera_hook_row_layout();
int32_t numera_hook_column_layout();
/// An element as a value.
Factor numera_hook_row(Raw element);
Factor numera_hook_column(Raw element);
/// The sum `index` places behind `base`, and back.
Carrier numera_hook_load(const void *base, int64_t index);
void numera_hook_store(void *base, int64_t index, Carrier value);
/// One step of the contraction; not for tensor cores.
Carrier numera_hook_step(Carrier sum, Carrier row, Carrier column);
#endif
}

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_HOOKS_H
