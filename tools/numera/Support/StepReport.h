// SPDX-License-Identifier: MIT
//
// What `--time` prints: where the time of a compilation went.

#ifndef NUMERA_TOOLS_SUPPORT_STEPREPORT_H
#define NUMERA_TOOLS_SUPPORT_STEPREPORT_H

#include "numera/Target/Support/StepTimes.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// A line for the whole, and one for each step.
void printSteps(const StepTimes &times, llvm::raw_ostream &stream);
/// The attribute `steps` of an object: `name` and `seconds` of each.
void printSteps(const StepTimes &times, llvm::json::OStream &json);

} // namespace numera

#endif // NUMERA_TOOLS_SUPPORT_STEPREPORT_H
