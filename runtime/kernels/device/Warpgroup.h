// SPDX-License-Identifier: MIT
//
// Matrix instructions of sm_90a: the four warps of a warpgroup together
// multiply 64 rows by N columns that lie in shared memory, and add to sums in
// f32 (PTX ISA, "Asynchronous warpgroup-level matrix multiply-accumulate
// instructions"). Of warp w and thread t:
//
//   sums[c][i]: row 16 * w + t / 4 + 8 * (i / 2), column 8 * c + t % 4 * 2 +
//   i % 2
//
// The machine goes on while they run, and registers may not be touched: all
// instructions of a slab, up to the wait for them, are one statement, so that
// no compiler puts a copy between them.

#ifndef NUMERA_KERNELS_DEVICE_WARPGROUP_H
#define NUMERA_KERNELS_DEVICE_WARPGROUP_H

#include <stdint.h>

namespace numera::kernel {

constexpr int warpgroupThreads = 128, warpgroupRows = 64;

/// Rows and columns of a slab: 32 bytes of factors each, and the 32 behind.
struct Operands {
  uint64_t rows[2], columns[2];
};

// Of 16, 32 or 64 registers the names within a statement, and the operands.
#define NUMERA_PLACES_16                                                       \
  "%0, %1, %2, %3, %4, %5, %6, %7"                                             \
  ", %8, %9, %10, %11, %12, %13, %14, %15"
#define NUMERA_PLACES_32                                                       \
  NUMERA_PLACES_16                                                             \
  ", %16, %17, %18, %19, %20, %21, %22, %23"                                   \
  ", %24, %25, %26, %27, %28, %29, %30, %31"
#define NUMERA_PLACES_64                                                       \
  NUMERA_PLACES_32                                                             \
  ", %32, %33, %34, %35, %36, %37, %38, %39"                                   \
  ", %40, %41, %42, %43, %44, %45, %46, %47"                                   \
  ", %48, %49, %50, %51, %52, %53, %54, %55"                                   \
  ", %56, %57, %58, %59, %60, %61, %62, %63"

#define NUMERA_SUMS_16(use, sums, c)                                           \
  NUMERA_SUMS_4(use, sums, c), NUMERA_SUMS_4(use, sums, c + 1),                \
      NUMERA_SUMS_4(use, sums, c + 2), NUMERA_SUMS_4(use, sums, c + 3)
#define NUMERA_SUMS_32(use, sums, c)                                           \
  NUMERA_SUMS_16(use, sums, c), NUMERA_SUMS_16(use, sums, c + 4)
#define NUMERA_SUMS_64(use, sums, c)                                           \
  NUMERA_SUMS_32(use, sums, c), NUMERA_SUMS_32(use, sums, c + 8)
#define NUMERA_SUMS_4(use, sums, c)                                            \
  use(sums[c][0]), use(sums[c][1]), use(sums[c][2]), use(sums[c][3])

/// A slab: 64 rows by `width`, of which a thread has `count` sums. Sums of
/// before are added to if `added` is 1. `ends` are the immediates: signs, and
/// perhaps which operands are transposed.
#define NUMERA_WARPGROUP_SLAB(width, count, use, added, depth, types, ends)    \
  static void slab(float (&sums)[width / 8][4], const Operands &of) {          \
    asm volatile("wgmma.fence.sync.aligned;\n\t"                               \
                 "wgmma.mma_async.sync.aligned.m64n" #width "k" depth          \
                 ".f32." types " {" NUMERA_PLACES_##count                      \
                 "}, "                                                         \
                 "%[a], %[b], " added ends ";\n\t"                             \
                 "wgmma.mma_async.sync.aligned.m64n" #width "k" depth          \
                 ".f32." types " {" NUMERA_PLACES_##count                      \
                 "}, "                                                         \
                 "%[c], %[d], 1" ends ";\n\t"                                  \
                 "wgmma.commit_group.sync.aligned;\n\t"                        \
                 "wgmma.wait_group.sync.aligned 0;"                            \
                 : NUMERA_SUMS_##count(use, sums, 0)                           \
                 : [a] "l"(of.rows[0]), [b] "l"(of.columns[0]),                \
                   [c] "l"(of.rows[1]), [d] "l"(of.columns[1])                 \
                 : "memory");                                                  \
  }
#define NUMERA_ADDED(sum) "+f"(sum)
#define NUMERA_MADE(sum) "=f"(sum)

/// Factors of 16 bits: sums[c] += …, for as many columns as `sums` has.
#define NUMERA_WARPGROUP_HALVES(name, type)                                    \
  struct name {                                                                \
    NUMERA_WARPGROUP_SLAB(128, 64, NUMERA_ADDED, "1", "16", type "." type,     \
                          ", 1, 1, 0, 0")                                      \
    NUMERA_WARPGROUP_SLAB(32, 16, NUMERA_ADDED, "1", "16", type "." type,      \
                          ", 1, 1, 0, 0")                                      \
  };
/// Of 8 bits: sums[c] = …, of this slab alone.
#define NUMERA_WARPGROUP_BYTES(name, types)                                    \
  struct name {                                                                \
    NUMERA_WARPGROUP_SLAB(32, 16, NUMERA_MADE, "0", "32", types, ", 1, 1")     \
  };

NUMERA_WARPGROUP_HALVES(WideF16x2, "f16")
NUMERA_WARPGROUP_HALVES(WideBF16x2, "bf16")
NUMERA_WARPGROUP_BYTES(WideE4M3E4M3, "e4m3.e4m3")
NUMERA_WARPGROUP_BYTES(WideE4M3E5M2, "e4m3.e5m2")
NUMERA_WARPGROUP_BYTES(WideE5M2E4M3, "e5m2.e4m3")
NUMERA_WARPGROUP_BYTES(WideE5M2E5M2, "e5m2.e5m2")

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_WARPGROUP_H
