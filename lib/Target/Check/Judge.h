// SPDX-License-Identifier: MIT
//
// The expected result of an operation, and the kind of a wrong one.

#ifndef NUMERA_LIB_TARGET_CHECK_JUDGE_H
#define NUMERA_LIB_TARGET_CHECK_JUDGE_H

#include "Cases.h"
#include "numera/Registry/Formats/Evaluation.h"
#include <optional>

namespace numera::check {

class Judge {
public:
  Judge(const Registry &registry, const Checked &checked);

  /// False where nobody says what the codes mean: results are then only looked
  /// at for bits above the width.
  bool hasReference() const { return known; }

  /// The exact result, rounded once.
  uint64_t expect(const Operands &operands) const;

  enum class Verdict { Right, OtherNaN, Wrong };
  /// Compares what the program gave; `fault` and `expected` are set where it
  /// is wrong or another NaN.
  Verdict judge(const Operands &operands, uint64_t got, Fault &fault,
                uint64_t &expected) const;

private:
  Unpacked valueOf(size_t operand, uint64_t bits) const;
  bool isExcusedSum(const Operands &operands, uint64_t got,
                    uint64_t expected) const;
  Fault classify(const Operands &operands, uint64_t got,
                 uint64_t expected) const;

  const Checked &checked;
  OpKind operation;             ///< of which the result is, for the reference
  std::vector<Format> meanings; ///< of the operands; null: an integer
  Format result;                ///< its meaning; null: an integer or a test
  OperationRules rules;
  int32_t relations = 0;
  bool known = true;
};

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_JUDGE_H
