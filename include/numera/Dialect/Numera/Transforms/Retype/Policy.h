// SPDX-License-Identifier: MIT
//
// The choice of format and accumulator for a model, out of what the user asked
// for and the configuration's policy.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_POLICY_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_POLICY_H

#include "numera/Registry/Registry.h"
#include <optional>

namespace numera {

struct ResolvedRule;

/// What a model is rewritten to.
struct ResolvedPolicy {
  Format format;
  /// The accumulator of contractions and sums; the format itself with
  /// `isExact`.
  Format accumulator;
  /// Contractions and sums accumulate in the format's quire.
  bool isExact = false;
  /// Contractions are left to a GPU's matrix instructions, with sums in f32,
  /// which is `accumulator`: their bits are the machine's.
  bool usesTensorCores = false;
  /// The format products are rounded to before they are added; null for none.
  Format product;
  /// How the accumulator was named, for reports: `same`, `quire`,
  /// `tensorcore`, `posit16`.
  std::string accumulateName;
  /// What operands and results of contractions are stored in; null: `format`.
  Role weights, activations, outputs;
  /// The scaled format of the model, whose numbers are in `format` where no
  /// role says otherwise; null: none.
  ScaledFormat scaled;
  /// Calibrated scales and their zero points, by name; not null.
  const llvm::StringMap<std::vector<float>> *scales = nullptr;
  const llvm::StringMap<std::vector<float>> *zeroPoints = nullptr;
  /// What operations are rewritten to that a rule matches, in the file's order.
  std::vector<ResolvedRule> rules;

  /// True if all of the model is scaled, with scales of the worst case.
  bool isScaledThroughout() const {
    return scaled && scaled.scaling.rule == ScaleRule::Range;
  }
  bool hasRoles() const { return weights || activations || outputs; }
};

struct ResolvedRule {
  const Policy::Rule *rule; ///< the registry's
  ResolvedPolicy policy;
};

/// Resolves `to` (a name or spelling, of a scaled format too; empty: the
/// policy's default, else f32)
/// and `accumulate` (`same`, `quire`, `tensorcore`, a name or spelling; empty:
/// the policy's, else by the format). Whoever names a format decides for all
/// tensors: the roles and the rules of the policy are for its own default, or
/// with `keepsRoles`. A message in `error` and nullopt on failure.
std::optional<ResolvedPolicy> resolvePolicy(const Registry &registry,
                                            llvm::StringRef to,
                                            llvm::StringRef accumulate,
                                            std::string &error,
                                            bool keepsRoles = false);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_POLICY_H
