// SPDX-License-Identifier: MIT
//
// What the tests of the numerics hold the library against: a second
// implementation of the formats and of rounding that shares nothing with it.
// Codes are decoded by the formulas of the format's definition into MPFR
// numbers, MPFR computes, and a result is placed between two neighbours by
// bisecting the codes. No file of the library is included here.

#ifndef NUMERA_TEST_UNIT_ORACLE_H
#define NUMERA_TEST_UNIT_ORACLE_H

#include <mpfr.h>

#include <cstdint>
#include <vector>

namespace oracle {

/// Wide enough for the magnitude above the largest of 64 bits.
using Magnitude = unsigned __int128;

enum class Mode {
  NearestEven,
  NearestAway,
  NearestZero,
  TowardZero,
  Up,
  Down,
  ToOdd,
};
enum class Family { Float, Posit, Takum, Fixed };
enum class Specials { Ieee, Fn, Fnuz, Finite, Fnu, P3109, P3109Finite };
enum class Overflow { Infinity, Saturate, Propagate, Wrap };

/// A format as data. `family` selects which fields count.
struct Format {
  Family family = Family::Float;
  int bits = 0; // posit, takum
  int es = 0;   // posit
  int exponentBits = 0;
  int mantissaBits = 0;
  int bias = 0;
  Specials specials = Specials::Ieee;
  bool hasSubnormals = true;
  int integerBits = 0; // fixed
  int fractionBits = 0;
  bool isSigned = true; // float, fixed
  Overflow overflow = Overflow::Infinity;
  /// For operations that do not overflow: an infinity is one operand's.
  bool keepsInfinities = false;

  /// One code for each real projective number: NaR, two's complement, and
  /// rounding on the bit string.
  bool isTapered() const {
    return family == Family::Posit || family == Family::Takum;
  }
  bool isP3109() const {
    return family == Family::Float &&
           (specials == Specials::P3109 || specials == Specials::P3109Finite);
  }
};

/// Enough for the product of two posit<64,0> and a sticky bit behind it.
inline constexpr mpfr_prec_t widePrecision = 192;

/// An MPFR number that cleans up after itself.
class Real {
public:
  explicit Real(mpfr_prec_t precision = widePrecision) {
    mpfr_init2(number, precision);
    mpfr_set_zero(number, 1);
  }
  Real(const Real &other) {
    mpfr_init2(number, mpfr_get_prec(other.number));
    mpfr_set(number, other.number, MPFR_RNDN);
  }
  Real &operator=(const Real &) = delete;
  ~Real() { mpfr_clear(number); }

  operator mpfr_ptr() { return number; }
  operator mpfr_srcptr() const { return number; }

private:
  mpfr_t number;
};

/// An exact result, cut toward zero to the precision of `value`.
struct Result {
  explicit Result(mpfr_prec_t precision = widePrecision) : value(precision) {}

  Real value;
  bool tail = false;      ///< the exact result is farther from zero
  bool cancelled = false; ///< a zero whose sign the rounding mode decides
  bool pole = false;      ///< an infinity that came from a division by zero
};

/// Where a result lies among the codes of a format.
struct Place {
  enum class Part { Exactly, Low, Tie, High }; // of the way from lower to upper
  enum class Kind { NaN, Infinite, Zero, Number };

  Kind kind = Kind::NaN;
  bool negative = false;
  bool cancelled = false;
  Part part = Part::Exactly;
  uint64_t lower = 0; // magnitudes as codes
  uint64_t upper = 0;
  bool beyond = false; // lower is the largest: there is no upper
  bool huge = false;   // fixed: lower is cut to its last 64 bits
};

class Oracle {
public:
  explicit Oracle(const Format &format);

  const Format &format() const { return description; }
  int width() const;
  uint64_t mask() const { return ~uint64_t{0} >> (64 - width()); }
  /// The precision that results need: 53 where the codes stand in a table.
  mpfr_prec_t precision() const { return values.empty() ? widePrecision : 53; }

  /// The value of a code. Large formats decode it into `scratch`.
  mpfr_srcptr value(uint64_t code, Real &scratch) const;
  void decode(uint64_t code, mpfr_ptr value) const;

