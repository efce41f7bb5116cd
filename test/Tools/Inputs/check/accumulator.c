/* SPDX-License-Identifier: MIT
 *
 * bf16 with sums in f32, and their faults: `cut_round` does not round, `add`
 * does not return at one code, `mac` ends the process at another; one leaves out
 * the third product.
 */
#include "bf16.h"

void sum_mac(float *sum, uint16_t x, uint16_t y) { *sum += b_to(x) * b_to(y); }
void sum_add(float *sum, uint16_t x) { *sum += b_to(x); }
uint16_t sum_round(const float *sum) { return b_from(*sum); }

uint16_t cut_round(const float *sum) {
  Number f = {.value = *sum};
  return f.value != f.value ? 0x7fc0 : (uint16_t)(f.bits >> 16);
}
void endless_add(float *sum, uint16_t x) {
  volatile int goesOn = x == 0x4049;
  while (goesOn)
    ;
  *sum += b_to(x);
}
void aborting_mac(float *sum, uint16_t x, uint16_t y) {
  if (x == 0x4049)
    abort();
  *sum += b_to(x) * b_to(y);
}
struct Counted {
  float sum;
  int terms;
};
void forgetful_mac(struct Counted *counted, uint16_t x, uint16_t y) {
  if (++counted->terms != 3)
    counted->sum += b_to(x) * b_to(y);
}
