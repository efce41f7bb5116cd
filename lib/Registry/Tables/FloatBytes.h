// SPDX-License-Identifier: MIT
//
// Programs on bytes for floats of 8 bits (ByteProgram.h).

#ifndef NUMERA_LIB_REGISTRY_TABLES_FLOATBYTES_H
#define NUMERA_LIB_REGISTRY_TABLES_FLOATBYTES_H

#include "numera/Numerics/Formats/Float.h"
#include "numera/Registry/Formats/OpKind.h"
#include "numera/Registry/Tables/ByteProgram.h"

namespace numera {

/// The magnitude codes of a float of 8 bits as numbers that grow by
/// 2^mantissaBits from binade to binade throughout: subnormal ones as if the
/// exponent field went on below 1. Sums and differences of such numbers are
/// products and quotients but for the significands' part.
struct ExtendedCodes {
  explicit ExtendedCodes(const FloatFormat &f) : f(f) {}

  static constexpr unsigned count = 128;

  /// Of a code of a finite number that is not 0.
  int of(unsigned code) const {
    int field = static_cast<int>(code >> f.mantissaBits);
    if (field != 0)
      return static_cast<int>(code);
    int top = 31 - __builtin_clz(code), missing = f.mantissaBits - top;
    return (1 - missing) * one() + static_cast<int>(code << missing) - one();
  }
  /// The significand's bits behind the first.
  int fraction(unsigned code) const { return of(code) & (one() - 1); }
  int one() const { return 1 << f.mantissaBits; }
  int least() const { return of(1); }
  int most() const { return static_cast<int>(f.maxCode()); }
  bool isFinite(unsigned code) const { return code <= f.maxCode(); }
  bool isInfinite(unsigned code) const {
    return f.hasInfinity() && code == f.infinityCode();
  }
  unsigned nan() const { return static_cast<unsigned>(f.nanCode()); }

  FloatFormat f;
};

/// True if the format is one that programs are made for.
bool hasBytePrograms(const FloatFormat &f);

/// A program for `mul` or `div`, or for `add` or `sub`, whose results on all
/// pairs of codes are `results`; nullopt where the method does not give them.
std::optional<ByteProgram> productOnBytes(const FloatFormat &f,
                                          OpKind operation,
                                          std::span<const uint8_t> results);
std::optional<ByteProgram> sumOnBytes(const FloatFormat &f, OpKind operation,
                                      std::span<const uint8_t> results);

} // namespace numera

#endif // NUMERA_LIB_REGISTRY_TABLES_FLOATBYTES_H
