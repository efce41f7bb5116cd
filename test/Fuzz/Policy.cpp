// SPDX-License-Identifier: MIT
//
// A first line `FORMAT;ACCUMULATOR;TYPES`, as --format, --accumulate and
// --replace name them, and a configuration with a policy: they are resolved, or
// refused in one line.

#include "numera/Dialect/Numera/Transforms/Retype/Policy.h"
#include "Fuzz.h"

using namespace llvm;
using namespace numera;
using fuzz::promise;

static void promiseMessage(StringRef error) {
  promise(!error.empty(), "a refusal says why");
}

static void promiseNames(const Registry &registry,
                         const ResolvedPolicy &policy) {
  promise(bool(policy.format), "a policy has a format");
  (void)registry.nameOrSpelling(policy.format);
  for (const Role *role :
       {&policy.weights, &policy.activations, &policy.outputs}) {
    if (role->scaled)
      (void)registry.nameOrSpelling(role->scaled);
    if (role->format)
      (void)registry.nameOrSpelling(role->format);
  }
  for (const ResolvedRule &rule : policy.rules) {
    (void)rule.rule->pattern();
    (void)rule.rule->matches("conv1", "onnx.Softmax");
    (void)rule.rule->matches("", "");
    promiseNames(registry, rule.policy);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Registry builtin;
  Registry registry = builtin;
  auto [line, text] = fuzz::textOf(data, size).split('\n');
  auto [format, rest] = line.split(';');
  auto [accumulate, types] = rest.split(';');
  std::string errors, error;
  raw_string_ostream stream(errors);
  if (!registry.loadText(text, "fuzz.yaml", "/none", stream)) {
    fuzz::promiseOneLine(errors, "fuzz.yaml");
    return 0;
  }
  std::optional<PolicyRequest> request =
      readRequest(registry, format, accumulate, error);
  if (!request || !readReplaced(registry, types, request->replaced, error)) {
    promiseMessage(error);
    return 0;
  }
  for (bool keeps : {false, true}) {
    request->keepsRoles = keeps;
    std::optional<ResolvedPolicy> policy =
        resolvePolicy(registry, *request, error);
    if (policy)
      promiseNames(registry, *policy);
    else
      promiseMessage(error);
  }
  return 0;
}
