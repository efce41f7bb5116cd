/* SPDX-License-Identifier: MIT
 *
 * A product of matrices in bf16, with one fault of those that products have.
 */
#include "bf16.h"

void my_matmul(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m,
               int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
#if defined STARTS
      float sum = 1;
#elif defined STATE
      static float sum;
#else
      float sum = 0;
#endif
      for (int64_t l = 0; l < k; ++l) {
#if defined TRANSPOSED
        float x = b_to(a[i * k + l]), y = b_to(b[j * k + l]);
#elif defined STRIDE
        float x = b_to(a[i * n + l < m * k ? i * n + l : 0]),
              y = b_to(b[l * n + j]);
#else
        float x = b_to(a[i * k + l]), y = b_to(b[l * n + j]);
#endif
#if defined SHORT
        if (l && l == k - 1)
          continue;
#elif defined TWICE
        sum += l == 40 ? x * y : 0;
#elif defined DIFFERENCE
        y = -y;
#endif
        sum += x * y;
      }
#if defined UNWRITTEN
      if (i && i == m - 1)
        continue;
#endif
      c[i * n + j] = b_from(sum);
    }
#if defined ENDLESS
  volatile int goesOn = k == 64;
  while (goesOn)
    ;
#endif
}
