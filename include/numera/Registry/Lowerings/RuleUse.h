// SPDX-License-Identifier: MIT
//
// What the rules of a policy were in a program, for reports.

#ifndef NUMERA_REGISTRY_LOWERINGS_RULEUSE_H
#define NUMERA_REGISTRY_LOWERINGS_RULEUSE_H

#include <string>
#include <utility>
#include <vector>

namespace numera {

struct RuleUse {
  std::string match; ///< `conv1*`, `op softmax`
  /// Names or spellings, as of the whole program.
  std::string format, accumulate;
  /// Where it is not the format: `weights`, `activations` or `outputs`, and
  /// what they are stored in.
  std::vector<std::pair<std::string, std::string>> roles;
  /// The names of operations that it was for, each once; of those without a
  /// name their operator, `linalg.matmul`.
  std::vector<std::string> operations;
};

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_RULEUSE_H
