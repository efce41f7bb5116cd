// SPDX-License-Identifier: MIT

#include "Sgemm.h"

#include <cblas.h>

using namespace numera::bench;

Sgemm::Sgemm(int64_t m, int64_t n, int64_t k)
    : m(int(m)), n(int(n)), k(int(k)), a(NUMERA_F32, {m, k}),
      b(NUMERA_F32, {k, n}), c(NUMERA_F32, {m, n}) {
  fillNormal(a, 1);
  fillNormal(b, 2);
}

void Sgemm::run() {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1,
              a.as<float>(), k, b.as<float>(), n, 0, c.as<float>(), n);
}

void numera::bench::setSgemmThreads(int count) {
  openblas_set_num_threads(count);
}
