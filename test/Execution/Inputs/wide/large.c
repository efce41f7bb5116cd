// SPDX-License-Identifier: MIT
//
// 256 bits: a number is the sum of two binary128, in a struct that is passed in
// memory.
typedef struct { __float128 hi, lo; } large;
large l_from_f32(float x) { return (large){x, 0}; }
float l_to_f32(large x) { return (float)(x.hi + x.lo); }
large l_add(large x, large y) {
  __float128 s = x.hi + y.hi, t = s - x.hi;
  return (large){s, (x.hi - (s - t)) + (y.hi - t) + x.lo + y.lo};
}
// By pointers.
void l_mul(large *r, const large *x, const large *y) { *r = (large){x->hi * y->hi, x->hi * y->lo + x->lo * y->hi}; }