  Place locate(const Result &result) const;
  Place locate(mpfr_srcptr exact) const;
  uint64_t round(const Place &place, Mode mode) const;
  /// Stochastic rounding: how many of the 2^bits draws, the first ones, take a
  /// result away from zero. floor(nu * 2^bits), where nu is its place in value
  /// between its neighbours.
  uint64_t threshold(const Result &result, const Place &place, int bits) const;
  uint64_t roundStochastically(const Place &place, uint64_t threshold,
                               uint64_t draw) const {
    return finish(place, draw < threshold);
  }

  uint64_t canonicalNaN() const;
  /// Code of the largest finite value; the magnitude of the least one.
  uint64_t largest(bool negative = false) const;
  /// The boundary above a magnitude: where nearest modes change their answer.
  void boundary(uint64_t lower, mpfr_ptr value) const;
  /// The next magnitude that is a number; flushed subnormals are skipped.
  Magnitude next(Magnitude magnitude) const;

private:
  /// The value of a magnitude, the specials and the top of the range ignored.
  void magnitudeValue(Magnitude magnitude, mpfr_ptr value) const;
  bool hasNegativeZero() const;
  bool hasInfinity() const;
  /// The code of a result that takes its upper neighbour if `away`.
  uint64_t finish(const Place &place, bool away) const;
  uint64_t finishFixed(const Place &place, bool away) const;
  uint64_t overflowed(const Place &place, bool infinite) const;
  uint64_t withSign(uint64_t magnitude, bool negative) const;
  void locateInTable(mpfr_srcptr value, Place &place, bool tail) const;
  void locateFixed(mpfr_srcptr value, Place &place, bool tail) const;
  void bisect(mpfr_srcptr value, Place &place, bool tail) const;

  Format description;
  std::vector<Real> values;       // by code
  std::vector<double> magnitudes; // by magnitude, exact
  std::vector<double> boundaries; // by lower neighbour, exact
};

/// Posits and takums of any length: `bits` may be 65.
void positMagnitude(Magnitude magnitude, int bits, int es, mpfr_ptr value);
void takumValue(Magnitude code, int bits, mpfr_ptr value);

using Binary = void (*)(Result &, mpfr_srcptr, mpfr_srcptr);
using Unary = void (*)(Result &, mpfr_srcptr);

void add(Result &result, mpfr_srcptr x, mpfr_srcptr y);
void sub(Result &result, mpfr_srcptr x, mpfr_srcptr y);
void mul(Result &result, mpfr_srcptr x, mpfr_srcptr y);
void div(Result &result, mpfr_srcptr x, mpfr_srcptr y);
void rem(Result &result, mpfr_srcptr x, mpfr_srcptr y);
/// atan2(y, x); the root of a sum of squares.
void atan2(Result &result, mpfr_srcptr y, mpfr_srcptr x);
void hypot(Result &result, mpfr_srcptr x, mpfr_srcptr y);
/// The magnitude of x with the sign of y; NaN counts as positive.
void copysign(Result &result, mpfr_srcptr x, mpfr_srcptr y);
void fma(Result &result, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr z);
void sqrt(Result &result, mpfr_srcptr x);
void rsqrt(Result &result, mpfr_srcptr x);
void neg(Result &result, mpfr_srcptr x);
void abs(Result &result, mpfr_srcptr x);
void floor(Result &result, mpfr_srcptr x);
void ceil(Result &result, mpfr_srcptr x);
void trunc(Result &result, mpfr_srcptr x);
void round(Result &result, mpfr_srcptr x);
void roundeven(Result &result, mpfr_srcptr x);
/// NaN if either operand is; -0 is below +0.
void min(Result &result, mpfr_srcptr x, mpfr_srcptr y);
void max(Result &result, mpfr_srcptr x, mpfr_srcptr y);
/// The number if one operand is NaN.
void minnum(Result &result, mpfr_srcptr x, mpfr_srcptr y);
void maxnum(Result &result, mpfr_srcptr x, mpfr_srcptr y);

/// 1 equal, 2 greater, 4 less, 8 unordered. NaR equals NaR and is below all.
int relation(const Format &format, mpfr_srcptr x, mpfr_srcptr y);

/// x toward zero as an integer, saturating; NaN gives 0.
uint64_t toInteger(mpfr_srcptr x, int width, bool isSigned);

} // namespace oracle

#endif // NUMERA_TEST_UNIT_ORACLE_H
