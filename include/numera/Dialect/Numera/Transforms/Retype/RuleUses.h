// SPDX-License-Identifier: MIT
//
// The attribute by which numera-retype lists the uses of rules.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_RULEUSES_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_RULEUSES_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include <vector>

namespace numera {

/// The names of the operations that a rule was applied to.
using RuleOperations = std::vector<std::string>;

/// Sets the module's `numera.rules`, a list of dictionaries with `match` and
/// `operations`, one for each rule. Sets no attribute if there are no rules.
void setRuleUses(mlir::ModuleOp module, const ResolvedPolicy &policy,
                 llvm::ArrayRef<RuleOperations> uses);
/// Reads the operations and removes the attribute.
std::vector<RuleOperations> takeRuleUses(mlir::ModuleOp module);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_RULEUSES_H
