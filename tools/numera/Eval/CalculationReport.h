// SPDX-License-Identifier: MIT
//
// The output of `numera eval`.

#ifndef NUMERA_TOOLS_EVAL_CALCULATIONREPORT_H
#define NUMERA_TOOLS_EVAL_CALCULATIONREPORT_H

#include "Calculator.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// The value, whether it is exact and what was not.
void printText(const Calculation &calculation, bool wantsSteps, bool wantsBits,
               llvm::raw_ostream &stream);

/// The same as attributes of an object that is open.
void printJSON(const Calculation &calculation, bool wantsSteps,
               llvm::json::OStream &stream);

/// `exact`, or `rounded: div, 0.1; saturated: mul`: what happened, and in which
/// constants and operations.
std::string printOutcomes(const Calculation &calculation);

} // namespace numera

#endif // NUMERA_TOOLS_EVAL_CALCULATIONREPORT_H
