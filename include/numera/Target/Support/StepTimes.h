// SPDX-License-Identifier: MIT
//
// Where the time of a compilation goes.

#ifndef NUMERA_TARGET_SUPPORT_STEPTIMES_H
#define NUMERA_TARGET_SUPPORT_STEPTIMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <string>
#include <vector>

namespace numera {

/// The seconds of each step, in the order in which they began first. A step
/// that comes more than once, as for each CPU, has the sum.
class StepTimes {
public:
  struct Step {
    std::string name;
    double seconds;
  };

  void add(llvm::StringRef name, double seconds);
  llvm::ArrayRef<Step> steps() const { return all; }
  double total() const;

private:
  std::vector<Step> all;
};

/// Adds the time of its scope to a step. With null it does nothing.
class StepScope {
public:
  StepScope(StepTimes *times, llvm::StringRef name)
      : times(times), name(name), begin(Clock::now()) {}
  ~StepScope() { stop(); }
  StepScope(const StepScope &) = delete;

  /// The step is over, and another one begins.
  void next(llvm::StringRef following) {
    add();
    name = following;
    begin = Clock::now();
  }
  /// The step is over before its scope.
  void stop() {
    add();
    times = nullptr;
  }

private:
  using Clock = std::chrono::steady_clock;

  void add() const {
    if (times)
      times->add(name,
                 std::chrono::duration<double>(Clock::now() - begin).count());
  }

  StepTimes *times;
  llvm::StringRef name;
  Clock::time_point begin;
};

} // namespace numera

#endif // NUMERA_TARGET_SUPPORT_STEPTIMES_H
