// SPDX-License-Identifier: MIT

#include "numera/Target/Support/StepTimes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace numera;

void StepTimes::add(StringRef name, double seconds) {
  auto found =
      find_if(all, [&](const Step &step) { return step.name == name; });
  if (found != all.end())
    found->seconds += seconds;
  else
    all.push_back({name.str(), seconds});
}

double StepTimes::total() const {
  double sum = 0;
  for (const Step &step : all)
    sum += step.seconds;
  return sum;
}
