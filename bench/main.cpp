// SPDX-License-Identifier: MIT
//
// numera-bench ROWS [--benchmark_…]: measures the rows of a file (run.py).

#include "Row.h"

#include <cstdio>

using namespace numera::bench;

static Kernel *kernelOf(const Row &row) {
  static const std::map<std::string, Kernel *> kernels = {
      {"conv", conv},     {"elementwise", elementwise}, {"matmul", matmul},
      {"model", model},   {"quantize", quantize},       {"quire", quire},
      {"scaled", scaled}, {"threads", threads}};
  auto found = kernels.find(row.text("kernel"));
  return found == kernels.end() ? nullptr : found->second;
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
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
