// SPDX-License-Identifier: MIT

#include "Encodings.h"

using namespace numera;
using namespace numera::test;

namespace {

/// How many bits the fraction of a posit at 2^exponent has.
int fractionBits(const oracle::Format &format, long exponent) {
  long step = 1L << format.es;
  long regime =
      exponent >= 0 ? exponent / step : -((-exponent + step - 1) / step);
  long length = regime >= 0 ? regime + 2 : 1 - regime;
  return static_cast<int>(std::max(format.bits - 1 - length - format.es, 0L));
}

/// Sets `want` to the value of `code` with the last `count` bits of its
/// significand cleared: the multiple of 2^count units toward zero.
void truncated(const oracle::Oracle &truth, mpfr_srcptr value, int count,
               mpfr_ptr want) {
  mpfr_set(want, value, MPFR_RNDN);
  if (!mpfr_number_p(value) || mpfr_zero_p(value))
    return;
  const oracle::Format &format = truth.format();
  oracle::Place place = truth.locate(value);
  oracle::Real unit, low;
  truth.boundary(place.lower, unit); // half a unit above
  mpfr_abs(low, value, MPFR_RNDN);
  mpfr_sub(unit, unit, low, MPFR_RNDN);
  mpfr_mul_2ui(unit, unit, 1, MPFR_RNDN);
  int bits = format.mantissaBits;
  if (format.family == oracle::Family::Posit) {
    bits = fractionBits(format, mpfr_get_exp(value) - 1);
    mpfr_set_ui_2exp(unit, 1, mpfr_get_exp(value) - 1 - bits, MPFR_RNDN);
  }
  mpfr_mul_2ui(unit, unit, static_cast<unsigned>(std::min(count, bits)),
               MPFR_RNDN);
  mpfr_div(low, low, unit, MPFR_RNDN);
  mpfr_trunc(low, low);
  mpfr_mul(low, low, unit, MPFR_RNDN);
  // What remains of a format without subnormals may be flushed.
  oracle::Place rest = truth.locate(low);
  if (rest.kind == oracle::Place::Kind::Number &&
      rest.part != oracle::Place::Part::Exactly)
    mpfr_set_zero(low, 1);
  mpfr_setsign(want, low, mpfr_signbit(value), MPFR_RNDN);
}

template <typename F>
void checkTruncation(Tally &tally, const char *name, const F &f,
                     uint64_t step) {
  oracle::Oracle truth(describe(f));
  oracle::Real scratch, want;
  oracle::Result got;
  for (uint64_t code = 0; code <= f.mask(); code += step)
    for (int count : {0, 1, 2, 3, 5, 7, 12, 60}) {
      mpfr_srcptr value = truth.value(code, scratch);
      truncated(truth, value, count, want);
      valueOf(f.decode(f.truncate(code, count)), got);
      if (mpfr_zero_p(got.value) && !f.hasNegativeZero())
        mpfr_setsign(want, want, 0, MPFR_RNDN);
      tally.check(same(got.value, want), 1, name, code, count);
    }
}

// Clauses: R7.
TEST(Truncate, ClearsTheLastBitsOfEverySignificand) {
  Tally tally;
  for (auto cases : {smallFormats(), sixteenBitFormats()})
    for (const Case &c : cases) {
      if (const auto *f = std::get_if<FloatFormat>(&c.format))
        checkTruncation(tally, c.name, *f, f->width() > 8 ? 7 : 1);
      if (const auto *f = std::get_if<PositFormat>(&c.format))
        checkTruncation(tally, c.name, *f, f->width() > 8 ? 7 : 1);
    }
}

// Specials pass as they are.
// Clauses: R7.
TEST(Truncate, KeepsSpecials) {
  constexpr FloatFormat f{5, 2, 15};
  constexpr FloatFormat fnuz{4, 3, 8, Specials::Fnuz};
  EXPECT_EQ(f.truncate(0x7f, 2), 0x7fu); // NaN with a payload
  EXPECT_EQ(f.truncate(0xfc, 2), 0xfcu);
  EXPECT_EQ(fnuz.truncate(0x81, 3), 0u); // -0 would be NaN
  EXPECT_EQ((PositFormat{{8}, 2}.truncate(0x80, 2)), 0x80u);
}

/// The parameters of a format as the runtime passes them.
TEST(Parameters, ComeBackAsTheyWere) {
  for (auto cases : {smallFormats(), sixteenBitFormats(), wideFormats()})
    for (const Case &c : cases)
      std::visit(
          [&](const auto &f) {
            using F = std::remove_cvref_t<decltype(f)>;
            int32_t parameters[F::parameterCount];
            f.store(parameters);
            EXPECT_TRUE(F::of(parameters) == f) << c.name;
          },
          c.format);
}

} // namespace
