// SPDX-License-Identifier: MIT
//
// binary128 as the compiler computes it, by functions of libgcc or compiler-rt.
#include <stdbool.h>
__float128 fmaf128(__float128, __float128, __float128);
__float128 sqrtf128(__float128);
__float128 q_from_f32(float x) { return x; }
float q_to_f32(__float128 x) { return (float)x; }
__float128 q_add(__float128 x, __float128 y) { return x + y; }
__float128 q_mul(__float128 x, __float128 y) { return x * y; }
__float128 q_div(__float128 x, __float128 y) { return x / y; }
__float128 q_fma(__float128 x, __float128 y, __float128 z) { return fmaf128(x, y, z); }
__float128 q_sqrt(__float128 x) { return sqrtf128(x); }
bool q_lt(__float128 x, __float128 y) { return x < y; }
