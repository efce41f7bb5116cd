// SPDX-License-Identifier: MIT
//
// Evaluates expressions, by the code that compiled programs run: each operation
// rounds once.

#ifndef NUMERA_TOOLS_EVAL_CALCULATOR_H
#define NUMERA_TOOLS_EVAL_CALCULATOR_H

#include "Expression.h"

namespace numera {

/// An operation that was carried out.
struct CalculatorStep {
  Instruction instruction;
  llvm::SmallVector<uint64_t, 3> operands; ///< codes
  uint64_t result; ///< a code, or 0 or 1 (Instruction::isTruth)
};

/// Carries out all operations of a program in order; the last one's result is
/// the expression's. Stochastic rounding draws for (seed, step 0, id, sample 0,
/// index 0), where the id is the number of the operation, from 1.
std::vector<CalculatorStep> calculate(llvm::ArrayRef<Instruction> program,
                                      uint64_t seed);

} // namespace numera

#endif // NUMERA_TOOLS_EVAL_CALCULATOR_H
