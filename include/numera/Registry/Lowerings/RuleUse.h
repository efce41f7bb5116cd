// SPDX-License-Identifier: MIT
//
// How the rules of a policy were applied in a program, for reports.

#ifndef NUMERA_REGISTRY_LOWERINGS_RULEUSE_H
#define NUMERA_REGISTRY_LOWERINGS_RULEUSE_H

#include <string>
#include <utility>
#include <vector>

namespace numera {

struct RuleUse {
  std::string match; ///< `conv1*`, `op softmax`
  /// Names or spellings.
  std::string format, accumulate;
  /// The roles `weights`, `activations` and `outputs` that are stored in
  /// another format than `format`, with that format.
  std::vector<std::pair<std::string, std::string>> roles;
  /// The names of the operations that it was applied to, each once. An
  /// operation without a name is listed by its operator, `linalg.matmul`.
  std::vector<std::string> operations;
};

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_RULEUSE_H
