// SPDX-License-Identifier: MIT

#ifndef NUMERA_BENCH_SGEMM_H
#define NUMERA_BENCH_SGEMM_H

#include "Program.h"

namespace numera::bench {

/// OpenBLAS's C = A · B of row-major f32 matrices of its own: A is m × k, B is
/// k × n.
class Sgemm {
public:
  Sgemm(int64_t m, int64_t n, int64_t k);
  void run();

private:
  int m, n, k;
  Array a, b, c;
};

/// How many threads OpenBLAS uses from now on.
void setSgemmThreads(int count);

} // namespace numera::bench

#endif // NUMERA_BENCH_SGEMM_H
