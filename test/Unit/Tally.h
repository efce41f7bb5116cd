// SPDX-License-Identifier: MIT
//
// Counts of what the tests compare. Each program prints them, a line a suite
// (TestMain.cpp).

#ifndef NUMERA_TEST_UNIT_TALLY_H
#define NUMERA_TEST_UNIT_TALLY_H

#include "numera/Numerics/Core/Rounding.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace numera::test {

/// True with NUMERA_SLOW_TESTS=1: the whole of the proof.
bool isSlow();

/// True with NUMERA_TESTS=all, and in the slow suite.
bool isLong();

/// How many samples to take: `slow` of them in the slow suite, and of `usual` a
/// quarter in the quick one.
inline uint64_t samples(uint64_t usual, uint64_t slow) {
  return isSlow() ? slow : isLong() ? usual : (usual + 3) / 4;
}
inline uint64_t samples(uint64_t usual) { return samples(usual, 20 * usual); }

/// Counts comparisons; shows the first mismatches and their total.
class Tally {
public:
  Tally() = default;
  Tally(const Tally &) = delete;
  Tally &operator=(const Tally &) = delete;
  ~Tally();

  template <typename... Parts>
  void check(uint64_t got, uint64_t want, const Parts &...parts) {
    ++compared;
    if (got != want) [[unlikely]]
      fail(got, want, (std::string() + ... + text(parts)));
  }
  /// Comparisons that the test itself asserts.
  void count(uint64_t results) { compared += results; }

private:
  void fail(uint64_t got, uint64_t want, const std::string &what);
  static std::string text(const char *part) { return part; }
  static std::string text(uint64_t code);
  static std::string text(Rounding mode);

  uint64_t compared = 0;
  uint64_t failed = 0;
};

/// How many comparisons a finished test's tallies made.
uint64_t comparedBy(const testing::TestInfo &test);

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_TALLY_H
