// SPDX-License-Identifier: MIT
//
// What numera-retype says of the rules of a policy.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_RULEUSES_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_RULEUSES_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include <vector>

namespace numera {

/// The names of operations that a rule was for.
using RuleOperations = std::vector<std::string>;

/// Sets the module's `numera.rules`, a list of dictionaries with `match` and
/// `operations`, one for each rule; no attribute where there are none.
void setRuleUses(mlir::ModuleOp module, const ResolvedPolicy &policy,
                 llvm::ArrayRef<RuleOperations> uses);
/// Reads the operations, and takes the attribute away.
std::vector<RuleOperations> takeRuleUses(mlir::ModuleOp module);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_RULEUSES_H
