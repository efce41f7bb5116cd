// SPDX-License-Identifier: MIT
//
// Sums and products of 8-bit floats on a GPU, four codes in a word. Two of them
// at a time are decoded to binary16 (`F16x2`), which has the instructions:
//
//   word     dcba        codes
//   F16x2   b a, d c    a binary16 in each half of a register
//   result   dcba        rounded once more, to the format
//
// With p bits of significand, a sum or product that is rounded to binary16's 11
// >= 2p + 2 bits first is the one that is rounded once; where it is subnormal
// in the format, binary16 holds it exactly or is far from a tie. All pairs of
// codes are a test (test/Execution/nvptx-bytes.test).
//
// lib/Target/NVPTX/Bytes.cpp uses these instead of `numera_float_<op>_8`.

#include <stdint.h>

namespace {

using F16x2 = uint32_t;

struct Add {
  static F16x2 of(F16x2 a, F16x2 b) {
    F16x2 c;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
  }
};
struct Sub {
  static F16x2 of(F16x2 a, F16x2 b) {
    F16x2 c;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
  }
};
struct Mul {
  static F16x2 of(F16x2 a, F16x2 b) {
    F16x2 c;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
  }
};

/// Bytes of `a` (0 to 3) and `b` (4 to 7), one a digit of `places`.
uint32_t permute(uint32_t a, uint32_t b, uint32_t places) {
  uint32_t c;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(c) : "r"(a), "r"(b), "n"(places));
  return c;
}

/// All ones in each half that is a NaN.
uint32_t areNaN(F16x2 x) {
  uint32_t mask;
  asm("set.nan.u32.f16x2 %0, %1, %1;" : "=r"(mask) : "r"(x));
  return mask;
}

/// float<4,3,fn>, saturating, by the instructions of sm_89 and later: infinity
/// becomes the largest number, any NaN 0x7f.
struct E4M3 {
  static F16x2 decode(uint16_t codes) {
    F16x2 x;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(x) : "h"(codes));
    return x;
  }
  static uint16_t encode(F16x2 x) {
    uint16_t codes;
    asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(codes) : "r"(x));
    return codes;
  }
  template <typename OpKind> static uint32_t apply(uint32_t a, uint32_t b) {
    auto half = [](uint32_t x, int i) { return uint16_t(x >> 16 * i); };
    uint32_t low = encode(OpKind::of(decode(half(a, 0)), decode(half(b, 0))));
    uint32_t high = encode(OpKind::of(decode(half(a, 1)), decode(half(b, 1))));
    return low | high << 16;
  }
};

/// float<5,2>: the upper half of a binary16.
struct E5M2 {
  /// The code of each half in its upper byte; what is in the lower ones is
  /// open.
  static uint32_t round(F16x2 x) {
    // The carry runs into the exponent as it should. A NaN is replaced, and
    // nothing else is so large that it would run into the other half.
    uint32_t odd = x >> 8 & 0x00010001;
    uint32_t rounded = x + 0x007f007f + odd, isNaN = areNaN(x);
    return (rounded & ~isNaN) | (0x7e007e00 & isNaN);
  }
  template <typename OpKind> static uint32_t apply(uint32_t a, uint32_t b) {
    uint32_t low =
        round(OpKind::of(permute(a, 0, 0x1404), permute(b, 0, 0x1404)));
    uint32_t high =
        round(OpKind::of(permute(a, 0, 0x3424), permute(b, 0, 0x3424)));
    return permute(low, high, 0x7531);
  }
};

} // namespace

extern "C" {
#define NUMERA_INLINE __attribute__((always_inline))
#define NUMERA_BYTES(format, Format)                                           \
  NUMERA_INLINE uint32_t numera_bytes_add_##format(uint32_t a, uint32_t b) {   \
    return Format::apply<Add>(a, b);                                           \
  }                                                                            \
  NUMERA_INLINE uint32_t numera_bytes_sub_##format(uint32_t a, uint32_t b) {   \
    return Format::apply<Sub>(a, b);                                           \
  }                                                                            \
  NUMERA_INLINE uint32_t numera_bytes_mul_##format(uint32_t a, uint32_t b) {   \
    return Format::apply<Mul>(a, b);                                           \
  }
NUMERA_BYTES(e4m3, E4M3)
NUMERA_BYTES(e5m2, E5M2)
}
