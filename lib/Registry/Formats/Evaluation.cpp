// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/Evaluation.h"
#include "numera/Registry/Formats/ExactValue.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace numera;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Applies what `changes` say, the first one that says anything of a key, in
/// place of what the format says itself.
static OperationRules
rulesAfter(const Format &result,
           llvm::ArrayRef<const OperationChange *> changes) {
  OperationRules rules;
  rules.result = rules.encoding = result;
  rules.rounding = result.getRoundingMode();
  for (const OperationChange *change : llvm::reverse(changes)) {
    if (!change)
      continue;
    if (change->rounding)
      rules.rounding = {*change->rounding, change->randomBits};
    if (change->overflow) // the family has it: FormatFamily::create
      rules.encoding =
          result.getFamily().withOverflow(result, *change->overflow);
  }
  return rules;
}

static int32_t truncationOf(const OperationChange *change) {
  return change ? change->truncateOperands : 0;
}

/// Integers have no significand to cut.
static int32_t truncationAt(const Format &operand, int32_t count) {
  return operand ? count : 0;
}

static void setTruncation(OperationRules &rules,
                          llvm::ArrayRef<int32_t> counts) {
  if (llvm::any_of(counts, [](int32_t count) { return count != 0; }))
    rules.truncation.assign(counts.begin(), counts.end());
}

OperationRules numera::rulesOf(OpKind operation, const Format &result,
                               llvm::ArrayRef<Format> operands) {
  const OperationChange *change = result.changeOf(operation);
  OperationRules rules = rulesAfter(result, change);
  llvm::SmallVector<int32_t, 3> counts;
  for (const Format &operand : operands)
    counts.push_back(truncationAt(operand, truncationOf(change)));
  setTruncation(rules, counts);
  return rules;
}

StepRules numera::stepRules(const Format &accumulator, const Format &product,
                            const Format &lhs, const Format &rhs) {
  const OperationChange *step = accumulator.changeOf(OpKind::Mac);
  const OperationChange *last =
      accumulator.changeOf(product ? OpKind::Add : OpKind::Fma);
  int32_t inner = truncationOf(product ? product.changeOf(OpKind::Mul) : last);
  // A code cut twice is the code cut once, at the larger count.
  auto factor = [&](const Format &format) {
    int32_t own = truncationOf(format.changeOf(OpKind::Mac));
    return std::max({own, truncationOf(step), inner});
  };
  StepRules rules{{}, rulesAfter(accumulator, {step, last})};
  int32_t factors[] = {factor(lhs), factor(rhs)};
  if (!product) {
    setTruncation(rules.sum, {factors[0], factors[1], inner});
    return rules;
  }
  rules.product = rulesAfter(product, product.changeOf(OpKind::Mul));
  setTruncation(*rules.product, factors);
  setTruncation(rules.sum, {truncationOf(last), truncationOf(last)});
  return rules;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

bool numera::haveSameCodes(const Format &x, const Format &y) {
  return &x.getFamily() == &y.getFamily() &&
         x.getParameters() == y.getParameters() &&
         x.getOpaqueName() == y.getOpaqueName();
}

uint64_t numera::evaluateOperation(OpKind operation,
                                   const OperationRules &rules,
                                   llvm::ArrayRef<Format> operands,
                                   llvm::ArrayRef<uint64_t> codes,
                                   int32_t extra) {
  llvm::SmallVector<uint64_t, 3> cut(codes);
  for (auto [i, count] : llvm::enumerate(rules.truncation))
    if (count != 0)
      cut[i] = operands[i].getFamily().truncate(operands[i], cut[i], count);
  const Format &result = rules.encoding;
  const FormatFamily &family = result.getFamily();
  bool isUniform = llvm::all_of(operands, [&](const Format &operand) {
    return haveSameCodes(operand, rules.result);
  });
  if (isUniform)
    return family.evaluate(operation, result, cut, rules.rounding, extra);
  llvm::SmallVector<Unpacked, 3> values;
  for (auto [format, code] : llvm::zip_equal(operands, cut)) {
    Unpacked value = format.getFamily().decode(format, code);
    values.push_back(operation == OpKind::Cast ? value : value.operand());
  }
  return family.encode(result, exactValue(operation, values, rules.rounding),
                       rules.rounding);
}

uint64_t numera::evaluateOperation(OpKind operation, const Format &format,
                                   llvm::ArrayRef<uint64_t> codes,
                                   RoundingMode mode, int32_t extra) {
  if (format.getChanges().empty() && operation != OpKind::Mac)
    return format.getFamily().evaluate(operation, format, codes, mode, extra);
  llvm::SmallVector<Format, 3> operands(codes.size(), format);
  OperationRules rules = operation == OpKind::Mac
                             ? stepRules(format, {}, format, format).sum
                             : rulesOf(operation, format, operands);
  rules.rounding = mode;
  return evaluateOperation(operation, rules, operands, codes, extra);
}
