// SPDX-License-Identifier: MIT
//
// Matrix instructions: the threads of a warp together multiply 16 rows by 8
// columns, and add to sums in f32 (PTX ISA, "Matrix multiply-accumulate
// operation using mma instruction"). Of thread t, with g = t / 4 and w = t % 4,
// a row or column of 32 bytes of factors has words w and w + 4:
//
//   a[0] row g, word w       a[2] row g, word w + 4       b[0] column g, word w
//   a[1] row g + 8, word w   a[3] row g + 8, word w + 4   b[1] column g, w + 4
//   sums[i]: row g + 8 * (i / 2), column 2 * w + i % 2

#ifndef NUMERA_KERNELS_DEVICE_MATRIX_H
#define NUMERA_KERNELS_DEVICE_MATRIX_H

#include "Machine.h"

namespace numera::kernel {

constexpr int warpThreads = 32;

#define NUMERA_MATRIX_SUMS                                                     \
  "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
#define NUMERA_MATRIX_STEP(name, shape, rowType, columnType)                   \
  struct name {                                                                \
    static void step(float (&sums)[4], const uint32_t (&a)[4],                 \
                     const uint32_t (&b)[2]) {                                 \
      asm volatile("mma.sync.aligned." shape ".row.col.f32." rowType           \
                   "." columnType ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "  \
                   "{%8, %9}, {%0, %1, %2, %3};"                               \
                   : NUMERA_MATRIX_SUMS                                        \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),    \
                     "r"(b[1]));                                               \
    }                                                                          \
  };
NUMERA_MATRIX_STEP(F16x2, "m16n8k16", "f16", "f16")
NUMERA_MATRIX_STEP(BF16x2, "m16n8k16", "bf16", "bf16")
NUMERA_MATRIX_STEP(E4M3E4M3, "m16n8k32", "e4m3", "e4m3")
NUMERA_MATRIX_STEP(E4M3E5M2, "m16n8k32", "e4m3", "e5m2")
NUMERA_MATRIX_STEP(E5M2E4M3, "m16n8k32", "e5m2", "e4m3")
NUMERA_MATRIX_STEP(E5M2E5M2, "m16n8k32", "e5m2", "e5m2")

/// F16x2 on sm_75, which has half of it as an instruction.
struct F16x2Pair {
  static void step(float (&sums)[4], const uint32_t (&a)[4],
                   const uint32_t (&b)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                   "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                   : NUMERA_MATRIX_SUMS
                   : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
  }
};

/// Until the other threads of the warp are here; nor does the assembler move
/// matrix instructions across it.
inline void waitForWarp() { asm volatile("bar.warp.sync 0xffffffff;"); }

/// Four matrices of 8 rows of 16 bytes: thread t names row t % 8 of matrix t /
/// 8, and is given word t % 4 of row t / 4 of each.
inline void loadMatrices(uint32_t (&words)[4], const NUMERA_SHARED void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
               "[%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "l"(row)
               : "memory");
}

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_MATRIX_H
