// SPDX-License-Identifier: MIT
//
// What stands between a caller and a compiled function: the choice of its
// version, and the check of arguments.

#include "numera/Runtime/Entry.h"
#include "Processor.h"

#include "gtest/gtest.h"

#include <string>
#include <string_view>
#include <vector>

using namespace numera::host;

namespace {

const char *chosen = nullptr; ///< the version that ran

/// The version that a call runs, or its error.
std::string versionFor(const std::vector<Version> &versions) {
  FunctionInfo function{};
  function.name = "f";
  function.versions = versions.data();
  function.versionCount = versions.size();
  char error[100] = "";
  chosen = nullptr;
  numera_host_call(&function, nullptr, 0, nullptr, 0, nullptr, error,
                   sizeof error);
  return error[0] ? error : chosen;
}

TEST(Version, IsTheLastThatTheProcessorCanRun) {
  Invoke *first = [](void *const *, void *, uint64_t, uint64_t, uint64_t) {
    chosen = "first";
  };
  Invoke *second = [](void *const *, void *, uint64_t, uint64_t, uint64_t) {
    chosen = "second";
  };
  uint64_t had = numera_processor_features(), missing = uint64_t(1) << 62;
  EXPECT_EQ(versionFor({{"a", 0, first}, {"b", had, second}}), "second");
  EXPECT_EQ(versionFor({{"a", 0, first}, {"b", missing, second}}), "first");
  EXPECT_EQ(versionFor({{"a", missing, first}, {"b", missing, second}}),
            "f: compiled for the CPU a; this one has no such feature");
}

#ifdef __x86_64__
TEST(Processor, HasWhatTheCompilerSays) {
  std::vector<bool> expected;
#define NUMERA_X86_FEATURE(name, leaf, subleaf, reg, bit, state)               \
  expected.push_back(supports(name));
  auto supports = [](std::string_view name) {
#define KNOWN(feature)                                                         \
  if (name == feature)                                                         \
    return bool(__builtin_cpu_supports(feature));
    KNOWN("sse3")
    KNOWN("ssse3")
    KNOWN("sse4.1")
    KNOWN("sse4.2")
    KNOWN("popcnt")
    KNOWN("avx")
    KNOWN("avx2")
    KNOWN("fma")
    KNOWN("bmi")
    KNOWN("bmi2")
    KNOWN("avx512f")
    KNOWN("avx512bw")
    KNOWN("avx512cd")
    KNOWN("avx512dq")
    KNOWN("avx512vl")
    KNOWN("avx512ifma")
    KNOWN("avx512vbmi")
    KNOWN("avx512vbmi2")
    KNOWN("avx512vnni")
    KNOWN("avx512bitalg")
    KNOWN("avx512vpopcntdq")
    KNOWN("avx512bf16")
    KNOWN("gfni")
    KNOWN("vpclmulqdq")
    KNOWN("pclmul")
    KNOWN("aes")
    KNOWN("sse4a")
    KNOWN("xop")
    KNOWN("fma4")
    return false; // not known to the compiler's library: not compared
  };
#include "numera/Runtime/X86Features.def"
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i])
      EXPECT_TRUE(numera_processor_features() >> i & 1) << i;
  EXPECT_EQ(numera_processor_features(), numera_processor_features());
}
#endif

TEST(Entry, WantsWideCodesAligned) {
  const int64_t shape[] = {1};
  TensorInfo input{"x", shape, nullptr, NUMERA_U128, 1};
  Version version{"any", 0,
                  [](void *const *, void *, uint64_t, uint64_t, uint64_t) {}};
  FunctionInfo function{};
  function.name = "f";
  function.inputs = &input;
  function.inputCount = 1;
  function.versions = &version;
  function.versionCount = 1;
  alignas(16) char memory[32] = {};
  numera_tensor tensor = {memory, 16, NUMERA_U128, 1, {1}};
  char error[100] = "";
  EXPECT_EQ(numera_host_call(&function, &tensor, 1, nullptr, 0, nullptr, error,
                             sizeof error),
            0)
      << error;
  tensor.data = memory + 8;
  EXPECT_NE(numera_host_call(&function, &tensor, 1, nullptr, 0, nullptr, error,
                             sizeof error),
            0);
  EXPECT_STREQ(error, "f: input 0 'x': data is not aligned to 16 bytes");
}

} // namespace
