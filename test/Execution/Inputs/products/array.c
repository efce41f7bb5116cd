/* SPDX-License-Identifier: MIT
 *
 * bf16 on a systolic array as a designer might have it: the left factor loses
 * its three last bits, four products at a time are added as a tree in f32, and
 * the sum is cut off. `my_dot` adds from the end, one by one. Neither is what a
 * chain of multiply-adds gives, and factors may not be swapped.
 */
#include <stdint.h>

uint16_t my_from(float x) {
  union {
    float value;
    uint32_t bits;
  } f = {.value = x};
  if (x != x)
    return 0x7fc0;
  return (uint16_t)((f.bits + 0x7fff + (f.bits >> 16 & 1)) >> 16);
}

float my_to(uint16_t code) {
  union {
    uint32_t bits;
    float value;
  } f = {.bits = (uint32_t)code << 16};
  return f.value;
}

static uint16_t cut(float x) {
  union {
    float value;
    uint32_t bits;
  } f = {.value = x};
  return (uint16_t)(f.bits >> 16);
}

static float product(uint16_t x, uint16_t y) {
  return my_to(x & 0xfff8) * my_to(y);
}

static float tree(const uint16_t *x, const uint16_t *y, int64_t step,
                  int64_t k) {
  float sum = 0;
  for (int64_t i = 0; i < k; i += 4) {
    float four[4] = {0, 0, 0, 0};
    for (int64_t j = 0; j < 4 && i + j < k; ++j)
      four[j] = product(x[i + j], y[(i + j) * step]);
    sum += (four[0] + four[1]) + (four[2] + four[3]);
  }
  return sum;
}

void my_matmul(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m,
               int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      c[i * n + j] = cut(tree(a + i * k, b + j, n, k));
}

void my_wide_matmul(const uint16_t *a, const uint16_t *b, float *c, int64_t m,
                    int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      c[i * n + j] = tree(a + i * k, b + j, n, k);
}

uint16_t my_dot(const uint16_t *x, const uint16_t *y, int64_t n) {
  float sum = 0;
  for (int64_t i = n; i-- > 0;)
    sum += product(x[i], y[i]);
  return cut(sum);
}

/* A format of 12 bits, whose function leaves what it likes above them. */
uint16_t twelve_from(float x) { return my_from(x) >> 4; }
float twelve_to(uint16_t code) { return my_to((uint16_t)(code << 4)); }
void twelve_matmul(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m,
                   int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += twelve_to(a[i * k + l]) * twelve_to(b[l * n + j]);
      c[i * n + j] = twelve_from(sum) | 0xa000;
    }
}

/* What `accumulate: same` is, as a product of matrices and as a sum. */
uint16_t chain_add(uint16_t x, uint16_t y) {
  return my_from(my_to(x) + my_to(y));
}
uint16_t chain_mul(uint16_t x, uint16_t y) {
  return my_from(my_to(x) * my_to(y));
}
uint16_t chain_dot(const uint16_t *x, const uint16_t *y, int64_t n) {
  uint16_t sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum = chain_add(sum, chain_mul(x[i], y[i]));
  return sum;
}
void chain_matmul(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m,
                  int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      uint16_t sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum = chain_add(sum, chain_mul(a[i * k + l], b[l * n + j]));
      c[i * n + j] = sum;
    }
}
