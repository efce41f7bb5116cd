// SPDX-License-Identifier: MIT

#include "Tally.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace numera::test {

bool isSlow() {
  const char *slow = std::getenv("NUMERA_SLOW_TESTS");
  return slow && std::string_view(slow) == "1";
}

bool isLong() {
  const char *tests = std::getenv("NUMERA_TESTS");
  return isSlow() || (tests && std::string_view(tests) == "all");
}

uint64_t comparedBy(const testing::TestInfo &test) {
  const testing::TestResult &result = *test.result();
  for (int i = 0; i < result.test_property_count(); ++i)
    if (result.GetTestProperty(i).key() == std::string_view("compared"))
      return std::strtoull(result.GetTestProperty(i).value(), nullptr, 10);
  return 0;
}

Tally::~Tally() {
  if (failed != 0)
    ADD_FAILURE() << failed << " of " << compared << " results differ";
  // A test may have several.
  uint64_t before =
      comparedBy(*testing::UnitTest::GetInstance()->current_test_info());
  testing::Test::RecordProperty("compared", std::to_string(before + compared));
}

void Tally::fail(uint64_t got, uint64_t want, const std::string &what) {
  if (++failed <= 8)
    ADD_FAILURE() << what << " gives" << text(got) << ", not" << text(want);
}

std::string Tally::text(uint64_t code) {
  char buffer[24];
  std::snprintf(buffer, sizeof buffer, " 0x%" PRIx64, code);
  return buffer;
}

std::string Tally::text(Rounding mode) {
  constexpr const char *names[] = {
      " nearest-even", " nearest-away", " nearest-zero", " toward-zero",
      " up",           " down",         " to-odd",       " stochastic"};
  return names[static_cast<int32_t>(mode)];
}

} // namespace numera::test
