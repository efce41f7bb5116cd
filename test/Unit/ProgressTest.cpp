// SPDX-License-Identifier: MIT

#include "numera/Runtime/Progress.h"

#include <gtest/gtest.h>

using namespace numera::host;

namespace {

TEST(Progress, ShowsCountShareAndTimeLeft) {
  EXPECT_EQ(printProgress("posit16", 2500, 10000, 10, 80),
            "posit16 [######..................]  2500/10000 25 %, 0:30 left");
  EXPECT_EQ(printProgress("f32", 1, 1000, 10, 80),
            "f32 [........................]    1/1000 0 %, 2:46:30 left");
}

TEST(Progress, HasNoEstimateBeforeTheFirstStep) {
  EXPECT_EQ(printProgress("f32", 0, 10, 1, 80),
            "f32 [........................]  0/10 0 %");
}

TEST(Progress, EndsAtAHundredPercent) {
  EXPECT_EQ(printProgress("f32", 10, 10, 5, 80),
            "f32 [########################] 10/10 100 %, 0:00 left");
  EXPECT_EQ(printProgress("f32", 11, 10, 5, 80),
            "f32 [########################] 10/10 100 %, 0:00 left");
  EXPECT_EQ(printProgress("f32", 0, 0, 5, 80),
            "f32 [########################] 0/0 100 %");
}

TEST(Progress, FitsANarrowTerminal) {
  EXPECT_EQ(printProgress("f32", 5, 10, 5, 30), "f32  5/10 50 %, 0:05 left");
  EXPECT_EQ(printProgress("f32", 5, 10, 5, 8), "f32  5/1");
}

TEST(Progress, IsSilentInAPipe) {
  testing::internal::CaptureStderr();
  {
    Progress progress("f32", 10);
    progress.advance(10);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

} // namespace
