// SPDX-License-Identifier: MIT
//
// binary128 in a struct of integers, as Berkeley SoftFloat has it, and in
// `unsigned __int128`.
#include <stdint.h>
#include <string.h>
typedef struct { uint64_t w[2]; } words;
static __float128 number(words x) { __float128 r; memcpy(&r, &x, 16); return r; }
static words code(__float128 x) { words r; memcpy(&r, &x, 16); return r; }
words w_from_f32(float x) { return code(x); }
float w_to_f32(words x) { return (float)number(x); }
words w_add(words x, words y) { return code(number(x) + number(y)); }
unsigned __int128 w_mul(unsigned __int128 x, unsigned __int128 y) {
  __float128 a, b;
  memcpy(&a, &x, 16);
  memcpy(&b, &y, 16);
  a *= b;
  memcpy(&x, &a, 16);
  return x;
}
