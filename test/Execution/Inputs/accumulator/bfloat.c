/* SPDX-License-Identifier: MIT
 *
 * bf16 with an accumulator of its own: 640 bits of fixed point, of which the
 * last is 2^-266, so that no product of two numbers is ever rounded. Sums wrap
 * nowhere near: the largest product is below 2^256, and 2^100 of them fit.
 */
#include <stdint.h>

enum { WORDS = 10, LEAST = -266 };

typedef struct {
  uint64_t words[WORDS]; /* two's complement, the least first */
  uint32_t isNaN, begun;
} Sum;

uint16_t my_from(float x) {
  union {
    float value;
    uint32_t bits;
  } f = {.value = x};
  if (x != x)
    return 0x7fc0;
  return (uint16_t)((f.bits + 0x7fff + (f.bits >> 16 & 1)) >> 16);
}

float my_to(uint16_t code) {
  union {
    uint32_t bits;
    float value;
  } f = {.bits = (uint32_t)code << 16};
  return f.value;
}

void sum_init(Sum *sum) {
  for (int i = 0; i < WORDS; ++i)
    sum->words[i] = 0;
  sum->isNaN = 0;
  sum->begun = 42;
}

/* significand * 2^exponent, exactly. */
static void add_bits(Sum *sum, uint64_t significand, int exponent,
                     int negative) {
  int place = exponent - LEAST;
  uint64_t low = significand << place % 64;
  uint64_t high = place % 64 ? significand >> (64 - place % 64) : 0;
  uint64_t carry = 0;
  for (int i = 0; i < WORDS; ++i) {
    uint64_t part = i == place / 64       ? low
                    : i == place / 64 + 1 ? high
                                          : 0;
    if (negative) { /* - part - carry */
      uint64_t before = sum->words[i];
      uint64_t after = before - part;
      uint64_t borrow = before < part;
      borrow |= after < carry;
      sum->words[i] = after - carry;
      carry = borrow;
    } else {
      uint64_t after = sum->words[i] + part;
      uint64_t over = after < part;
      after += carry;
      over |= after < carry;
      sum->words[i] = after;
      carry = over;
    }
  }
}

static uint32_t significand(uint16_t code, int *exponent) {
  int field = code >> 7 & 0xff;
  *exponent = (field ? field : 1) - 127 - 7;
  return (code & 0x7f) | (field ? 0x80 : 0);
}

void sum_mac(Sum *sum, uint16_t a, uint16_t b) {
  /* Infinities end as NaN too. */
  if ((a >> 7 & 0xff) == 0xff || (b >> 7 & 0xff) == 0xff)
    sum->isNaN = 1;
  int ea, eb;
  uint32_t sa = significand(a, &ea), sb = significand(b, &eb);
  if (!sum->isNaN && sa && sb)
    add_bits(sum, (uint64_t)sa * sb, ea + eb, (a ^ b) >> 15 & 1);
}

#ifndef WITHOUT_ADD
void sum_add(Sum *sum, uint16_t x) { sum_mac(sum, x, 0x3f80); }
#endif

uint16_t sum_round(const Sum *sum) {
  if (sum->isNaN || sum->begun != 42)
    return 0x7fc0;
  Sum m = *sum;
  int negative = m.words[WORDS - 1] >> 63 & 1;
  if (negative) {
    uint64_t carry = 1;
    for (int i = 0; i < WORDS; ++i) {
      m.words[i] = ~m.words[i] + carry;
      carry = carry && m.words[i] == 0;
    }
  }
  int top = WORDS * 64 - 1;
  while (top >= 0 && !(m.words[top / 64] >> top % 64 & 1))
    --top;
  if (top < 0)
    return 0;
  /* The last place of a bf16 with that leading bit; subnormals have one. */
  int last = top - 7 < -133 - LEAST ? -133 - LEAST : top - 7;
  uint32_t kept = 0;
  for (int i = top; i >= last; --i)
    kept = kept << 1 | (uint32_t)(m.words[i / 64] >> i % 64 & 1);
  int half = 0, rest = 0;
  for (int i = 0; i < last; ++i) {
    rest |= half;
    half = (int)(m.words[i / 64] >> i % 64 & 1);
  }
  kept += half && (rest || (kept & 1));
  uint32_t field = (uint32_t)(last + LEAST + 133);
  uint32_t code = (field << 7) + kept;
  if (code > 0x7f80)
    code = 0x7f80;
  return (uint16_t)(code | (negative ? 0x8000 : 0));
}
