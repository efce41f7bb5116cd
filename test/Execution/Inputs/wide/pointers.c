// SPDX-License-Identifier: MIT
//
// The library of double-doubles with pointers to numbers, the result's first.
#define dd_from_f32 from_f32
#define dd_from_f64 from_f64
#define dd_to_f32 to_f32
#define dd_to_f64 to_f64
#define dd_add add
#define dd_neg neg
#define dd_mul mul
#define dd_max maximum
#define dd_lt lt
#include "dd.c"
#undef dd_from_f32
#undef dd_from_f64
#undef dd_to_f32
#undef dd_to_f64
#undef dd_add
#undef dd_neg
#undef dd_mul
#undef dd_max
#undef dd_lt
void dd_from_f32(dd *r, float x) { *r = from_f32(x); }
void dd_from_f64(dd *r, double x) { *r = from_f64(x); }
float dd_to_f32(const dd *x) { return to_f32(*x); }
double dd_to_f64(const dd *x) { return to_f64(*x); }
void dd_add(dd *r, const dd *x, const dd *y) { *r = add(*x, *y); }
void dd_neg(dd *r, const dd *x) { *r = neg(*x); }
void dd_mul(dd *r, const dd *x, const dd *y) { *r = mul(*x, *y); }
void dd_max(dd *r, const dd *x, const dd *y) { *r = maximum(*x, *y); }
bool dd_lt(const dd *x, const dd *y) { return lt(*x, *y); }
