// SPDX-License-Identifier: MIT
//
// A quicker phase of the error function for codes of binary32, as
// SingleExponential.h has one of e^x: binary32 operations only, fused where
// that is written.
//
//     |x| = at + h,  at = k / 16,  |h| <= 2^-5,  D = 2/sqrt(pi) e^(-at^2)
//     erf |x| = erf at + D h (1 - at h + q),  by Taylor's series in h:
//     q = h^2 (c2 + c3 h + c4 h^2 + c5 h^3 + ...), and the factor of h^n is
//     (-1)^n H_n(at) / (n + 1)!, H_n Hermite's polynomials
//
// erf at and D stand in tables, each as a number and what it is less than the
// exact one, which together are within 2^-49 of it. The error of what is
// rounded, against erf |x|, in units of 2^-24 h^2 (t is D h, which is at most
// 1.001 erf |x|; u is 2^-24):
//
//   h      exact: |x| and at are multiples of the last place of |x|     0
//   t      t + slopeRest is D h within 2^-47                            0
//   at h   product + productRest, times t is bend + bendRest: exact     0
//   q      c2 (at most 1/3 in |x| < 1; beyond, t c2 is less than a
//          third of erf |x|), its 1/3, the sum with h c3, h^2 and the
//          product are rounded                                          1.35
//   c6     is missing: t h^6 / 42, h <= 2^-5                            0.38
//   rest   slopeRest q is missing, slopeRest below 2 u t                0.67
//          two sums of t q and less are rounded                         0.67
//   sums   Fast2Sum (Dekker, 1971), of numbers that fall or are 0: the
//          rests have what the sums lost                                0
//
// together less than 3.08. The margin is 3.5 of them and 2^-42, for what does
// not shrink with h: roundings of rests, which are below 2^-22 (the sums with
// them lose 2^-46 each), and the tables. So the exact value lies between what
// `low` and `high` are rounded from.

#ifndef NUMERA_NUMERICS_ELEMENTARY_SINGLEERRORFUNCTION_H
#define NUMERA_NUMERICS_ELEMENTARY_SINGLEERRORFUNCTION_H

#include "numera/Numerics/Elementary/SingleExponential.h"

