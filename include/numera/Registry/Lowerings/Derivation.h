// SPDX-License-Identifier: MIT
//
// Operations of an opaque format that are derived from registered functions, if
// its entry allows it (`derive: [sub, neg, max]`). If the registered cast to
// f32 or f64 is exact, each rule gives the result rounded once.

#ifndef NUMERA_REGISTRY_LOWERINGS_DERIVATION_H
#define NUMERA_REGISTRY_LOWERINGS_DERIVATION_H

#include "numera/Registry/Lowerings/RegistryEntries.h"

namespace numera {

/// How one operation is derived from others.
struct Derivation {
  enum class Rule {
    ThroughCast, ///< the operation in `through`, between registered casts
    Negation,    ///< x - y as x + (-y)
    Comparison,  ///< a predicate of cmp by another one
    Choice,      ///< min and max by `x < y`
  };
  Rule rule{};
  Format through = {}; ///< f32 or f64, with ThroughCast
  /// With Comparison and Choice: the comparing function, whether its operands
  /// are swapped, and whether its result is inverted.
  const Lowering *comparison = nullptr;
  bool isSwapped = false, isInverted = false;

  /// `add and neg`, `cmp olt`, `cast to f64`.
  std::string description() const;
};

/// True if there is a rule for the operation.
bool isDerivable(OpKind operation);

/// How to derive `key`, for which no function is registered; none if its format
/// does not allow it, or if a required function is not registered.
std::optional<Derivation> derive(const RegistryEntries &registry,
                                 const Lowering &key);

/// True if the format's NaN is NaR, which equals itself and is below all
/// numbers. For an opaque format its `equivalent` decides.
bool isTotallyOrdered(const RegistryEntries &registry, const Format &format);

/// The operations that a `round_to` may name, because a carrier may compute
/// them.
llvm::ArrayRef<OpKind> carriedOperations();

/// True if the operation of `key`, on an opaque format and its exact carrier
/// only, is the carrier's own operation followed by the cast back: because
/// nothing else is registered, or because the format's `round_to` says so.
bool runsInCarrier(const RegistryEntries &registry, const Lowering &key);

/// Where an operation of a format comes from.
struct Provision {
  enum class Kind { Registered, BuiltIn, Derived, Fallback, Missing };
  Kind kind = Kind::Missing;
  const Lowering *lowering = nullptr; ///< with Registered
  std::string origin;                 ///< with Derived and Fallback: its parts
};
Provision provisionOf(const RegistryEntries &registry, const Lowering &key);

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_DERIVATION_H
