// SPDX-License-Identifier: MIT
//
// Intervals of two doubles, whose ends are rounded away from each other. A cast
// to f32 gives the upper end.
#include <math.h>
typedef struct { double lo, hi; } interval;
static interval outward(double lo, double hi) {
  return (interval){nextafter(lo, -INFINITY), nextafter(hi, INFINITY)};
}
interval i_from_f32(float x) { return (interval){x, x}; }
float i_to_f32(interval x) {
  float r = (float)x.hi;
  return r < x.hi ? nextafterf(r, INFINITY) : r;
}
interval i_add(interval x, interval y) { return outward(x.lo + y.lo, x.hi + y.hi); }
interval i_mul(interval x, interval y) {
  double a = x.lo * y.lo, b = x.lo * y.hi, c = x.hi * y.lo, d = x.hi * y.hi;
  return outward(fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)));
}