namespace numera::single {

namespace detail {
/// erf(k / 16), and D there.
inline constexpr float errorFunctions[64] = {
    0x0p+0f,        0x1.207d48p-4f, 0x1.1f5e1ap-3f, 0x1.ac45e4p-3f,
    0x1.1af54ep-2f, 0x1.5da9f4p-2f, 0x1.9dd0d2p-2f, 0x1.db081cp-2f,
    0x1.0a7ef6p-1f, 0x1.25b8a8p-1f, 0x1.3f196ep-1f, 0x1.569244p-1f,
    0x1.6c1c98p-1f, 0x1.7fb9cp-1f,  0x1.91724ap-1f, 0x1.a1551ap-1f,
    0x1.af767ap-1f, 0x1.bbef1p-1f,  0x1.c6dad2p-1f, 0x1.d0580cp-1f,
    0x1.d8865ep-1f, 0x1.df85eap-1f, 0x1.e5768cp-1f, 0x1.ea773p-1f,
    0x1.eea556p-1f, 0x1.f21cap-1f,  0x1.f4f694p-1f, 0x1.f74a6ep-1f,
    0x1.f92d08p-1f, 0x1.fab0dep-1f, 0x1.fbe61ep-1f, 0x1.fcdaccp-1f,
    0x1.fd9ae2p-1f, 0x1.fe308p-1f,  0x1.fea422p-1f, 0x1.fefccep-1f,
    0x1.ff4048p-1f, 0x1.ff7338p-1f, 0x1.ff996p-1f,  0x1.ffb5bep-1f,
    0x1.ffcaa8p-1f, 0x1.ffd9f8p-1f, 0x1.ffe514p-1f, 0x1.ffed16p-1f,
    0x1.fff2dp-1f,  0x1.fff6dep-1f, 0x1.fff9bap-1f, 0x1.fffbb8p-1f,
    0x1.fffd1ap-1f, 0x1.fffe0ep-1f, 0x1.fffeb4p-1f, 0x1.ffff24p-1f,
    0x1.ffff7p-1f,  0x1.ffffa2p-1f, 0x1.ffffc4p-1f, 0x1.ffffd8p-1f,
    0x1.ffffe8p-1f, 0x1.fffffp-1f,  0x1.fffff6p-1f, 0x1.fffffap-1f,
    0x1.fffffcp-1f, 0x1.fffffep-1f, 0x1.fffffep-1f, 0x1p+0f};
inline constexpr float errorFunctionTails[64] = {
    0x0p+0f,          0x1.d20cbp-33f,   0x1.ae1dc4p-30f,  -0x1.003b5cp-28f,
    0x1.196b04p-29f,  0x1.5ff23ep-30f,  0x1.6e43e8p-27f,  0x1.cdc548p-27f,
    -0x1.f38916p-28f, 0x1.16dbbp-26f,   -0x1.978766p-28f, -0x1.6a62b2p-28f,
    -0x1.4c5e34p-26f, -0x1.449fe2p-27f, -0x1.5c8e08p-26f, 0x1.6aaebp-29f,
    0x1.d04222p-27f,  -0x1.086778p-27f, 0x1.053d8cp-26f,  -0x1.a605b6p-26f,
    -0x1.9d508p-27f,  0x1.1b6312p-26f,  0x1.da51fep-28f,  0x1.da1778p-26f,
    -0x1.1d90a4p-26f, -0x1.da1f32p-26f, -0x1.2610a2p-27f, -0x1.971f2p-27f,
    -0x1.00e552p-26f, -0x1.d8bb3ep-27f, 0x1.de99eep-26f,  0x1.417f6ep-26f,
    -0x1.7b0d44p-26f, -0x1.a95f86p-26f, -0x1.ca69aep-27f, 0x1.a04e5cp-27f,
    -0x1.3f9ccap-26f, 0x1.4af88cp-29f,  0x1.e7d664p-26f,  -0x1.300322p-30f,
    0x1.e9937ep-26f,  -0x1.ce2b6ep-27f, 0x1.77b832p-26f,  0x1.ec4abp-27f,
    -0x1.3eeb0ap-27f, 0x1.d126a6p-26f,  0x1.083a0ep-27f,  0x1.e20938p-26f,
    0x1.8826cp-26f,   0x1.40856ep-33f,  -0x1.44d984p-29f, 0x1.b510eep-28f,
    -0x1.82606ap-27f, -0x1.0b9d3ep-28f, -0x1.d24c26p-26f, 0x1.c345e4p-26f,
    -0x1.de5534p-26f, 0x1.cfcf48p-28f,  0x1.8c3da6p-29f,  -0x1.5dc99ap-28f,
    0x1.78b8f2p-28f,  -0x1.5e4156p-27f, 0x1.259db2p-26f,  -0x1.b9823cp-26f};
inline constexpr float errorSlopes[64] = {
    0x1.20dd76p+0f,  0x1.1fbd28p+0f,  0x1.1c62fap+0f,  0x1.16e2d8p+0f,
    0x1.0f5d16p+0f,  0x1.05fd3ep+0f,  0x1.f5f0cep-1f,  0x1.dd167cp-1f,
    0x1.c1efcap-1f,  0x1.a5074ep-1f,  0x1.86e96ap-1f,  0x1.681ff2p-1f,
    0x1.492e42p-1f,  0x1.2a8dcep-1f,  0x1.0cab62p-1f,  0x1.dfca26p-2f,
    0x1.a911fp-2f,   0x1.75a91ap-2f,  0x1.45e99cp-2f,  0x1.1a0dc6p-2f,
    0x1.e4653p-3f,   0x1.9cb5bep-3f,  0x1.5ce596p-3f,  0x1.24a7b8p-3f,
    0x1.e72372p-4f,  0x1.92470ap-4f,  0x1.499d48p-4f,  0x1.0bf97ep-4f,
    0x1.b0553p-5f,   0x1.5a08e8p-5f,  0x1.12ceb4p-5f,  0x1.b1160ap-6f,
    0x1.529b9ep-6f,  0x1.06ae14p-6f,  0x1.94624ep-7f,  0x1.34d7dcp-7f,
    0x1.d4143ap-8f,  0x1.5ff276p-8f,  0x1.06918cp-8f,  0x1.84ba3p-9f,
    0x1.1d8318p-9f,  0x1.a02436p-10f, 0x1.2ce898p-10f, 0x1.afc85ep-11f,
    0x1.3360ccp-11f, 0x1.b23a5ap-12f, 0x1.30539p-12f,  0x1.a74068p-13f,
    0x1.2408eap-13f, 0x1.8fdc1cp-14f, 0x1.0f9e1cp-14f, 0x1.6e2368p-15f,
    0x1.e9b5e8p-16f, 0x1.44f21ep-16f, 0x1.abe09ep-17f, 0x1.1783cep-17f,
    0x1.6a5972p-18f, 0x1.d21398p-19f, 0x1.296a7p-19f,  0x1.789fb8p-20f,
    0x1.d9371ep-21f, 0x1.26f9ep-21f,  0x1.6ce1aap-22f, 0x1.bfd756p-23f};
inline constexpr float errorSlopeTails[64] = {
    -0x1.f7ac92p-25f, -0x1.91c696p-27f, 0x1.e869b6p-28f,  -0x1.ed864ep-25f,
    0x1.7bf206p-31f,  0x1.97d852p-25f,  -0x1.43ab3cp-27f, 0x1.33e74ap-27f,
    0x1.269404p-27f,  0x1.0abb1p-28f,   -0x1.7d968cp-26f, 0x1.2d2acp-27f,
    0x1.af1a58p-26f,  0x1.bc6ce8p-26f,  -0x1.ef68dap-30f, 0x1.eb77fp-27f,
    0x1.2df784p-27f,  0x1.fd34bcp-28f,  -0x1.a24376p-29f, -0x1.cacd96p-27f,
    -0x1.48d254p-29f, -0x1.56c9dep-28f, -0x1.dd527ap-30f, 0x1.34e25cp-29f,
    0x1.ae092ap-30f,  0x1.86da5ap-30f,  -0x1.d0d632p-30f, 0x1.2be54cp-29f,
    0x1.91080ap-32f,  0x1.6bc9f8p-31f,  -0x1.000c88p-30f, -0x1.b80232p-32f,
    0x1.19f344p-31f,  -0x1.3cb36ap-32f, 0x1.e383ecp-33f,  -0x1.c4940ep-34f,
    0x1.3bfd2cp-33f,  -0x1.e030fcp-33f, -0x1.39553cp-33f, 0x1.29434p-39f,
    -0x1.e0812p-34f,  0x1.7ddc7p-36f,   0x1.01248ap-35f,  0x1.f05c24p-40f,
    0x1.a47b68p-36f,  0x1.1f2108p-39f,  -0x1.12204cp-38f, 0x1.009956p-39f,
    -0x1.17336p-39f,  -0x1.a46108p-39f, -0x1.645924p-39f, -0x1.1ec036p-42f,
    0x1.a019cep-41f,  0x1.24153cp-42f,  0x1.22896cp-42f,  0x1.585122p-42f,
    0x1.9a93dap-46f,  -0x1.526636p-47f, 0x1.e8280ap-44f,  -0x1.d4aa2ep-45f,
    0x1.7fbe1ap-48f,  -0x1.eb990ap-47f, 0x1.febdeep-49f,  -0x1.4b8852p-48f};
} // namespace detail

/// From here on, erf x is nearer to 1 than to the number below it.
inline constexpr float erfSaturates = 3.9375f;
/// Below, rests of products may underflow.
inline constexpr float erfLeast = 0x1p-60f;

/// For |x| from erfLeast to erfSaturates, and 0.
inline Ends erf(float x) {
#pragma clang fp contract(off)
  constexpr float shifter = 0x1.8p23f, margin = 0x1.cp-23f, rests = 0x1p-42f;
  float magnitude = __builtin_fabsf(x);
  // In between, k stands in the low bits.
  float shifted = __builtin_fmaf(magnitude, 16.0f, shifter);
  uint32_t k = __builtin_bit_cast(uint32_t, shifted) & 63;
  float at = (shifted - shifter) * 0.0625f, h = magnitude - at;
  float value = detail::errorFunctions[k], slope = detail::errorSlopes[k];
  float product = at * h, productRest = __builtin_fmaf(at, h, -product);
  float t = slope * h;
  float slopeRest = __builtin_fmaf(detail::errorSlopeTails[k], h,
                                   __builtin_fmaf(slope, h, -t));
  float bend = t * product, bendRest = __builtin_fmaf(t, product, -bend);
  float square = at * at;
  float c5 = __builtin_fmaf(square, -4.0f / 90, 20.0f / 90);
  c5 = at * __builtin_fmaf(square, c5, -15.0f / 90);
  float c4 = __builtin_fmaf(square, 4.0f / 30, -12.0f / 30);
  c4 = __builtin_fmaf(square, c4, 3.0f / 30);
  float c3 = at * __builtin_fmaf(square, -1.0f / 3, 0.5f);
  float c2 = __builtin_fmaf(square, 2.0f / 3, -1.0f / 3);
  float q = __builtin_fmaf(h, __builtin_fmaf(h, c5, c4), c3);
  float stepSquare = h * h;
  q = __builtin_fmaf(h, q, c2) * stepSquare;
  float risen = value + t, risenRest = (value - risen) + t;
  float sum = risen - bend, sumRest = (risen - sum) - bend;
  float rest = __builtin_fmaf(-product, slopeRest, slopeRest);
  rest = __builtin_fmaf(-t, productRest, rest) - bendRest;
  rest = rest + (risenRest + sumRest + detail::errorFunctionTails[k]);
  rest = __builtin_fmaf(t, q, rest);
  float off = sum * __builtin_fmaf(stepSquare, margin, rests);
  float low = sum + (rest - off), high = sum + (rest + off);
  uint32_t sign = __builtin_bit_cast(uint32_t, x) & 0x8000'0000u;
  return {__builtin_bit_cast(uint32_t, low) | sign,
          __builtin_bit_cast(uint32_t, high) | sign};
}

} // namespace numera::single

#endif // NUMERA_NUMERICS_ELEMENTARY_SINGLEERRORFUNCTION_H
