// SPDX-License-Identifier: MIT
//
// Double-double: a number is the sum of two doubles, of which the second is what
// the first lacks.

#include <stdbool.h>
typedef struct { double hi, lo; } dd;
static dd two_sum(double a, double b) {
  double s = a + b, t = s - a;
  return (dd){s, (a - (s - t)) + (b - t)};
}
static dd quick(double a, double b) { double s = a + b; return (dd){s, b - (s - a)}; }
static dd two_prod(double a, double b) { double p = a * b; return (dd){p, __builtin_fma(a, b, -p)}; }
dd dd_from_f32(float x) { return (dd){x, 0}; }
dd dd_from_f64(double x) { return (dd){x, 0}; }
float dd_to_f32(dd x) { return (float)x.hi; }
double dd_to_f64(dd x) { return x.hi; }
dd dd_add(dd x, dd y) {
  dd s = two_sum(x.hi, y.hi), t = two_sum(x.lo, y.lo);
  s = quick(s.hi, s.lo + t.hi);
  return quick(s.hi, s.lo + t.lo);
}
dd dd_neg(dd x) { return (dd){-x.hi, -x.lo}; }
dd dd_mul(dd x, dd y) {
  dd p = two_prod(x.hi, y.hi);
  return quick(p.hi, p.lo + (x.hi * y.lo + x.lo * y.hi));
}
bool dd_lt(dd x, dd y) { return x.hi < y.hi || (x.hi == y.hi && x.lo < y.lo); }
dd dd_max(dd x, dd y) { return dd_lt(x, y) ? y : x; }
