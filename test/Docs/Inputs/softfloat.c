/* SPDX-License-Identifier: MIT
 * Stands in for Berkeley SoftFloat: its names and types, other numbers. */
#include "codes.h"
#include <stdbool.h>
typedef struct { uint16_t v; } float16_t;
typedef struct { uint16_t v; } bfloat16_t;
typedef struct { uint32_t v; } float32_t;
typedef struct { uint64_t v; } float64_t;
static float in32(float32_t x) { float y; memcpy(&y, &x, 4); return y; }
static float32_t out32(float x) { float32_t y; memcpy(&y, &x, 4); return y; }
#define H(x) ((float16_t){code(x)})
float16_t f32_to_f16(float32_t x) { return H(in32(x)); }
float32_t f16_to_f32(float16_t x) { return out32(number(x.v)); }
float16_t f16_add(float16_t x, float16_t y) { return H(number(x.v) + number(y.v)); }
float16_t f16_mul(float16_t x, float16_t y) { return H(number(x.v) * number(y.v)); }
float16_t f16_mulAdd(float16_t x, float16_t y, float16_t z) {
  return H((double)number(x.v) * number(y.v) + number(z.v));
}
bool f16_lt_quiet(float16_t x, float16_t y) { return number(x.v) < number(y.v); }
float32_t f64_to_f32(float64_t x) { double y; memcpy(&y, &x, 8); return out32((float)y); }
float64_t f32_to_f64(float32_t x) { double y = in32(x); float64_t z; memcpy(&z, &y, 8); return z; }
float32_t f32_add(float32_t x, float32_t y) { return out32(in32(x) + in32(y)); }
float32_t f32_mul(float32_t x, float32_t y) { return out32(in32(x) * in32(y)); }
bfloat16_t f32_to_bf16(float32_t x) { return (bfloat16_t){code(in32(x))}; }
float32_t bf16_to_f32(bfloat16_t x) { return out32(number(x.v)); }
