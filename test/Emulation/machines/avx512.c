/* SPDX-License-Identifier: MIT
 *
 * The instructions of AVX-512 that lib/Target selects by LLVM's intrinsics, one
 * lane after the other, for CPUs that have none of them. Each is written from
 * the operation that Intel's Software Developer's Manual gives for it (volume
 * 2, by the instruction's name), with the default MXCSR: no denormals are zero,
 * but for vcvtneps2bf16, which takes them for it.
 *
 * Operands and results are in memory, the result first; a mask has a bit for
 * each lane. avx512.py puts a call in place of each intrinsic.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define QUIET 0x00400000u

static uint32_t bitsOf(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float floatOf(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t bitsOfDouble(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double doubleOf(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* vpermps, vpermd, vpermw, vpermb: an entry of `a` for each index. */
#define PERMUTE(name, type, index, lanes)                                      \
  void name(type *out, const type *a, const index *at) {                       \
    for (int i = 0; i < lanes; ++i)                                            \
      out[i] = a[at[i] & (lanes - 1)];                                         \
  }
PERMUTE(llvm_x86_avx512_permvar_sf_512, float, uint32_t, 16)
PERMUTE(llvm_x86_avx512_permvar_si_512, uint32_t, uint32_t, 16)
PERMUTE(llvm_x86_avx512_permvar_hi_512, uint16_t, uint16_t, 32)
PERMUTE(llvm_x86_avx512_permvar_qi_512, uint8_t, uint8_t, 64)

/* vpermi2ps, vpermi2d, vpermi2b: of `a` or, by the index's next bit, of `b`. */
#define PERMUTE2(name, type, index, lanes)                                     \
  void name(type *out, const type *a, const index *at, const type *b) {        \
    for (int i = 0; i < lanes; ++i)                                            \
      out[i] = (at[i] & lanes ? b : a)[at[i] & (lanes - 1)];                   \
  }
PERMUTE2(llvm_x86_avx512_vpermi2var_ps_512, float, uint32_t, 16)
PERMUTE2(llvm_x86_avx512_vpermi2var_d_512, uint32_t, uint32_t, 16)
PERMUTE2(llvm_x86_avx512_vpermi2var_qi_512, uint8_t, uint8_t, 64)

/* vpmulhuw */
void llvm_x86_avx512_pmulhu_w_512(uint16_t *out, const uint16_t *a,
                                  const uint16_t *b) {
  for (int i = 0; i < 32; ++i)
    out[i] = (uint16_t)((uint32_t)a[i] * b[i] >> 16);
}

/* vfpclassps: whether a lane is of one of the classes. */
void llvm_x86_avx512_fpclass_ps_512(uint16_t *out, const float *a,
                                    const uint32_t *classes) {
  *out = 0;
  for (int i = 0; i < 16; ++i) {
    uint32_t bits = bitsOf(a[i]), magnitude = bits & 0x7fffffff;
    bool isNegative = bits >> 31, isNaN = magnitude > 0x7f800000;
    bool isInfinite = magnitude == 0x7f800000, isZero = magnitude == 0;
    bool is[8] = {isNaN && (bits & QUIET),
                  isZero && !isNegative,
                  isZero && isNegative,
                  isInfinite && !isNegative,
                  isInfinite && isNegative,
                  !isZero && magnitude < 0x00800000,
                  isNegative && !isZero && magnitude < 0x7f800000,
                  isNaN && !(bits & QUIET)};
    for (int k = 0; k < 8; ++k)
      if (is[k] && (*classes >> k & 1))
        *out |= (uint16_t)(1u << i);
  }
}

