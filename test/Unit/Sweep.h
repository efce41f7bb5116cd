// SPDX-License-Identifier: MIT
//
// Sweeps that hold an operation against the oracle in every rounding mode.

#ifndef NUMERA_TEST_UNIT_SWEEP_H
#define NUMERA_TEST_UNIT_SWEEP_H

#include "Oracle.h"
#include "SampleFormats.h"
#include "Sampler.h"
#include "Tally.h"
#include "numera/Numerics/Operations/Convert.h"

#include <iterator>
#include <span>

namespace numera::test {

inline constexpr Rounding modes[] = {
    Rounding::NearestEven, Rounding::NearestAway, Rounding::NearestZero,
    Rounding::TowardZero,  Rounding::Up,          Rounding::Down,
    Rounding::ToOdd};

constexpr oracle::Mode modeOf(Rounding mode) {
  return static_cast<oracle::Mode>(mode);
}

/// False for formats that compute on their codes: an Unpacked has the first 96
/// bits of a result, of which wrapping keeps the last.
template <typename F> constexpr bool hasExactPath(const F &) {
  return !std::is_same_v<F, FixedFormat>;
}

/// Holds every function of `ours` at (x, y) against the oracle's `exact`.
template <typename F, typename... Ours>
void checkPair(Tally &tally, const char *name, const F &f,
               const oracle::Oracle &truth, oracle::Binary exact,
               oracle::Result &result, uint64_t x, uint64_t y,
               std::span<const Rounding> modes, const Ours &...ours) {
  static thread_local oracle::Real scratchX, scratchY;
  exact(result, truth.value(x, scratchX), truth.value(y, scratchY));
  oracle::Place place = truth.locate(result);
  for (Rounding mode : modes) {
    uint64_t want = truth.round(place, modeOf(mode));
    (tally.check(ours(f, x, y, mode), want, name, x, y, mode), ...);
  }
}

/// The fields of a format for operations that select an operand or change its
/// sign.
template <typename F> oracle::Format describeForSelection(const F &f) {
  oracle::Format format = describe(f);
  format.keepsInfinities = true;
  return format;
}

/// All operand pairs of each format, in every mode.
template <bool selects = false, typename... Ours>
void sweepAllPairs(Tally &tally, std::span<const Case> cases,
                   oracle::Binary exact, const Ours &...ours) {
  for (const Case &c : cases)
    std::visit(
        [&](const auto &f) {
          oracle::Oracle truth(selects ? describeForSelection(f) : describe(f));
          oracle::Result result(truth.precision());
          for (uint64_t x = 0; x <= f.mask(); ++x)
            for (uint64_t y = 0; y <= f.mask(); ++y)
              checkPair(tally, c.name, f, truth, exact, result, x, y, modes,
                        ours...);
        },
        c.format);
}

/// Boundary pairs and ties of products in every mode, and `count` sampled
/// pairs: in the quick suite in nearest-even with every 16th in every mode.
template <typename... Ours>
void sweepSampledPairs(Tally &tally, std::span<const Case> cases,
                       uint64_t count, oracle::Binary exact,
                       const Ours &...ours) {
  size_t usual = isSlow() ? std::size(modes) : 1;
  for (const Case &c : cases)
    std::visit(
        [&](const auto &f) {
          oracle::Oracle truth(describe(f));
          oracle::Result result(truth.precision());
          auto check = [&](uint64_t x, uint64_t y, size_t modeCount) {
            checkPair(tally, c.name, f, truth, exact, result, x, y,
                      std::span(modes).first(modeCount), ours...);
          };
          std::vector<uint64_t> codes = boundaryCodes(f, isSlow() ? 10 : 1);
          // A part of them where the oracle is slow.
          size_t step = f.width() <= 16 || isSlow() ? 1 : 17;
          for (size_t i = 0; i < codes.size(); ++i)
            for (size_t j = i % step; j < codes.size(); j += step)
              check(codes[i], codes[j], usual);
          Sampler sampler(f.width(), count);
          for (uint64_t i = 0; i < count / 16; ++i) {
            auto [x, y] = tieOfProduct(f, sampler);
            check(x, y, std::size(modes));
          }
          for (uint64_t i = 0; i < count; ++i) {
            uint64_t x = sampler.code();
            uint64_t y = i & 1 ? sampler.codeNear(x) : sampler.code();
            check(x, y, i % 16 == 0 ? std::size(modes) : usual);
          }
        },
        c.format);
}

/// All codes of formats of at most 16 bits (else samples), in every mode.
template <bool selects = false, typename... Ours>
void sweepCodes(Tally &tally, std::span<const Case> cases, uint64_t count,
                oracle::Unary exact, const Ours &...ours) {
  for (const Case &c : cases)
    std::visit(
        [&](const auto &f) {
          oracle::Oracle truth(selects ? describeForSelection(f) : describe(f));
          oracle::Result result(truth.precision());
          oracle::Real scratch;
          auto check = [&](uint64_t x) {
            exact(result, truth.value(x, scratch));
            oracle::Place place = truth.locate(result);
            for (Rounding mode : modes) {
              uint64_t want = truth.round(place, modeOf(mode));
              (tally.check(ours(f, x, mode), want, c.name, x, mode), ...);
            }
          };
          if (f.width() <= 16) {
            for (uint64_t x = 0; x <= f.mask(); ++x)
              check(x);
            return;
          }
          for (uint64_t x : runsOfOnes(f.width()))
            check(x);
          Sampler sampler(f.width(), count);
          for (uint64_t i = 0; i < count; ++i)
            check(sampler.code());
        },
        c.format);
}

/// Triples: all of them for formats whose codes number at most `all`, else
/// `count` samples; in every mode.
template <typename... Ours>
void sweepTriples(Tally &tally, std::span<const Case> cases, uint64_t all,
                  uint64_t count, const Ours &...ours) {
  for (const Case &c : cases)
    std::visit(
        [&](const auto &f) {
          oracle::Oracle truth(describe(f));
          oracle::Result result(truth.precision());
          oracle::Real scratchX, scratchY, scratchZ;
          auto check = [&](uint64_t x, uint64_t y, uint64_t z) {
            oracle::fma(result, truth.value(x, scratchX),
                        truth.value(y, scratchY), truth.value(z, scratchZ));
            oracle::Place place = truth.locate(result);
            for (Rounding mode : modes) {
              uint64_t want = truth.round(place, modeOf(mode));
              (tally.check(ours(f, x, y, z, mode), want, c.name, x, y, z, mode),
               ...);
            }
          };
          if (f.mask() < all) {
            for (uint64_t x = 0; x <= f.mask(); ++x)
              for (uint64_t y = 0; y <= f.mask(); ++y)
                for (uint64_t z = 0; z <= f.mask(); ++z)
                  check(x, y, z);
            return;
          }
          Sampler sampler(f.width(), count);
          for (uint64_t i = 0; i < count; ++i) {
            uint64_t x = sampler.code(), y = sampler.code();
            // Every second addend is near the product: cancellation and ties.
            uint64_t product = mul(f, x, y, Rounding::TowardZero);
            uint64_t z =
                i & 1 ? sampler.codeNear(f.negate(product)) : sampler.code();
            check(x, y, z);
          }
        },
        c.format);
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_SWEEP_H
