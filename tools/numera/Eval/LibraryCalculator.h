// SPDX-License-Identifier: MIT
//
// Evaluates expressions in which a library computes: opaque formats. They are
// compiled and run, as models are.

#ifndef NUMERA_TOOLS_EVAL_LIBRARYCALCULATOR_H
#define NUMERA_TOOLS_EVAL_LIBRARYCALCULATOR_H

#include "Expression.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// An operation on one element; its numbers as f64.
struct LibraryStep {
  const Instruction *instruction;
  uint32_t number;               ///< of the operation, from 1
  std::optional<size_t> element; ///< of vectors
  llvm::SmallVector<double, 3> operands;
  double result;
};

/// What a program comes to. Steps point into the program.
struct LibraryCalculation {
  bool isTruth = false;   ///< the result has 0 and 1 in place of codes
  bool isVector = false;  ///< of at least one number
  unsigned codeBytes = 0; ///< of each number, in `codes`
  unsigned codeBits = 0;  ///< of these, the format's
  std::vector<double> values;
  std::string codes; ///< one behind the other, little endian
  std::vector<LibraryStep> steps;

  /// `0x3f80`.
  std::string printCode(size_t element) const;
};

/// Numbers go to a library as f64 where it registers a cast from f64, else as
/// f32, and come back so. The error is one line.
llvm::Expected<LibraryCalculation>
calculateByLibrary(llvm::ArrayRef<Instruction> program,
                   const Registry &registry, uint64_t seed);

/// The value, and that nobody knows whether it is exact.
void printText(const LibraryCalculation &calculation, bool wantsSteps,
               bool wantsBits, llvm::raw_ostream &stream);

/// The same as attributes of an object that is open.
void printJSON(const LibraryCalculation &calculation, bool wantsSteps,
               llvm::json::OStream &stream);

} // namespace numera

#endif // NUMERA_TOOLS_EVAL_LIBRARYCALCULATOR_H
