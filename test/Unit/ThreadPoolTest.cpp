// SPDX-License-Identifier: MIT
//
// Loops that several threads share, in calls as compiled programs make them.

#include "HostCall.h"
#include "Processor.h"
#include "numera/Runtime/Entry.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace numera::host;

/// A forked process makes threads again, and there is no memory for some calls.
extern "C" const char *__tsan_default_options() {
  return "die_after_fork=0:allocator_may_return_null=1";
}
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace {

/// numera_host_parallel over a function object.
template <typename Body>
void parallel(int64_t count, int64_t grain, const Body &body) {
  numera_host_parallel(
      [](void *context, int64_t begin, int64_t end) {
        (*static_cast<const Body *>(context))(begin, end);
      },
      const_cast<Body *>(&body), count, grain);
}

TEST(ThreadPool, DoesEveryIterationOnce) {
  for (uint32_t threads : {0, 1, 2, 3, 7})
    for (int64_t count : {0, 1, 2, 3, 7, 8, 63, 64, 65, 1000, 4099})
      for (int64_t grain : {0, 1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> times(static_cast<size_t>(count));
        std::string error = call(threads, [&] {
          parallel(count, grain, [&](int64_t begin, int64_t end) {
            ASSERT_LT(begin, end);
            ASSERT_EQ(begin % std::max<int64_t>(grain, 1), 0);
            for (int64_t i = begin; i < end; ++i)
              ++times[size_t(i)];
          });
        });
        ASSERT_EQ(error, "");
        for (const std::atomic<int> &time : times)
          ASSERT_EQ(time, 1) << threads << " " << count << " " << grain;
      }
}

TEST(ThreadPool, CountsToTheLargestNumber) {
  constexpr int64_t most = INT64_MAX;
  std::atomic<int64_t> sum = 0;
  ASSERT_EQ(call(3,
                 [&] {
                   parallel(most, most / 2, [&](int64_t begin, int64_t end) {
                     sum += end - begin;
                   });
                 }),
            "");
  EXPECT_EQ(sum, most);
}

/// Eleven chunks of two would be six for one thread, and five for the other.
TEST(ThreadPool, CutsALoopIntoAsManyChunksForEachThread) {
  for (int64_t count : {22, 23, 39, 1000})
    for (int64_t grain : {1, 3}) {
      std::mutex mutex;
      std::vector<int64_t> sizes;
      ASSERT_EQ(call(2,
                     [&] {
                       parallel(count, grain, [&](int64_t begin, int64_t end) {
                         std::lock_guard lock(mutex);
                         EXPECT_EQ(begin % grain, 0);
                         sizes.push_back((end - begin + grain - 1) / grain);
                       });
                     }),
                "");
      int64_t grains = (count + grain - 1) / grain;
      EXPECT_EQ(sizes.size(), size_t(std::min<int64_t>(8, grains)));
      auto [least, most] = std::ranges::minmax(sizes);
      EXPECT_LE(most - least, 1) << count << ' ' << grain;
    }
}

TEST(ThreadPool, SharesALoop) {
  // Each of two chunks waits for the other: one thread would wait for ever.
  std::atomic<int> inside = 0;
  ASSERT_EQ(call(2,
                 [&] {
                   parallel(2, 1, [&](int64_t, int64_t) {
                     ++inside;
                     while (inside < 2)
                       std::this_thread::yield();
                   });
                 }),
            "");
  EXPECT_EQ(inside, 2);
}

TEST(ThreadPool, ServesManyLoopsWithTheSameThreads) {
  constexpr int64_t count = 64;
  std::vector<uint64_t> values(count, 0);
  ASSERT_EQ(call(3,
                 [&] {
                   for (int loop = 0; loop < 2000; ++loop)
                     parallel(count, 1, [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i)
                         values[size_t(i)] =
                             values[size_t(i)] * 3 + uint64_t(i);
                     });
                 }),
            "");
  for (int64_t i = 0; i < count; ++i) {
    uint64_t expected = 0;
    for (int loop = 0; loop < 2000; ++loop)
      expected = expected * 3 + uint64_t(i);
    EXPECT_EQ(values[size_t(i)], expected) << i;
  }
}

/// The helper of a call with two threads.
pthread_t findHelper() {
  std::atomic<int> inside = 0;
  std::atomic<pthread_t> helper{};
  call(2, [&] {
    pthread_t caller = pthread_self();
    parallel(2, 1, [&](int64_t, int64_t) {
      if (!pthread_equal(caller, pthread_self()))
        helper = pthread_self();
      ++inside;
      while (inside < 2)
        std::this_thread::yield();
    });
  });
  return helper;
}

TEST(ThreadPool, ServesManyCallsWithTheSameThreads) {
  pthread_t helper = findHelper();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(pthread_equal(findHelper(), helper));
    // Now and then it has gone to sleep.
    if (i % 20 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(ThreadPool, WorksWhereTheCallerMayRun) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  findHelper();
  int last = CPU_SETSIZE;
  while (!CPU_ISSET(--last, &all))
    ;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  std::atomic<int> inside = 0, elsewhere = 0;
  call(2, [&] {
    parallel(2, 1, [&](int64_t, int64_t) {
      elsewhere += sched_getcpu() != last;
      ++inside;
      while (inside < 2)
        std::this_thread::yield();
    });
  });
  EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(elsewhere, 0);
}

TEST(ThreadPool, RunsALoopInsideALoopInOneThread) {
  std::atomic<int> wrong = 0, iterations = 0;
  ASSERT_EQ(call(3,
                 [&] {
                   parallel(12, 1, [&](int64_t, int64_t) {
                     pthread_t self = pthread_self();
                     parallel(100, 1, [&](int64_t begin, int64_t end) {
                       wrong += !pthread_equal(self, pthread_self());
                       iterations += int(end - begin);
                     });
                   });
                 }),
            "");
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, EndsTheCallWithTheFirstFailure) {
  for (uint32_t threads : {1, 2, 3, 7}) {
    std::atomic<bool> wentOn = false;
    std::string error = call(threads, [&] {
      parallel(1000, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          if (i == 300)
            numera_host_fail("the first");
          else if (i > 300)
            numera_host_fail("a later one");
      });
      wentOn = true;
    });
    EXPECT_EQ(error, "f: the first") << threads;
    EXPECT_FALSE(wentOn);
  }
  EXPECT_EQ(call(3, [] { numera_host_fail("outside of loops"); }),
            "f: outside of loops");
  EXPECT_EQ(call(3,
                 [] {
                   parallel(8, 1, [](int64_t, int64_t) {
                     parallel(8, 1, [](int64_t, int64_t) {
                       numera_host_fail("two loops inside");
                     });
                   });
                 }),
            "f: two loops inside");
}

TEST(ThreadPool, KeepsNoStateOfAFailedCall) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(call(3,
                   [] {
                     parallel(64, 1,
                              [](int64_t, int64_t) { numera_host_fail("no"); });
                   }),
              "f: no");
    std::atomic<int64_t> sum = 0;
    EXPECT_EQ(call(3,
                   [&] {
                     parallel(64, 1, [&](int64_t begin, int64_t end) {
                       sum += end - begin;
                     });
                   }),
              "");
    EXPECT_EQ(sum, 64);
  }
}

