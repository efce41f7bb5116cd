// SPDX-License-Identifier: MIT
//
// What rounding made of an exact result: nothing, a neighbour, or something
// beyond the format's range.

#ifndef NUMERA_TOOLS_EVAL_OUTCOME_H
#define NUMERA_TOOLS_EVAL_OUTCOME_H

#include "numera/Registry/Formats/Evaluation.h"

namespace numera {

/// Ordered: of several, the largest is the one to report.
enum class Outcome {
  Exact,
  Rounded,
  Underflow,      ///< inexact and tiny (N3)
  Saturated,      ///< overflow to the last number (N2)
  Wrapped,        ///< overflow, modulo 2^width
  Overflow,       ///< to an infinity or NaN
  DivisionByZero, ///< N5
  Invalid,        ///< no value (N4)
};

/// The word that is printed: `saturated`.
llvm::StringRef nameOf(Outcome outcome);

/// Of rounding the constant `exact` to `code`.
Outcome outcomeOfConstant(const Format &format, const Unpacked &exact,
                          uint64_t code);

/// Of an operation on codes of `operands` that gave `code`.
Outcome outcomeOfOperation(OpKind operation, const OperationRules &rules,
                           llvm::ArrayRef<Format> operands,
                           llvm::ArrayRef<uint64_t> codes, uint64_t code);

} // namespace numera

#endif // NUMERA_TOOLS_EVAL_OUTCOME_H
