// SPDX-License-Identifier: MIT
//
// The interface between a compiled contraction and the kernels in
// runtime/kernels (Contraction.cpp, DirectContraction.cpp). Both come from one
// build, so this is not a stable ABI.
//
// A contraction is
//
//   sums[b, r, c] <- step(sums[b, r, c], rows[b, r, k], columns[b, c, k])
//
// for k in written order, where b, r, c and k each stand for a product of
// loops, the last one fastest. The offset of an element in its operand is a
// linear function of the loop indices. This holds for matrix products, and for
// convolutions with strides, dilation and groups.

#ifndef NUMERA_RUNTIME_CONTRACTION_H
#define NUMERA_RUNTIME_CONTRACTION_H

#include <stdint.h>

namespace numera::kernel {

/// One loop of a contraction, and the stride of each operand in elements.
struct Loop {
  int64_t extent;
  int64_t rows;
  int64_t columns;
  int64_t sums;
};

/// The most loops that a class (b, r, c or k) may have.
constexpr int32_t maxLoops = 6;

/// The number of loops of each class, in the order of the loops.
struct LoopCounts {
  int32_t batch;
  int32_t rows;
  int32_t columns;
  int32_t steps;
};

} // namespace numera::kernel

#endif // NUMERA_RUNTIME_CONTRACTION_H
