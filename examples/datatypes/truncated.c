/* SPDX-License-Identifier: MIT
 *
 * bfloat16 with a cheaper multiplier: it drops the last DROP bits of its
 * operands' significands before it multiplies, and rounds the product of what
 * is left. The same datapath without any C is `datapath` in formats.yaml.
 */
#define EXPONENT 8
#define MANTISSA 7
#define CODE uint16_t
#include "small_float.h"

#ifndef DROP
#define DROP 3
#endif

/* Toward zero; an operand that is infinite or NaN stays. */
static inline CODE dropped(CODE code) {
  int special = (code & (SIGN - 1)) >= INFINITY_CODE;
  return special ? code : (CODE)(code >> DROP << DROP);
}

float truncated_to_f32(CODE x) { return (float)decode(x); }
CODE truncated_from_f32(float x) { return encode(x); }
CODE truncated_mul(CODE x, CODE y) {
  return encode(decode(dropped(x)) * decode(dropped(y)));
}
CODE truncated_add(CODE x, CODE y) { return encode(decode(x) + decode(y)); }
CODE truncated_sub(CODE x, CODE y) { return encode(decode(x) - decode(y)); }
CODE truncated_div(CODE x, CODE y) { return encode(decode(x) / decode(y)); }
CODE truncated_max(CODE x, CODE y) { return larger(x, y); }
CODE truncated_neg(CODE x) { return canonical(x ^ SIGN); }
