// SPDX-License-Identifier: MIT
//
// What a program keeps of the memory of its tensors.

#include "Memory.h"
#include "HostCall.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <set>
#include <thread>
#include <vector>

using namespace numera::host;

namespace {

constexpr uint64_t mega = uint64_t(1) << 20;

/// A block that a call takes, fills and releases.
void *blockOfCall(uint64_t bytes) {
  void *block = nullptr;
  EXPECT_EQ(call(1,
                 [&] {
                   block = numera_host_allocate(64, bytes);
                   std::memset(block, 7, bytes);
                   numera_host_release(block);
                 }),
            "");
  return block;
}

/// Calls that want nothing, after which nothing is kept.
void forget() {
  for (int i = 0; i < 5; ++i)
    call(1, [] {});
}

TEST(Memory, IsKeptForTheNextCall) {
  forget();
  void *first = blockOfCall(mega);
  // malloc would give what it got back last.
  void *between = std::malloc(mega);
  EXPECT_NE(between, first);
  EXPECT_EQ(blockOfCall(mega), first);
  EXPECT_EQ(blockOfCall(mega - 4096), first);
  std::free(between);
}

TEST(Memory, IsTheSmallestThatIsLargeEnough) {
  forget();
  ASSERT_EQ(call(1,
                 [] {
                   void *two = numera_host_allocate(64, 2 * mega);
                   void *four = numera_host_allocate(64, 4 * mega);
                   void *three = numera_host_allocate(64, 3 * mega);
                   for (void *block : {two, four, three})
                     numera_host_release(block);
                   EXPECT_EQ(numera_host_allocate(64, 3 * mega), three);
                   EXPECT_EQ(numera_host_allocate(64, 5 * mega / 2), four);
                   EXPECT_EQ(numera_host_allocate(64, mega / 4), two);
                   numera_host_release(two);
                   // Nearly all of it would lie idle.
                   void *little = numera_host_allocate(64, mega / 8);
                   EXPECT_NE(little, two);
                   for (void *block : {three, four, little})
                     numera_host_release(block);
                 }),
            "");
}

TEST(Memory, LiesAsItShould) {
  ASSERT_EQ(call(1,
                 [] {
                   for (uint64_t alignment = 16; alignment <= mega;
                        alignment *= 2)
                     for (uint64_t bytes : {uint64_t(0), alignment, mega}) {
                       void *block = numera_host_allocate(alignment, bytes);
                       EXPECT_EQ(uintptr_t(block) % alignment, 0u);
                       numera_host_release(block);
                     }
                 }),
            "");
  numera_host_release(nullptr);
}

TEST(Memory, IsGivenBackWhenCallsHaveNoUseForIt) {
  forget();
  void *first = blockOfCall(mega);
  forget();
  // Who asks next gets what was given back, or nobody does for a while.
  void *next = std::aligned_alloc(64, mega);
  *static_cast<volatile char *>(next) = 0; // or the compiler leaves it out
  EXPECT_NE(blockOfCall(mega), first);
  std::free(next);
}

TEST(Memory, IsNobodyElsesMeanwhile) {
  ASSERT_EQ(
      call(1,
           [] {
             std::set<void *> blocks;
             for (int round = 0; round < 3; ++round) {
               // More than are kept.
               for (int i = 0; i < 100; ++i)
                 EXPECT_TRUE(
                     blocks.insert(numera_host_allocate(64, mega / 8)).second);
               for (void *block : blocks)
                 numera_host_release(block);
               blocks.clear();
             }
           }),
      "");
}

TEST(Memory, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 500; ++i)
        call(1, [t, i] {
          uint64_t bytes = mega / 16 * uint64_t(1 + i % 5);
          auto *block =
              static_cast<unsigned char *>(numera_host_allocate(64, bytes));
          std::memset(block, t, bytes);
          std::this_thread::yield();
          for (uint64_t k = 0; k < bytes; k += 4096)
            ASSERT_EQ(block[k], t);
          numera_host_release(block);
        });
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Memory, EndsTheCallWhereThereIsNone) {
  constexpr uint64_t much = uint64_t(1) << 60;
  EXPECT_EQ(call(1, [] { numera_host_allocate(64, much); }),
            "f: out of memory");
  EXPECT_EQ(
      call(1, [] { EXPECT_EQ(numera_host_try_allocate(64, much), nullptr); }),
      "");
}

TEST(Memory, OfACallThatEndsWithAMessageIsReleased) {
  forget();
  void *block = nullptr;
  EXPECT_EQ(call(1,
                 [&] {
                   block = numera_host_allocate(64, mega);
                   numera_host_fail("no");
                 }),
            "f: no");
  EXPECT_EQ(blockOfCall(mega), block);
}

TEST(Memory, OfALoopThatEndsWithAMessageIsReleasedOnce) {
  for (uint32_t threads : {1, 2}) {
    forget();
    void *block = nullptr;
    static std::atomic<void *> taken;
    EXPECT_EQ(call(threads,
                   [&] {
                     block = numera_host_allocate(64, 4 * mega);
                     numera_host_release(numera_host_allocate(64, 2 * mega));
                     numera_host_parallel(
                         [](void *, int64_t begin, int64_t) {
                           if (begin > 0)
                             return;
                           taken = numera_host_allocate(64, mega);
                           numera_host_fail("no");
                         },
                         nullptr, 2, 1);
                   }),
              "f: no");
    EXPECT_EQ(blockOfCall(mega), taken);
    EXPECT_EQ(blockOfCall(4 * mega), block);
    void *first = numera_host_try_allocate(64, 4 * mega);
    void *second = numera_host_try_allocate(64, 4 * mega);
    EXPECT_NE(first, second);
    numera_host_release(first);
    numera_host_release(second);
  }
}

TEST(Memory, OfAResultIsTheCallers) {
  forget();
  void *result = nullptr;
  EXPECT_EQ(call(1, [&] { result = numera_host_allocate(64, mega); }), "");
  std::memset(result, 7, mega);
  EXPECT_NE(blockOfCall(mega), result);
  EXPECT_TRUE(mayBeGiven(result, mega));
  EXPECT_TRUE(mayBeGiven(result, mega / 2));
  // Of another one nothing lies idle while the caller keeps it.
  EXPECT_FALSE(mayBeGiven(result, mega / 4));
  std::free(result);
}

} // namespace
