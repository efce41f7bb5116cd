/* SPDX-License-Identifier: MIT
 *
 * A float of 32 bits with the exponents of IEEE's 128-bit format: 15 bits of
 * exponent, from 2^-16398 to 2^16384, and 16 of mantissa. No type of the
 * machine holds its numbers, so that everything is done on integers: unpack,
 * compute exactly or with a sticky bit, round once.
 */
#include <stdint.h>

typedef uint32_t Code;

enum { EXPONENT = 15, MANTISSA = 16, BIAS = 16383 };
static const Code SIGN = 0x80000000, INFINITY_CODE = 0x7fff0000,
                  NAN_CODE = 0x7fff8000;

/* significand * 2^(exponent - 63); the significand of a number has its first
 * bit at the top. */
typedef struct {
  uint64_t significand;
  int32_t exponent;
} Number;

static inline int is_nan(Code x) { return (x & ~SIGN) > INFINITY_CODE; }
static inline int is_infinite(Code x) { return (x & ~SIGN) == INFINITY_CODE; }
static inline int is_zero(Code x) { return (x & ~SIGN) == 0; }

static inline Number normalized(uint64_t significand, int32_t exponent) {
  int32_t zeros = __builtin_clzll(significand | 1);
  Number result = {significand << zeros, exponent - zeros};
  return result;
}

static inline Number unpack(Code x) {
  uint32_t field = (x & ~SIGN) >> MANTISSA, fraction = x & 0xffff;
  uint64_t hidden = field ? 0x10000 : 0;
  return normalized((hidden | fraction) << 47,
                    (int32_t)(field ? field : 1) - BIAS);
}

/* significand / 2^shift to nearest, ties to even, for a shift of at least 3.
 * The last bit of the significand may stand for anything nonzero below it. */
static inline uint64_t rounded(uint64_t significand, int32_t shift) {
  /* Two bits less, so that no shift is too far: at 65 all is below a half. */
  significand = significand >> 2 | ((significand & 3) != 0);
  shift = shift > 65 ? 63 : shift - 2;
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & (((uint64_t)1 << shift) - 1);
  uint64_t half = (uint64_t)1 << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

static inline Code pack(uint32_t sign, Number n) {
  int32_t field = n.exponent + BIAS; /* below 1: subnormal */
  uint64_t code =
      rounded(n.significand, 63 - MANTISSA + (field < 1 ? 1 - field : 0));
  /* A carry out of the mantissa is one more in the exponent, as it should. */
  code += field < 1 ? 0 : (uint64_t)(field - 1) << MANTISSA;
  code = code > INFINITY_CODE ? INFINITY_CODE : code;
  return (Code)code | sign;
}

Code wide32_neg(Code x) { return is_nan(x) ? NAN_CODE : x ^ SIGN; }

Code wide32_mul(Code x, Code y) {
  uint32_t sign = (x ^ y) & SIGN;
  Number a = unpack(x), b = unpack(y);
  /* 17 bits by 17, exactly. */
  uint64_t product = (a.significand >> 32) * (b.significand >> 32);
  Code result = pack(sign, normalized(product, a.exponent + b.exponent + 1));
  result = is_zero(x) || is_zero(y) ? sign : result;
  int invalid =
      (is_infinite(x) && is_zero(y)) || (is_zero(x) && is_infinite(y));
  result = is_infinite(x) || is_infinite(y) ? INFINITY_CODE | sign : result;
  return is_nan(x) || is_nan(y) || invalid ? NAN_CODE : result;
}

Code wide32_div(Code x, Code y) {
  uint32_t sign = (x ^ y) & SIGN;
  Number a = unpack(x), b = unpack(y);
  uint64_t divisor = (b.significand >> 32) | is_zero(y);
  uint64_t dividend = a.significand >> 1;
  uint64_t quotient = dividend / divisor; /* 31 or 32 bits */
  quotient = quotient << 2 | (dividend % divisor != 0);
  /* (a / 2) / (b / 2^32), times 4. */
  Code result = pack(sign, normalized(quotient, a.exponent - b.exponent + 30));
  result = is_infinite(x) || is_zero(y) ? INFINITY_CODE | sign : result;
  result = is_zero(x) || is_infinite(y) ? sign : result;
  int invalid =
      (is_zero(x) && is_zero(y)) || (is_infinite(x) && is_infinite(y));
  return is_nan(x) || is_nan(y) || invalid ? NAN_CODE : result;
}

Code wide32_add(Code x, Code y) {
  /* x the larger magnitude. */
  Code low = (x & ~SIGN) < (y & ~SIGN) ? x : y;
  Code high = low == x ? y : x;
  Number a = unpack(high), b = unpack(low);
  /* Room for a carry; what is shifted out goes to the last bit. */
  int32_t distance = a.exponent - b.exponent;
  distance = distance > 62 ? 62 : distance;
  uint64_t augend = a.significand >> 1, addend = b.significand >> 1;
  uint64_t lost = addend & (((uint64_t)1 << distance) - 1);
  addend = addend >> distance | (lost != 0);
  addend = is_zero(low) ? 0 : addend;
  uint64_t sum = (x ^ y) & SIGN ? augend - addend : augend + addend;
  Code result = pack(high & SIGN, normalized(sum, a.exponent + 1));
  /* An exact zero is positive, unless both were negative. */
  result = sum == 0 ? x & y & SIGN : result;
  result = is_infinite(high) ? high : result;
  int invalid = is_infinite(x) && is_infinite(y) && x != y;
  return is_nan(x) || is_nan(y) || invalid ? NAN_CODE : result;
}

Code wide32_sub(Code x, Code y) { return wide32_add(x, wide32_neg(y)); }

Code wide32_max(Code x, Code y) {
  int32_t a = (int32_t)(x & SIGN ? ~(x & ~SIGN) : x);
  int32_t b = (int32_t)(y & SIGN ? ~(y & ~SIGN) : y);
  return is_nan(x) || is_nan(y) ? NAN_CODE : a < b ? y : x;
}

typedef union {
  float value;
  uint32_t bits;
} Float;

/* Every float's exponent fits; of its mantissa, 7 bits are rounded away. */
Code wide32_from_f32(float value) {
  Float f = {.value = value};
  uint32_t magnitude = f.bits & ~SIGN, sign = f.bits & SIGN;
  uint32_t field = magnitude >> 23;
  uint64_t significand = (magnitude & 0x7fffff) | (field ? 0x800000 : 0);
  Number n = normalized(significand << 40, (int32_t)(field ? field : 1) - 127);
  Code result = magnitude == 0 ? sign : pack(sign, n);
  result = magnitude == 0x7f800000 ? INFINITY_CODE | sign : result;
  return magnitude > 0x7f800000 ? NAN_CODE : result;
}

/* The mantissa fits; exponents may not, and what is subnormal as a float is
 * rounded. */
float wide32_to_f32(Code x) {
  Number n = unpack(x);
  int32_t field = n.exponent + 127;
  uint64_t code = rounded(n.significand, 40 + (field < 1 ? 1 - field : 0));
  code += field < 1 ? 0 : (uint64_t)(field - 1) << 23;
  code = code > 0x7f800000 ? 0x7f800000 : code;
  code = is_zero(x) ? 0 : code;
  Float f = {.bits = is_infinite(x) ? 0x7f800000 : (uint32_t)code};
  f.bits |= x & SIGN;
  f.bits = is_nan(x) ? 0x7fc00000 : f.bits;
  return f.value;
}
