// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Formats/Evaluation.h"
#include "numera/Registry/Lowerings/Derivation.h"

namespace numera {

static std::string nameOrSpelling(const Registry &registry,
                                  const Format &format) {
  std::string name = registry.nameOf(format);
  return name.empty() ? format.spelling() : name;
}

/// A model in a scaled format is one in f32 whose contractions read scaled
/// operands; with scales of the worst case, one in which all is scaled.
static void moveToScaled(const ScaledFormat &scaled, ResolvedPolicy &resolved) {
  resolved.scaled = scaled;
  resolved.format = formatF32();
  if (resolved.isScaledThroughout() && !resolved.hasRoles())
    return;
  for (Role *role : {&resolved.weights, &resolved.activations})
    if (!role->format && !role->scaled) {
      role->scaled = scaled;
      role->scaled.scaling.isPacked |= role->isPacked;
    }
}

/// The format of the model and the roles of tensors in it.
static bool resolveFormat(const Registry &registry, const Policy &policy,
                          llvm::StringRef to, bool keepsRoles,
                          ResolvedPolicy &resolved, std::string &error) {
  error.clear();
  if (to.empty() || keepsRoles) {
    resolved.weights = policy.weights;
    resolved.activations = policy.activations;
    resolved.outputs = policy.outputs;
  }
  resolved.scales = &registry.policy().scales;
  resolved.zeroPoints = &registry.policy().zeroPoints;
  ScaledFormat scaled = to.empty() ? policy.defaultScaled
                                   : registry.lookupScaledFormat(to, error);
  if (!error.empty())
    return false;
  if (scaled)
    moveToScaled(scaled, resolved);
  else if (!to.empty())
    resolved.format = registry.lookupFormat(to, error);
  else
    resolved.format = policy.defaultFormat ? policy.defaultFormat : formatF32();
  return static_cast<bool>(resolved.format);
}

/// True if the library of an opaque format says how its contractions add up:
/// by functions of its own on tensors, or a step.
static bool hasOwnProducts(const Registry &registry, const Format &format) {
  return llvm::any_of(registry.lowerings(), [&](const Lowering &lowering) {
    switch (lowering.operation) {
    case OpKind::Matmul:
    case OpKind::Dot:
    case OpKind::Mac:
      return lowering.result == format;
    default:
      return false;
    }
  });
}

static bool hasCast(const Registry &registry, const Format &from,
                    const Format &to) {
  Lowering key{.operation = OpKind::Cast,
               .target = numera::Target::CPU,
               .result = to,
               .operands = {from}};
  Provision::Kind kind = provisionOf(registry, key).kind;
  // A fallback would round twice, or be computed in another type unasked.
  return kind == Provision::Kind::Registered ||
         kind == Provision::Kind::Derived;
}

/// The accumulator where nobody names one. An opaque format has that of the
/// format that it is equivalent to, where its library has the casts.
static Format usualAccumulator(const Registry &registry, const Format &format) {
  Format meaning = registry.equivalentOf(format);
  if (!meaning || meaning == format)
    return defaultAccumulator(format);
  if (meaning.getFamily().accumulatesExactly())
    return format; // the library's own quire, if any, is asked for by name
  Format wide = defaultAccumulator(meaning);
  bool isWider = wide != meaning;
  return isWider && hasCast(registry, format, wide) &&
                 hasCast(registry, wide, format) &&
                 !hasOwnProducts(registry, format)
             ? wide
             : format;
}

/// The format whose library has the accumulator that was named; null: it is
/// asked for in another way.
static Format ownerOfAccumulator(const Registry &registry, const Policy &policy,
                                 llvm::StringRef accumulate) {
  if (accumulate.empty())
    return policy.accumulate == Policy::Accumulate::Quire ? policy.accumulator
                                                          : Format();
  for (const Registry::NamedFormat &named : registry.formats())
    if (named.accumulatorName == accumulate)
      return named.format;
  return {};
}

/// Sums in the format's quire or in its library's accumulator.
static bool resolveExact(const Registry &registry, const Format &owner,
                         ResolvedPolicy &resolved, std::string &error) {
  std::string name = owner ? registry.entryOf(owner)->accumulatorName : "quire";
  if (owner && owner != resolved.format) {
    error = "accumulator '" + name + "' adds up numbers of '" +
            nameOrSpelling(registry, owner) + "', found a model in '" +
            nameOrSpelling(registry, resolved.format) + "'";
    return false;
  }
  if (!hasQuire(registry, resolved.format, error))
    return false;
  resolved.accumulator = resolved.format;
  resolved.isExact = true;
  resolved.accumulateName = name;
  return true;
}

/// All but the rules.
static std::optional<ResolvedPolicy>
resolve(const Registry &registry, const Policy &policy, llvm::StringRef to,
        llvm::StringRef accumulate, std::string &error, bool keepsRoles) {
  ResolvedPolicy resolved;
  if (!resolveFormat(registry, policy, to, keepsRoles, resolved, error))
    return std::nullopt;

  auto isWanted = [&](llvm::StringRef name, Policy::Accumulate named) {
    return accumulate == name ||
           (accumulate.empty() && policy.accumulate == named);
  };
  if (isWanted("same", Policy::Accumulate::Same)) {
    resolved.accumulator = resolved.product = resolved.format;
    resolved.accumulateName = "same";
    const Format &format = resolved.format;
    StepRules rules = stepRules(format, format, format, format);
    if (format.changeOf(OpKind::Mac) &&
        rules.product->rounding == Rounding::Stochastic) {
      error = "accumulate 'same' rounds products stochastically, each by a mul "
              "and an add: '" +
              nameOrSpelling(registry, format) +
              "' changes 'mac', expected changes of 'mul' and 'add'";
      return std::nullopt;
    }
    return resolved;
  }
  bool isUsual =
      accumulate.empty() && policy.accumulate == Policy::Accumulate::Default;
  Format owner = ownerOfAccumulator(registry, policy, accumulate);
  if (owner || isWanted("quire", Policy::Accumulate::Quire) ||
      (isUsual && resolved.format.getFamily().accumulatesExactly()))
    return resolveExact(registry, owner, resolved, error)
               ? std::optional(resolved)
               : std::nullopt;
  if (isWanted("tensorcore", Policy::Accumulate::TensorCore)) {
    resolved.accumulator = formatF32();
    resolved.usesTensorCores = true;
    resolved.accumulateName = "tensorcore";
    return resolved;
  }
  if (!accumulate.empty())
    resolved.accumulator = registry.lookupFormat(accumulate, error);
  else if (policy.accumulate == Policy::Accumulate::Named)
    resolved.accumulator = policy.accumulator;
  else
    resolved.accumulator = usualAccumulator(registry, resolved.format);
  if (!resolved.accumulator)
    return std::nullopt;
  resolved.accumulateName = nameOrSpelling(registry, resolved.accumulator);
  return resolved;
}

/// A rule with a format is a policy of its own; one without changes what it
/// names of the model's.
static std::optional<ResolvedPolicy> resolveRule(const Registry &registry,
                                                 const Policy::Rule &rule,
                                                 llvm::StringRef to,
                                                 llvm::StringRef accumulate,
                                                 std::string &error) {
  Policy policy;
  if (!rule.hasFormat())
    policy = registry.policy();
  else {
    to = accumulate = "";
    policy.defaultFormat = rule.format;
    policy.defaultScaled = rule.scaled;
  }
  if (rule.weights)
    policy.weights = rule.weights;
  if (rule.activations)
    policy.activations = rule.activations;
  if (rule.outputs)
    policy.outputs = rule.outputs;
  if (rule.accumulate != Policy::Accumulate::Default) {
    accumulate = "";
    policy.accumulate = rule.accumulate;
    policy.accumulator = rule.accumulator;
  }
  return resolve(registry, policy, to, accumulate, error, /*keepsRoles=*/true);
}

std::optional<ResolvedPolicy>
resolvePolicy(const Registry &registry, llvm::StringRef to,
              llvm::StringRef accumulate, std::string &error, bool keepsRoles) {
  auto resolved =
      resolve(registry, registry.policy(), to, accumulate, error, keepsRoles);
  if (!resolved || (!to.empty() && !keepsRoles))
    return resolved;
  for (const Policy::Rule &rule : registry.policy().rules) {
    auto own = resolveRule(registry, rule, to, accumulate, error);
    if (!own) {
      error =
          "rule '" + rule.pattern() + "' at " + rule.location + ": " + error;
      return std::nullopt;
    }
    resolved->rules.push_back({&rule, std::move(*own)});
  }
  return resolved;
}

} // namespace numera
