// SPDX-License-Identifier: MIT
//
// The choice of format and accumulator for a model, from the user's request and
// the configuration's policy.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_POLICY_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_POLICY_H

#include "mlir/Pass/Pass.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Registry.h"
#include <optional>

namespace numera {

struct ResolvedRule;

/// The resolved policy of a model.
struct ResolvedPolicy {
  Format format;
  /// The accumulator of contractions and sums; the format itself with
  /// `isExact`.
  Format accumulator;
  /// Contractions and sums accumulate in the format's quire.
  bool isExact = false;
  /// True if contractions use a GPU's matrix instructions. Sums are in f32,
  /// which is `accumulator`, and their bits are the machine's.
  bool usesTensorCores = false;
  /// The format to which products are rounded before they are added; null for
  /// none.
  Format product;
  /// How the accumulator was named, for reports: `same`, `quire`,
  /// `tensorcore`, `posit16`.
  std::string accumulateName;
  /// The formats in which operands and results of contractions are stored;
  /// null: `format`.
  Role weights, activations, outputs;
  /// True for the copy of a model that its layers are compared with: no number
  /// of it is returned, and NaNs need not be canonical.
  bool isReference = false;
  /// The scaled format of the model; numbers are in `format` unless a role
  /// names another one. Null: none.
  ScaledFormat scaled;
  /// Calibrated scales and their zero points, by name; not null.
  const llvm::StringMap<std::vector<float>> *scales = nullptr;
  const llvm::StringMap<std::vector<float>> *zeroPoints = nullptr;
  /// The formats of the float types that the format replaces, in the model and
  /// under its rules.
  std::vector<Format> replaced = {formatF32()};
  /// The policies of operations that a rule matches, in the order of the file.
  std::vector<ResolvedRule> rules;

  /// True if the whole model is scaled, with scales for the worst case.
  bool isScaledThroughout() const {
    return scaled && scaled.scaling.rule == ScaleRule::Range;
  }
  bool hasRoles() const { return weights || activations || outputs; }
};

struct ResolvedRule {
  const Policy::Rule *rule; ///< the registry's
  ResolvedPolicy policy;
};

/// The user's request.
struct PolicyRequest {
  /// Both null: the policy's default, else f32.
  Format format;
  ScaledFormat scaled;
  /// Default: the policy's, else by the format.
  Policy::Accumulate accumulate = Policy::Accumulate::Default;
  /// Set with Named; with Quire, the format whose library has the accumulator.
  Format accumulator;
  /// True if the roles and rules of the policy apply even if the request names
  /// a format. By default they apply only to the policy's own format.
  bool keepsRoles = false;
  /// The formats of the float types to replace. Empty: the policy's, else f32.
  std::vector<Format> replaced;

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

/// Reads names of float types, `f32,bf16`. Those of `replaced` are kept where
/// the text is empty. A message in `error` and false on failure.
bool readReplaced(const Registry &registry, llvm::StringRef names,
                  std::vector<Format> &replaced, std::string &error);

/// The policy of a format if nobody asks for more.
ResolvedPolicy usualPolicy(const Registry &registry, const Format &format);

/// Resolves the registry's policy for a request. On failure returns nullopt
/// with a message in `error`.
std::optional<ResolvedPolicy> resolvePolicy(const Registry &registry,
                                            const PolicyRequest &request,
                                            std::string &error);

struct NumeraRetypeOptions;
/// numera-retype with a resolved policy. Only options that do not concern the
/// policy are used.
std::unique_ptr<mlir::Pass>
createRetypePass(const ResolvedPolicy &policy,
                 const NumeraRetypeOptions &options);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPE_POLICY_H
