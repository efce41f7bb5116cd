// SPDX-License-Identifier: MIT
//
// A tile of sums and the part of it that a thread has in registers.

#ifndef NUMERA_KERNELS_DEVICE_SHAPE_H
#define NUMERA_KERNELS_DEVICE_SHAPE_H

#include "Hooks.h"
#include "Machine.h"

namespace numera::kernel {

/// A tile of `rows` x `columns`, of which a thread has `threadRows` x
/// `threadColumns`. Of a slab, `unrolled` steps follow each other without a
/// branch.
template <int rowCount, int columnCount, int ownRows, int ownColumns,
          int unrolledSteps>
struct Shape {
  static constexpr int rows = rowCount, columns = columnCount;
  static constexpr int threadRows = ownRows, threadColumns = ownColumns;
  static constexpr int unrolled = unrolledSteps;
  static constexpr int across = columns / threadColumns; ///< threads
  static constexpr int down = rows / threadRows;
  static_assert(across * down == blockThreads);
};

/// Lanes that a thread has of a panel: vectors of up to 16 bytes, which lie as
/// far apart as all threads' vectors are long. So neighbouring threads read
/// neighbouring ones.
template <int width, int threads> struct Lanes {
  static constexpr int count = width / threads;
  static constexpr int most = 16 / int(sizeof(Carrier));
  static constexpr int size = count < most ? count : most;

  static int lane(int thread, int i) {
    return i / size * (threads * size) + thread * size + i % size;
  }
  static void read(Carrier (&values)[count], const NUMERA_SHARED Carrier *panel,
                   int thread) {
    typedef Carrier Vector __attribute__((ext_vector_type(size)));
#pragma unroll
    for (int i = 0; i < count; i += size) {
      Vector vector = *(const NUMERA_SHARED Vector *)(panel + lane(thread, i));
#pragma unroll
      for (int j = 0; j < size; ++j)
        values[i + j] = vector[j];
    }
  }
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_SHAPE_H
