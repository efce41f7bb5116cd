// SPDX-License-Identifier: MIT
//
// Squares of numbers in vectors, rows for columns. CPUs move lanes within 16
// bytes in one instruction, and blocks of 16 bytes in another; with AVX2 blocks
// of 32 are vectors of their own. What moves lanes farther takes several, and
// LLVM a long time.

#ifndef NUMERA_KERNELS_TRANSPOSE_H
#define NUMERA_KERNELS_TRANSPOSE_H

#include "Hooks.h"

#include <utility>

namespace numera::kernel {

using AllLanes = std::make_integer_sequence<int, lanes>;

/// Lanes of 16 bytes.
constexpr int quad = 16 / static_cast<int>(sizeof(Carrier));

/// Within each 16 bytes: the even lanes of the result come from the lower half
/// of `a`, or from its upper half, the odd ones from `b`.
template <int half, int... lane>
inline Vector zipQuads(Vector a, Vector b,
                       std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(a, b,
                                 (lane / quad * quad + half * (quad / 2) +
                                  lane % quad / 2 + lane % 2 * lanes)...);
}

/// Of each 2 * count lanes the first or the second half of `a`, behind it that
/// of `b`.
template <int count, int half, int... lane>
inline Vector joinHalves(Vector a, Vector b,
                         std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(a, b,
                                 (lane / (2 * count) * 2 * count +
                                  half * count + lane % count +
                                  lane / count % 2 * lanes)...);
}

/// Exchanges the blocks of `count` lanes of vectors that are `count` apart,
/// then those of twice as many, up to half the vectors.
template <int count, int size>
inline void transposeBlocks(Vector (&vectors)[size]) {
  if constexpr (count < size) {
#pragma unroll
    for (int i = 0; i < size; ++i)
      if ((i & count) == 0) {
        Vector a = vectors[i], b = vectors[i + count];
        vectors[i] = joinHalves<count, 0>(a, b, AllLanes());
        vectors[i + count] = joinHalves<count, 1>(a, b, AllLanes());
      }
    transposeBlocks<2 * count>(vectors);
  }
}

/// Of each `size` lanes, lane j of vector i and lane i of vector j change
/// places. In squares of 16 bytes by zipping vectors: each time moves one bit
/// of the vector's number into the lane's, and one back.
template <int size> inline void transpose(Vector (&vectors)[size]) {
#pragma unroll
  for (int bit = 1; bit < quad; bit *= 2) {
    Vector zipped[size];
#pragma unroll
    for (int i = 0; i < size / 2; ++i) {
      int first = i / (quad / 2) * quad, at = i % (quad / 2);
      Vector a = vectors[first + at], b = vectors[first + at + quad / 2];
      zipped[first + 2 * at] = zipQuads<0>(a, b, AllLanes());
      zipped[first + 2 * at + 1] = zipQuads<1>(a, b, AllLanes());
    }
#pragma unroll
    for (int i = 0; i < size; ++i)
      vectors[i] = zipped[i];
  }
  transposeBlocks<quad>(vectors);
}

} // namespace numera::kernel

#endif // NUMERA_KERNELS_TRANSPOSE_H
