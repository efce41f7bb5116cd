/* SPDX-License-Identifier: MIT
 *
 * A float of 24 bits, 7 of them exponent and 16 mantissa, as early graphics
 * processors computed in. No integer of C has 24 bits: codes are stored in 32,
 * whose upper bits are zero.
 */
#define EXPONENT 7
#define MANTISSA 16
#define CODE uint32_t
#include "small_float.h"

float float24_to_f32(CODE x) { return (float)decode(x); }
CODE float24_from_f32(float x) { return encode(x); }
CODE float24_add(CODE x, CODE y) { return encode(decode(x) + decode(y)); }
CODE float24_sub(CODE x, CODE y) { return encode(decode(x) - decode(y)); }
CODE float24_mul(CODE x, CODE y) { return encode(decode(x) * decode(y)); }
CODE float24_div(CODE x, CODE y) { return encode(decode(x) / decode(y)); }
CODE float24_max(CODE x, CODE y) { return larger(x, y); }
CODE float24_neg(CODE x) { return canonical(x ^ SIGN); }
