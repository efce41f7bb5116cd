// SPDX-License-Identifier: MIT
//
// main of the test programs that count what they compare.

#include "Tally.h"

#include <cinttypes>
#include <cstdio>

namespace {

/// Prints a line for each suite, and one for the program.
class Counts : public testing::EmptyTestEventListener {
  static uint64_t of(const testing::TestSuite &suite) {
    uint64_t sum = 0;
    for (int i = 0; i < suite.total_test_count(); ++i)
      sum += numera::test::comparedBy(*suite.GetTestInfo(i));
    return sum;
  }
  static void print(const char *name, uint64_t count, double seconds) {
    std::printf("[ compared ] %-14s %14" PRIu64 " results, %.1f s\n", name,
                count, seconds);
    std::fflush(stdout);
  }

  void OnTestSuiteEnd(const testing::TestSuite &suite) override {
    print(suite.name(), of(suite), suite.elapsed_time() / 1000.0);
  }
  void OnTestProgramEnd(const testing::UnitTest &unit) override {
    uint64_t sum = 0;
    for (int i = 0; i < unit.total_test_suite_count(); ++i)
      sum += of(*unit.GetTestSuite(i));
    print("all", sum, unit.elapsed_time() / 1000.0);
  }
};

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new Counts);
  return RUN_ALL_TESTS();
}
