// SPDX-License-Identifier: MIT

#include "Trace.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <ucontext.h>
#include <vector>

namespace {

/// Where a library lies in memory.
struct Range {
  uint64_t start = ~uint64_t(0), end = 0;
};

Range rangeOf(const std::string &library) {
  Range range;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) == std::string::npos)
      continue;
    uint64_t start = 0, end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> start >> dash >> end;
    range.start = std::min(range.start, start);
    range.end = std::max(range.end, end);
  }
  return range;
}

/// What the signal handler knows.
Range library;
std::vector<uint64_t> counts; ///< by address in the library
uint64_t elsewhere;

#ifdef __x86_64__
void countStep(int, siginfo_t *, void *context) {
  uint64_t at =
      uint64_t(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]);
  if (at >= library.start && at < library.end)
    ++counts[at - library.start];
  else
    ++elsewhere;
}

/// The flag makes the processor raise SIGTRAP after every instruction. Below
/// the stack pointer lies the red zone, which is left alone.
void setTrapFlag() {
  asm volatile("sub $128, %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n"
               "add $128, %%rsp" ::
                   : "memory", "cc");
}
void clearTrapFlag() {
  asm volatile("sub $128, %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n"
               "add $128, %%rsp" ::
                   : "memory", "cc");
}
#endif

} // namespace

bool numera::bench::trace(const std::function<void()> &run,
                          const std::string &libraryPath,
                          const std::string &path) {
#ifdef __x86_64__
  run(); // what is set up once is no part of it
  library = rangeOf(libraryPath);
  counts.assign(library.end - library.start, 0);
  struct sigaction action = {}, before;
  action.sa_sigaction = countStep;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  setTrapFlag();
  run();
  clearTrapFlag();
  sigaction(SIGTRAP, &before, nullptr);

  std::ofstream file(path);
  file << "0 " << elsewhere << '\n';
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 0)
      file << std::hex << i << std::dec << ' ' << counts[i] << '\n';
  return true;
#else
  return false;
#endif
}
