// SPDX-License-Identifier: MIT
//
// The whole multiply-add step in carriers against the oracle, and the two ways
// in which short steps round.

#include "numera/Numerics/MultiplyAdd/Step.h"
#include "StepOperands.h"

#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

// ---- the full step ----------------------------------------------------------

template <typename T> void checkFullSteps(std::span<const Case> cases) {
  Tally tally;
  for (const Case &c : cases)
    std::visit(
        [&](const auto &f) {
          if (!embeds<T>(f))
            return;
          forOperands(f, [&](uint64_t a, uint64_t b, uint64_t product,
                             uint64_t c, uint64_t sum) {
            auto x = decoded<T>(f, a, b, product, c, sum);
            T got = fullStep<T>(f, x.c, x.a, x.b);
            // The carrier's own bits: a NaN, a -0.
            tally.check(Carrier<T>::bits(got), Carrier<T>::bits(x.sum), "step",
                        a, b, c);
          });
        },
        c.format);
}

TEST(FullStep, OfSmallFormatsIsExact) {
  checkFullSteps<float>(smallFormats());
  checkFullSteps<double>(smallFormats().first(40));
}
TEST(FullStep, OfSixteenBitsIsExact) {
  checkFullSteps<float>(sixteenBitFormats());
  checkFullSteps<float>(stepEdges);
}
TEST(FullStep, OfWideFormatsIsExactInDouble) {
  checkFullSteps<double>(stepEdges);
  checkFullSteps<double>(wideFormats());
}

// ---- the ways to round ------------------------------------------------------

/// A binade of carriers, whole ones and those next to it: rounding is the same
/// at every scale. Against integers.
TEST(Rounding, BySplittingAndByShiftingIsNearestEven) {
  Tally tally;
  constexpr int q = 24;
  uint32_t stride = isSlow() ? 1 : 37;
  for (int cut = 2; cut < q; ++cut) {
    float shift = std::ldexp(1.0f, cut);
    for (uint32_t m = 1u << (q - 1); m < 1u << q;
         m += m < (1u << (q - 1)) + 4096 || m > (1u << q) - 8192 ? 1 : stride) {
      uint32_t kept = m >> cut, rest = m & ((1u << cut) - 1),
               half = 1u << (cut - 1);
      kept += rest > half || (rest == half && (kept & 1));
      uint64_t want = uint64_t{kept} << cut;
      auto x = static_cast<float>(m);
      tally.check(static_cast<uint64_t>(step::roundBySplitting(x, shift + 1)),
                  want, "split", cut, m);
      if (cut >= q - cut + 2)
        tally.check(static_cast<uint64_t>(step::roundByShifting(x, shift)),
                    want, "shift", cut, m);
    }
  }
}

} // namespace
