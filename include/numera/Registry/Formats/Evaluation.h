// SPDX-License-Identifier: MIT
//
// The rules by which an operation is evaluated in a format: its rounding, its
// overflow rule and the truncation of its operands, including the changes in
// the format's configuration (`operations: {mul: {truncate-operands: 3}}`). The
// evaluation uses the code that compiled programs run. Folding, lowering and
// the tools use these functions.

#ifndef NUMERA_REGISTRY_FORMATS_EVALUATION_H
#define NUMERA_REGISTRY_FORMATS_EVALUATION_H

#include "numera/Registry/Formats/FormatFamily.h"

namespace numera {

/// How one operation treats its operands and its exact result.
struct OperationRules {
  Format result; ///< null for an integer
  /// The format that the result is encoded in: the result's format with the
  /// overflow rule of the operation.
  Format encoding;
  RoundingMode rounding = Rounding::NearestEven;
  /// The number of low bits of each operand's significand that are cleared
  /// first, in that operand's own format; empty if there are none.
  llvm::SmallVector<int32_t, 3> truncation = {};
};

/// The rules of `operation` on operands in these formats (null for an integer),
/// with a result in `result`. The changes are those of the result's format. Not
/// for `mac`, whose rules are StepRules.
OperationRules rulesOf(OpKind operation, const Format &result,
                       llvm::ArrayRef<Format> operands);

/// The rules of the step of a contraction, acc <- round(acc + lhs * rhs) or,
/// with a product's format, acc <- round(acc + round(lhs * rhs)).
struct StepRules {
  /// The rules of the multiplication, if its product is rounded.
  std::optional<OperationRules> product;
  /// The rules of the fused step, with the operands lhs, rhs, acc, or of the
  /// addition, with the operands acc, product.
  OperationRules sum;
};

/// The changes of `mac` in the accumulator's format apply. What they leave out
/// follows from the changes of `fma`, or of `mul` in the product's format and
/// of `add`. The changes of `mac` in the factors' own formats also truncate the
/// factors, so that a wide accumulator does not disable a truncating
/// multiplier.
StepRules stepRules(const Format &accumulator, const Format &product,
                    const Format &lhs, const Format &rhs);

/// True if every code has the same value in both formats, regardless of their
/// rounding.
bool haveSameCodes(const Format &x, const Format &y);

/// The operation on codes of `operands`, evaluated by `rules`. `extra` is the
/// set of Relation bits of a `cmp`. `mac` is fused. All formats have
/// arithmetic. In an operation on mixed formats, a value that is not a binary
/// fraction is first rounded to odd at 64 bits (Semantics A2).
uint64_t evaluateOperation(OpKind operation, const OperationRules &rules,
                           llvm::ArrayRef<Format> operands,
                           llvm::ArrayRef<uint64_t> codes, int32_t extra = 0);

/// The same on codes of one format, with the rounding `mode` instead of the
/// format's, which is `rulesOf(…).rounding`.
uint64_t evaluateOperation(OpKind operation, const Format &format,
                           llvm::ArrayRef<uint64_t> codes, RoundingMode mode,
                           int32_t extra = 0);

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_EVALUATION_H
