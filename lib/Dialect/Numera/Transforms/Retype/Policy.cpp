// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Formats/Evaluation.h"
#include "numera/Registry/Formats/Words.h"
#include "numera/Registry/Lowerings/Derivation.h"

namespace numera {

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
static void resolveFormat(const Registry &registry, const Policy &policy,
                          const PolicyRequest &request,
                          ResolvedPolicy &resolved) {
  if (!request.hasFormat() || request.keepsRoles) {
    resolved.weights = policy.weights;
    resolved.activations = policy.activations;
    resolved.outputs = policy.outputs;
  }
  resolved.scales = &registry.policy().scales;
  resolved.zeroPoints = &registry.policy().zeroPoints;
  ScaledFormat scaled =
      request.hasFormat() ? request.scaled : policy.defaultScaled;
  if (scaled)
    moveToScaled(scaled, resolved);
  else if (request.hasFormat())
    resolved.format = request.format;
  else
    resolved.format = policy.defaultFormat ? policy.defaultFormat : formatF32();
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
  Lowering key;
  key.operation = OpKind::Cast;
  key.target = numera::Target::CPU;
  key.result = to;
  key.operands = {from};
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

/// Sums in the format's quire or in its library's accumulator.
static bool resolveExact(const Registry &registry, const Format &owner,
                         ResolvedPolicy &resolved, std::string &error) {
  std::string name = owner ? registry.entryOf(owner)->accumulatorName : "quire";
  if (owner && owner != resolved.format) {
    error = "accumulator '" + name + "' adds up numbers of '" +
            registry.nameOrSpelling(owner) + "', found a model in '" +
            registry.nameOrSpelling(resolved.format) + "'";
    return false;
  }
  if (!hasQuire(registry, resolved.format, error))
    return false;
  resolved.accumulator = resolved.format;
  resolved.isExact = true;
  resolved.accumulateName = name;
  return true;
}

/// False for codes of more than 64 bits that are to be stored without gaps.
static bool checkPacking(const ResolvedPolicy &resolved, std::string &error) {
  for (const Role *role :
       {&resolved.weights, &resolved.activations, &resolved.outputs}) {
    const Format &format = role->format ? role->format : resolved.format;
    if (!role->isPacked || role->scaled || !format || !format.isWide())
      continue;
    error = "format '" + format.getOpaqueName().str() + "' has " +
            std::to_string(format.width()) +
            " bits, and packed tensors have codes of at most 64; expected "
            "'storage: plain'";
    return false;
  }
  return true;
}

/// All but the rules.
static std::optional<ResolvedPolicy> resolve(const Registry &registry,
                                             const Policy &policy,
                                             const PolicyRequest &request,
                                             std::string &error) {
  using Accumulate = Policy::Accumulate;
  ResolvedPolicy resolved;
  resolveFormat(registry, policy, request, resolved);
  if (!checkPacking(resolved, error))
    return std::nullopt;
  bool isNamed = request.accumulate != Accumulate::Default;
  Accumulate accumulate = isNamed ? request.accumulate : policy.accumulate;
  Format accumulator = isNamed ? request.accumulator : policy.accumulator;
  if (accumulate == Accumulate::Same) {
    resolved.accumulator = resolved.product = resolved.format;
    resolved.accumulateName = "same";
    const Format &format = resolved.format;
    StepRules rules = stepRules(format, format, format, format);
    if (format.changeOf(OpKind::Mac) &&
        rules.product->rounding == Rounding::Stochastic) {
      error = "accumulate 'same' rounds products stochastically, each by a mul "
              "and an add: '" +
              registry.nameOrSpelling(format) +
              "' changes 'mac', expected changes of 'mul' and 'add'";
      return std::nullopt;
    }
    return resolved;
  }
  if (accumulate == Accumulate::Quire ||
      (accumulate == Accumulate::Default &&
       resolved.format.getFamily().accumulatesExactly()))
    return resolveExact(registry, accumulator, resolved, error)
               ? std::optional(resolved)
               : std::nullopt;
  if (accumulate == Accumulate::TensorCore) {
    resolved.accumulator = formatF32();
    resolved.usesTensorCores = true;
    resolved.accumulateName = "tensorcore";
    return resolved;
  }
  resolved.accumulator = accumulate == Accumulate::Named
                             ? accumulator
                             : usualAccumulator(registry, resolved.format);
  resolved.accumulateName = registry.nameOrSpelling(resolved.accumulator);
  return resolved;
}

/// A rule with a format is a policy of its own; one without changes what it
/// names of the model's.
static std::optional<ResolvedPolicy> resolveRule(const Registry &registry,
                                                 const Policy::Rule &rule,
                                                 PolicyRequest request,
                                                 std::string &error) {
  Policy policy;
  if (!rule.hasFormat())
    policy = registry.policy();
  else {
    request = {};
    policy.defaultFormat = rule.format;
    policy.defaultScaled = rule.scaled;
  }
  request.keepsRoles = true;
  if (rule.weights)
    policy.weights = rule.weights;
  if (rule.activations)
    policy.activations = rule.activations;
  if (rule.outputs)
    policy.outputs = rule.outputs;
  if (rule.accumulate != Policy::Accumulate::Default) {
    request.accumulate = Policy::Accumulate::Default;
    policy.accumulate = rule.accumulate;
    policy.accumulator = rule.accumulator;
  }
  return resolve(registry, policy, request, error);
}

std::optional<PolicyRequest> readRequest(const Registry &registry,
                                         llvm::StringRef to,
                                         llvm::StringRef accumulate,
                                         std::string &error) {
  using Accumulate = Policy::Accumulate;
  PolicyRequest request;
  error.clear();
  if (!to.empty()) {
    request.scaled = registry.lookupScaledFormat(to, error);
    if (!error.empty())
      return std::nullopt;
    if (!request.scaled &&
        !(request.format = registry.lookupElement(to, error)))
      return std::nullopt;
  }
  if (accumulate.empty())
    return request;
  request.accumulate = Policy::accumulateFromName(accumulate);
  if (request.accumulate != Accumulate::Default)
    return request;
  for (const Registry::NamedFormat &named : registry.formats())
    if (named.accumulatorName == accumulate) {
      request.accumulate = Accumulate::Quire;
      request.accumulator = named.format;
      return request;
    }
  request.accumulate = Accumulate::Named;
  request.accumulator = registry.lookupElement(accumulate, error);
  if (request.accumulator)
    return request;
  constexpr llvm::StringLiteral unknown = "unknown format";
  if (llvm::StringRef rest = error; rest.consume_front(unknown))
    error = "unknown accumulator" +
            (rest.contains("did you mean")
                 ? rest.str()
                 : " '" + accumulate.str() + "'" +
                       expectation(accumulate, {"same", "quire", "tensorcore",
                                                "a format such as f32"}));
  return std::nullopt;
}

bool readReplaced(const Registry &registry, llvm::StringRef names,
                  std::vector<Format> &replaced, std::string &error) {
  if (names.empty())
    return true;
  replaced.clear();
  llvm::SmallVector<llvm::StringRef> words;
  names.split(words, ',');
  for (llvm::StringRef word : words)
    if (Format format = registry.lookupFloatType(word.trim(), error))
      replaced.push_back(format);
    else
      return false;
  return true;
}

ResolvedPolicy usualPolicy(const Registry &registry, const Format &format) {
  PolicyRequest request;
  request.format = format;
  std::string error;
  return *resolve(registry, Policy(), request, error);
}

std::optional<ResolvedPolicy> resolvePolicy(const Registry &registry,
                                            const PolicyRequest &request,
                                            std::string &error) {
  auto resolved = resolve(registry, registry.policy(), request, error);
  for (const std::vector<Format> *replaced :
       {&request.replaced, &registry.policy().replaced})
    if (resolved && !replaced->empty()) {
      resolved->replaced = *replaced;
      break;
    }
  if (!resolved || (request.hasFormat() && !request.keepsRoles))
    return resolved;
  for (const Policy::Rule &rule : registry.policy().rules) {
    auto own = resolveRule(registry, rule, request, error);
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
