// SPDX-License-Identifier: MIT
//
// The seam between a compiled contraction and runtime/kernels/Contraction.cpp.
// Both come from one build, so nothing here is an ABI.
//
// A contraction is
//
//   sums[b, r, c] <- step(sums[b, r, c], rows[b, r, k], columns[b, c, k])
//
// for k in written order, where b, r, c and k each stand for a product of
// loops, the last one fastest. The place of an element in its operand is a
// linear function of the loops, which holds for matrix products and for
// convolutions with strides, dilation and groups alike.

#ifndef NUMERA_RUNTIME_CONTRACTION_H
#define NUMERA_RUNTIME_CONTRACTION_H

#include <stdint.h>

namespace numera::kernel {

/// One loop of a contraction, and how many elements further each operand is
/// read or written in its next iteration.
struct Loop {
  int64_t extent;
  int64_t rows;
  int64_t columns;
  int64_t sums;
};

/// Most loops that a class (b, r, c or k) may have.
constexpr int32_t maxLoops = 6;

/// How many loops each class has; they stand in this order.
struct LoopCounts {
  int32_t batch;
  int32_t rows;
  int32_t columns;
  int32_t steps;
};

} // namespace numera::kernel

#endif // NUMERA_RUNTIME_CONTRACTION_H
