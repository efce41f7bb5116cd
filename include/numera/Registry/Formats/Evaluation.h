// SPDX-License-Identifier: MIT
//
// How an operation is evaluated in a format: its rounding, its overflow rule
// and what is cut off its operands first, after the changes that the format's
// configuration makes (`operations: {mul: {truncate-operands: 3}}`); and the
// evaluation itself, by the code that compiled programs run. Folding, lowering
// and the tools all ask here.

#ifndef NUMERA_REGISTRY_FORMATS_EVALUATION_H
#define NUMERA_REGISTRY_FORMATS_EVALUATION_H

#include "numera/Registry/Formats/FormatFamily.h"

namespace numera {

/// What one operation does to its operands and to the exact result.
struct OperationRules {
  Format result; ///< null for an integer
  /// The result's format with the overflow rule of the operation in place of
  /// its own: what the result is encoded in.
  Format encoding;
  RoundingMode rounding = Rounding::NearestEven;
  /// Low bits of each operand's significand that are cleared first, in that
  /// operand's own format; empty where there are none.
  llvm::SmallVector<int32_t, 3> truncation = {};
};

/// The rules of `operation` on operands in these formats (null: an integer),
/// with a result in `result`. Changes are those of the result's format. Not for
/// `mac`, whose rules are StepRules.
OperationRules rulesOf(OpKind operation, const Format &result,
                       llvm::ArrayRef<Format> operands);

/// The rules of the step of a contraction, acc <- round(acc + lhs * rhs) or,
/// with a product's format, acc <- round(acc + round(lhs * rhs)).
struct StepRules {
  /// Of the multiplication, if its product is rounded.
  std::optional<OperationRules> product;
  /// Of the fused step, with the operands lhs, rhs, acc; or of the addition,
  /// with the operands acc, product.
  OperationRules sum;
};

/// The step is what `mac` changes in the accumulator's format; for what `mac`
/// does not say, an `fma`, or a `mul` in the product's format and an `add`. The
/// factors are truncated as `mac` says in their own formats as well: a wide
/// accumulator does not hide a multiplier.
StepRules stepRules(const Format &accumulator, const Format &product,
                    const Format &lhs, const Format &rhs);

/// True if a code means the same in both, whatever they say of rounding.
bool haveSameCodes(const Format &x, const Format &y);

/// The operation on codes of `operands`, evaluated by `rules`. `extra` is the
/// set of Relation bits of a `cmp`. `mac` is fused. All formats have
/// arithmetic. A value that is no binary fraction enters an operation on mixed
/// formats rounded to odd at 64 bits (Semantics A2).
uint64_t evaluateOperation(OpKind operation, const OperationRules &rules,
                           llvm::ArrayRef<Format> operands,
                           llvm::ArrayRef<uint64_t> codes, int32_t extra = 0);

/// The same on codes of one format, with the rounding `mode` whatever the
/// format says. `rulesOf(…).rounding` is what it says.
uint64_t evaluateOperation(OpKind operation, const Format &format,
                           llvm::ArrayRef<uint64_t> codes, RoundingMode mode,
                           int32_t extra = 0);

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_EVALUATION_H
