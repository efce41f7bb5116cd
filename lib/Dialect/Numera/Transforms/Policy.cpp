// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Policy.h"

namespace numera {

static std::string nameOrSpelling(const Registry &registry,
                                  const Format &format) {
  std::string name = registry.nameOf(format);
  return name.empty() ? format.spelling() : name;
}

std::optional<ResolvedPolicy> resolvePolicy(const Registry &registry,
                                            llvm::StringRef to,
                                            llvm::StringRef accumulate,
                                            std::string &error) {
  const Policy &policy = registry.policy();
  ResolvedPolicy resolved;
  if (!to.empty())
    resolved.format = registry.lookupFormat(to, error);
  else
    resolved.format = policy.defaultFormat ? policy.defaultFormat : formatF32();
  if (!resolved.format)
    return std::nullopt;

  bool same =
      accumulate == "same" ||
      (accumulate.empty() && policy.accumulate == Policy::Accumulate::Same);
  if (same) {
    resolved.accumulator = resolved.product = resolved.format;
    resolved.accumulateName = "same";
    return resolved;
  }
  if (accumulate == "quire") {
    error = "accumulate 'quire' is not supported yet; expected same, f32, f64 "
            "or a format";
    return std::nullopt;
  }
  if (!accumulate.empty())
    resolved.accumulator = registry.lookupFormat(accumulate, error);
  else if (policy.accumulate == Policy::Accumulate::Named)
    resolved.accumulator = policy.accumulator;
  else
    resolved.accumulator = defaultAccumulator(resolved.format);
  if (!resolved.accumulator)
    return std::nullopt;
  resolved.accumulateName = nameOrSpelling(registry, resolved.accumulator);
  return resolved;
}

} // namespace numera
