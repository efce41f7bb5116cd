// SPDX-License-Identifier: MIT
//
// numera-bench ROWS [--benchmark_…]: measures the rows of a file (run.py).

#include "Row.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

using namespace numera::bench;

static Kernel *kernelOf(const Row &row) {
  static const std::map<std::string, Kernel *> kernels = {
      {"conv", conv},     {"elementwise", elementwise}, {"matmul", matmul},
      {"model", model},   {"quantize", quantize},       {"quire", quire},
      {"scaled", scaled}, {"threads", threads}};
  auto found = kernels.find(row.text("kernel"));
  return found == kernels.end() ? nullptr : found->second;
}

/// Cycles a nanosecond: multiplications that wait for each other take three
/// each. With vectors beside them, which may slow the clock.
static double clockRate() {
  constexpr int64_t iterations = 4'000'000;
  bool hasVectors = __builtin_cpu_supports("avx512f");
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    timespec start, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    int64_t product = 1;
    for (int64_t k = 0; k < iterations; ++k) {
      asm volatile("imul $3, %0, %0\n imul $3, %0, %0\n"
                   "imul $3, %0, %0\n imul $3, %0, %0"
                   : "+r"(product));
      if (hasVectors)
        asm volatile(".rept 10\n vmulps %%zmm0, %%zmm0, %%zmm1\n .endr" ::
                         : "xmm1");
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    double time = double(end.tv_sec - start.tv_sec) * 1e9 +
                  double(end.tv_nsec - start.tv_nsec);
    best = std::max(best, 12 * double(iterations) / time);
  }
  return best;
}

int main(int count, char **words) {
  benchmark::Initialize(&count, words);
  if (count != 2) {
    std::fprintf(stderr, "usage: numera-bench ROWS [--benchmark_…]\n");
    return 1;
  }
  for (const Row &row : Row::read(words[1])) {
    Kernel *kernel = kernelOf(row);
    if (!kernel) {
      std::fprintf(stderr, "numera-bench: row '%s': no kernel '%s'\n",
                   row.name().c_str(), row.text("kernel").c_str());
      return 1;
    }
    benchmark::RegisterBenchmark(
        row.name().c_str(),
        [row, kernel](benchmark::State &state) { kernel(state, row); })
        ->UseManualTime()
        ->Iterations(1);
  }
  benchmark::AddCustomContext("ghz", std::to_string(clockRate()));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
