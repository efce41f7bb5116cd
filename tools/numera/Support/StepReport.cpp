// SPDX-License-Identifier: MIT

#include "StepReport.h"

#include "llvm/Support/Format.h"

using namespace llvm;
using namespace numera;

void numera::printSteps(const StepTimes &times, raw_ostream &stream) {
  double total = times.total();
  stream << format("compiled in %.4f s\n", total);
  for (const StepTimes::Step &step : times.steps())
    stream << format("  %-14s %8.4f s %5.1f %%\n", step.name.c_str(),
                     step.seconds,
                     total > 0 ? 100 * step.seconds / total : 0.0);
}

void numera::printSteps(const StepTimes &times, json::OStream &json) {
  json.attributeArray("steps", [&] {
    for (const StepTimes::Step &step : times.steps())
      json.object([&] {
        json.attribute("name", step.name);
        json.attribute("seconds", step.seconds);
      });
  });
}