static uint16_t bfloatOf(float x) {
  uint32_t bits = bitsOf(x), magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return (uint16_t)(bits >> 16 | 0x40);
  if (magnitude < 0x00800000)
    return (uint16_t)(bits >> 16 & 0x8000);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* vcvtneps2bf16 */
void llvm_x86_avx512bf16_cvtneps2bf16_512(uint16_t *out, const float *a) {
  for (int i = 0; i < 16; ++i)
    out[i] = bfloatOf(a[i]);
}

/* vcvtne2ps2bf16: the second operand has the low lanes. */
void llvm_x86_avx512bf16_cvtne2ps2bf16_512(uint16_t *out, const float *a,
                                           const float *b) {
  for (int i = 0; i < 16; ++i) {
    out[i] = bfloatOf(b[i]);
    out[16 + i] = bfloatOf(a[i]);
  }
}

/* vrangeps, vrangepd: RangeSP and RangeDP. */
#define RANGE_OF(name, type, word, toBits, fromBits, quiet, signBit)           \
  static type name(type a, type b, uint32_t control) {                         \
    word bitsA = toBits(a), bitsB = toBits(b);                                 \
    if (isnan(a) && !(bitsA & quiet))                                          \
      return fromBits(bitsA | quiet);                                          \
    if (isnan(b) && !(bitsB & quiet))                                          \
      return fromBits(bitsB | quiet);                                          \
    type x = control & 2 ? fromBits(bitsA & ~signBit) : a;                     \
    type y = control & 2 ? fromBits(bitsB & ~signBit) : b;                     \
    bool takesFirst = isnan(b) || (!isnan(a) && (x <= y) != (control & 1));    \
    word result = takesFirst ? bitsA : bitsB;                                  \
    switch (control >> 2 & 3) {                                                \
    case 0:                                                                    \
      return fromBits((bitsA & signBit) | (result & ~signBit));                \
    case 1:                                                                    \
      return fromBits(result);                                                 \
    case 2:                                                                    \
      return fromBits(result & ~signBit);                                      \
    default:                                                                   \
      return fromBits(result | signBit);                                       \
    }                                                                          \
  }
RANGE_OF(rangeOf, float, uint32_t, bitsOf, floatOf, QUIET, 0x80000000u)
RANGE_OF(rangeOfDouble, double, uint64_t, bitsOfDouble, doubleOf,
         UINT64_C(0x0008000000000000), UINT64_C(0x8000000000000000))

#define RANGE(name, type, function, lanes, mask)                               \
  void name(type *out, const type *a, const type *b, const uint32_t *control,  \
            const type *kept, const mask *on) {                                \
    for (int i = 0; i < lanes; ++i)                                            \
      out[i] = *on >> i & 1 ? function(a[i], b[i], *control) : kept[i];        \
  }
RANGE(llvm_x86_avx512_mask_range_ps_128, float, rangeOf, 4, uint8_t)
RANGE(llvm_x86_avx512_mask_range_ps_256, float, rangeOf, 8, uint8_t)
RANGE(llvm_x86_avx512_mask_range_ps_512, float, rangeOf, 16, uint16_t)
RANGE(llvm_x86_avx512_mask_range_pd_128, double, rangeOfDouble, 2, uint8_t)
RANGE(llvm_x86_avx512_mask_range_pd_256, double, rangeOfDouble, 4, uint8_t)
RANGE(llvm_x86_avx512_mask_range_pd_512, double, rangeOfDouble, 8, uint8_t)

/* vfixupimmps, vfixupimmpd: FIXUPIMM_SP and FIXUPIMM_DP. The first operand is
 * the destination; the table has a digit for each class of the second. */
#define FIXUP_OF(name, type, word, toBits, fromBits, quiet, signBit, most)     \
  static type name(type kept, type x, word table) {                            \
    word bits = toBits(x);                                                     \
    int class = isnan(x)            ? !(bits & quiet)                          \
                : x == 0            ? 2                                        \
                : x == 1            ? 3                                        \
                : isinf(x) && x < 0 ? 4                                        \
                : isinf(x)          ? 5                                        \
                : bits & signBit    ? 6                                        \
                                    : 7;                                       \
    switch (table >> 4 * class & 15) {                                         \
    case 0:                                                                    \
      return kept;                                                             \
    case 1:                                                                    \
      return x;                                                                \
    case 2:                                                                    \
      return fromBits(bits | toBits((type)INFINITY) | quiet);                  \
    case 3:                                                                    \
      return fromBits(signBit | toBits((type)INFINITY) | quiet);               \
    case 4:                                                                    \
      return -(type)INFINITY;                                                  \
    case 5:                                                                    \
      return (type)INFINITY;                                                   \
    case 6:                                                                    \
      return bits & signBit ? -(type)INFINITY : (type)INFINITY;                \
    case 7:                                                                    \
      return (type) - 0.0;                                                     \
    case 8:                                                                    \
      return 0;                                                                \
    case 9:                                                                    \
      return -1;                                                               \
    case 10:                                                                   \
      return 1;                                                                \
    case 11:                                                                   \
      return (type)0.5;                                                        \
    case 12:                                                                   \
      return 90;                                                               \
    case 13:                                                                   \
      return (type)1.57079632679489661923;                                     \
    case 14:                                                                   \
      return most;                                                             \
    default:                                                                   \
      return -most;                                                            \
    }                                                                          \
  }
FIXUP_OF(fixupOf, float, uint32_t, bitsOf, floatOf, QUIET, 0x80000000u,
         3.40282346638528859812e38f)
FIXUP_OF(fixupOfDouble, double, uint64_t, bitsOfDouble, doubleOf,
         UINT64_C(0x0008000000000000), UINT64_C(0x8000000000000000),
         1.79769313486231570815e308)

#define FIXUP(name, type, word, function, lanes, mask)                         \
  void name(type *out, const type *kept, const type *x, const word *table,     \
            const uint32_t *flags, const mask *on) {                           \
    (void)flags;                                                               \
    for (int i = 0; i < lanes; ++i)                                            \
      out[i] = *on >> i & 1 ? function(kept[i], x[i], table[i]) : kept[i];     \
  }
FIXUP(llvm_x86_avx512_mask_fixupimm_ps_128, float, uint32_t, fixupOf, 4,
      uint8_t)
FIXUP(llvm_x86_avx512_mask_fixupimm_ps_256, float, uint32_t, fixupOf, 8,
      uint8_t)
FIXUP(llvm_x86_avx512_mask_fixupimm_ps_512, float, uint32_t, fixupOf, 16,
      uint16_t)
FIXUP(llvm_x86_avx512_mask_fixupimm_pd_128, double, uint64_t, fixupOfDouble, 2,
      uint8_t)
FIXUP(llvm_x86_avx512_mask_fixupimm_pd_256, double, uint64_t, fixupOfDouble, 4,
      uint8_t)
FIXUP(llvm_x86_avx512_mask_fixupimm_pd_512, double, uint64_t, fixupOfDouble, 8,
      uint8_t)

/* vfmadd231ph and scalars: rounded once. The product is exact in f64; the sum
 * is rounded there to odd, of which f16 has 40 bits less. LLVM would compute it
 * in f32, and round twice. */
static _Float16 fusedOf(_Float16 a, _Float16 b, _Float16 c) {
  double product = (double)a * b, sum = product + c;
  double virtual = sum - product;
  double error = (product - (sum - virtual)) + ((double)c - virtual);
  if (!isfinite(sum) || error == 0)
    return (_Float16)sum;
  uint64_t bits = bitsOfDouble(sum);
  if (!(bits & 1)) /* between `sum` and its neighbour on the error's side */
    bits += (error > 0) == (sum > 0) ? 1 : -UINT64_C(1);
  return (_Float16)doubleOf(bits);
}

#define FUSED(name, lanes)                                                     \
  void name(_Float16 *out, const _Float16 *a, const _Float16 *b,               \
            const _Float16 *c) {                                               \
    for (int i = 0; i < lanes; ++i)                                            \
      out[i] = fusedOf(a[i], b[i], c[i]);                                      \
  }
FUSED(llvm_fma_f16, 1)
FUSED(llvm_fma_v2f16, 2)
FUSED(llvm_fma_v4f16, 4)
FUSED(llvm_fma_v8f16, 8)
FUSED(llvm_fma_v16f16, 16)
FUSED(llvm_fma_v32f16, 32)
FUSED(llvm_fma_v64f16, 64)