TEST(ThreadPool, EndsTheCallWhenItsCallerWants) {
  for (uint32_t threads : {1, 2, 7}) {
    numera_options options = NUMERA_OPTIONS;
    options.threads = threads;
    std::pair<int, std::thread::id> asked(0, std::this_thread::get_id());
    options.interrupt = [](void *context) -> int {
      auto &[count, caller] =
          *static_cast<std::pair<int, std::thread::id> *>(context);
      EXPECT_EQ(std::this_thread::get_id(), caller);
      return ++count == 3;
    };
    options.interrupt_context = &asked;
    std::atomic<int64_t> done = 0;
    std::string error = call(options, [&] {
      for (int i = 0; i < 4; ++i)
        parallel(1000, 1, [&](int64_t begin, int64_t end) {
          parallel(1, 1, [&](int64_t, int64_t) { done += end - begin; });
        });
    });
    EXPECT_EQ(error, "f: interrupted");
    EXPECT_LT(done, 4000);
    EXPECT_EQ(asked.first, 3);
  }
}

TEST(ThreadPool, RoundsToNearestInEveryThread) {
  int before = std::fegetround();
  std::fesetround(FE_UPWARD);
  std::atomic<int> inside = 0, wrong = 0;
  call(2, [&] {
    parallel(2, 1, [&](int64_t, int64_t) {
      volatile float one = 1, tiny = 0x1p-30f, least = 0x1p-140f;
      wrong += one + tiny != 1;
      wrong += least * one == 0;
      ++inside;
      while (inside < 2)
        std::this_thread::yield();
    });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(before);
}

TEST(ThreadPool, TakesNoSignalsOfTheCaller) {
  std::atomic<int> inside = 0, open = 0;
  call(2, [&] {
    pthread_t caller = pthread_self();
    parallel(2, 1, [&](int64_t, int64_t) {
      sigset_t blocked;
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      if (!pthread_equal(caller, pthread_self()))
        open += !sigismember(&blocked, SIGINT);
      ++inside;
      while (inside < 2)
        std::this_thread::yield();
    });
  });
  EXPECT_EQ(open, 0);
}

TEST(ThreadPool, ServesCallsAtTheSameTime) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum = 0;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int k = 0; k < 50; ++k)
        call(3, [&] {
          parallel(100, 1,
                   [&](int64_t begin, int64_t end) { sum += end - begin; });
        });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(sum, 4 * 50 * 100);
}

TEST(ThreadPool, WorksInAForkedProcess) {
  auto sumOf = [] {
    std::atomic<int64_t> sum = 0;
    call(3, [&] {
      parallel(100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    });
    return sum.load();
  };
  EXPECT_EQ(sumOf(), 100);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0)
    _exit(sumOf() == 100 ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ThreadPool, RunsOutsideOfACall) {
  int64_t sum = 0;
  parallel(100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 100);
}

} // namespace
