// SPDX-License-Identifier: MIT
//
// Evaluates expressions, by the code that compiled programs run: each operation
// rounds once.

#ifndef NUMERA_TOOLS_EVAL_CALCULATOR_H
#define NUMERA_TOOLS_EVAL_CALCULATOR_H

#include "Expression.h"
#include "Outcome.h"

namespace numera {

/// An operation that was carried out on one element.
struct CalculatorStep {
  const Instruction *instruction;
  uint32_t number;                              ///< of the operation, from 1
  std::optional<size_t> element = std::nullopt; ///< of vectors
  llvm::SmallVector<uint64_t, 3> operands = {}; ///< codes
  uint64_t result = 0; ///< a code, or 0 or 1 (Instruction::isTruth)
  Outcome outcome = Outcome::Exact;
};

/// A number, or a vector of at least one.
struct CalculatorValue {
  llvm::SmallVector<uint64_t, 1> codes;
  bool isVector = false;
};

/// What a program comes to. Steps point into the program.
struct Calculation {
  CalculatorValue result = {};
  Format format = {};
  bool isTruth; ///< the result has 0 and 1 in place of codes
  std::vector<CalculatorStep> steps = {};
  /// The constants that are not exact, and what became of them.
  std::vector<std::pair<const Instruction *, Outcome>> constants = {};
};

/// Carries out all operations of a program in order. Stochastic rounding draws
/// for (seed, step 0, id, sample 0, index), where the id is the number of the
/// operation, from 1, and the index that of the element, from 0.
Calculation calculate(llvm::ArrayRef<Instruction> program, uint64_t seed);

} // namespace numera

#endif // NUMERA_TOOLS_EVAL_CALCULATOR_H
