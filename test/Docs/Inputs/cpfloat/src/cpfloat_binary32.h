/* SPDX-License-Identifier: MIT
 * Stands in for CPFloat: its names and types, for bfloat16 alone. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
enum { CPFLOAT_EXPRANGE_STOR, CPFLOAT_EXPRANGE_TARG, CPFLOAT_INF_USE = 1,
       CPFLOAT_RND_NE = 1, CPFLOAT_SUBN_USE = 1 };
typedef struct {
  int precision, emin, emax, explim, infinity, round, subnormal;
} optstruct;
static inline int cpfloatf(float *r, const float *a, const size_t n, const optstruct *o) {
  for (size_t i = 0; i < n; ++i) {
    uint32_t u;
    memcpy(&u, &a[i], 4);
    u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000;
    memcpy(&r[i], &u, 4);
  }
  return o->precision != 8;
}
#define OP(name, op) \
  static inline int cpf_##name##f(float *r, const float *a, const float *b, const size_t n, const optstruct *o) { \
    for (size_t i = 0; i < n; ++i) r[i] = a[i] op b[i]; \
    return cpfloatf(r, r, n, o); \
  }
OP(add, +) OP(sub, -) OP(mul, *) OP(div, /)
#undef OP
