// SPDX-License-Identifier: MIT
//
// The choice of format and accumulator for a model, out of what the user asked
// for and the configuration's policy.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_POLICY_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_POLICY_H

#include "mlir/Pass/Pass.h"
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

/// What a user asks for.
struct PolicyRequest {
  /// Both null: the policy's default, else f32.
  Format format;
  ScaledFormat scaled;
  /// Default: the policy's, else by the format.
  Policy::Accumulate accumulate = Policy::Accumulate::Default;
  /// With Named; with Quire the format whose library has the accumulator.
  Format accumulator;
  /// Whoever names a format decides for all tensors: the roles and the rules of
  /// the policy are for its own default, or with this.
  bool keepsRoles = false;

  bool hasFormat() const { return format || scaled; }
};

/// Reads `to` (a name or spelling, of a scaled format too; empty: not named)
/// and `accumulate` (`same`, `quire`, `tensorcore`, the name of a library's
/// accumulator, a name or spelling; empty: not named). A message in `error` and
/// nullopt on failure.
std::optional<PolicyRequest> readRequest(const Registry &registry,
                                         llvm::StringRef to,
                                         llvm::StringRef accumulate,
                                         std::string &error);

/// The registry's policy for what is asked for. A message in `error` and
/// nullopt on failure.
std::optional<ResolvedPolicy> resolvePolicy(const Registry &registry,
                                            const PolicyRequest &request,
                                            std::string &error);

struct NumeraRetypeOptions;
/// numera-retype with a policy that is resolved; of the options, those that say
/// something else.
std::unique_ptr<mlir::Pass>
createRetypePass(const ResolvedPolicy &policy,
                 const NumeraRetypeOptions &options);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_POLICY_H
