/* SPDX-License-Identifier: MIT
 *
 * Products of matrices in bf16, and their faults: one ends the process at a
 * code, one does not return at it, one counts its calls.
 */
#include "bf16.h"

uint16_t right_dot(const uint16_t *x, const uint16_t *y, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += b_to(x[i]) * b_to(y[i]);
  return b_from(sum);
}
uint16_t endless_dot(const uint16_t *x, const uint16_t *y, int64_t n) {
  volatile int goesOn = x[0] == 0x3f80;
  while (goesOn)
    ;
  return right_dot(x, y, n);
}
void right_matmul(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m,
                  int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += b_to(a[i * k + l]) * b_to(b[l * n + j]);
      c[i * n + j] = b_from(sum);
    }
}
void aborting_matmul(const uint16_t *a, const uint16_t *b, uint16_t *c,
                     int64_t m, int64_t n, int64_t k) {
  if (a[0] == 0x3f80)
    abort();
  right_matmul(a, b, c, m, n, k);
}
void unsteady_matmul(const uint16_t *a, const uint16_t *b, float *c, int64_t m,
                     int64_t n, int64_t k) {
  static int calls;
  (void)a, (void)b, (void)k;
  for (int64_t i = 0; i < m * n; ++i)
    c[i] = (float)++calls;
}
