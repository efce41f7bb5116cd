/* SPDX-License-Identifier: MIT
 * The functions that examples of docs/Configuration.md name. */
#include "../../../examples/fashion/mybf16.c"

float mybf16_round(float x) { return mybf16_to_f32(mybf16_from_f32(x)); }
float mybf16_wide_fma(uint16_t x, uint16_t y, float z) {
  return mybf16_to_f32(x) * mybf16_to_f32(y) + z;
}

struct sum {
  float value;
};
void sum_init(struct sum *s) { s->value = 0; }
void sum_mac(struct sum *s, uint16_t x, uint16_t y) {
  s->value += mybf16_to_f32(x) * mybf16_to_f32(y);
}
void sum_add(struct sum *s, uint16_t x) { s->value += mybf16_to_f32(x); }
uint16_t sum_round(const struct sum *s) { return mybf16_from_f32(s->value); }

void my_array(const uint16_t *a, const uint16_t *b, float *c, int64_t m,
              int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += mybf16_to_f32(a[i * k + l]) * mybf16_to_f32(b[l * n + j]);
      c[i * n + j] = sum;
    }
}
void my_matmul(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m,
               int64_t n, int64_t k) {
  for (int64_t i = 0; i < m * n; ++i) {
    float sum = 0;
    for (int64_t l = 0; l < k; ++l)
      sum += mybf16_to_f32(a[i / n * k + l]) * mybf16_to_f32(b[l * n + i % n]);
    c[i] = mybf16_from_f32(sum);
  }
}
uint16_t my_dot(const uint16_t *x, const uint16_t *y, int64_t n) {
  uint16_t result;
  my_matmul(x, y, &result, 1, 1, n);
  return result;
}
