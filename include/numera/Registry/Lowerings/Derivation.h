// SPDX-License-Identifier: MIT
//
// Operations of an opaque format that are made of registered functions, where
// its entry says so (`derive: [sub, neg, max]`). Each rule gives what a
// function of its own would give, rounded once, if the cast to f32 or f64 that
// the library registers is exact.

#ifndef NUMERA_REGISTRY_LOWERINGS_DERIVATION_H
#define NUMERA_REGISTRY_LOWERINGS_DERIVATION_H

#include "numera/Registry/Lowerings/RegistryEntries.h"

namespace numera {

/// How one operation is made of others.
struct Derivation {
  enum class Rule {
    ThroughCast, ///< the operation in `through`, between registered casts
    Negation,    ///< x - y as x + (-y)
    Comparison,  ///< a predicate of cmp by another one
    Choice,      ///< min and max by `x < y`
  };
  Rule rule{};
  Format through = {}; ///< f32 or f64, with ThroughCast
  /// With Comparison and Choice: the function that compares, whether its
  /// operands are swapped, and whether the truth is the opposite.
  const Lowering *comparison = nullptr;
  bool isSwapped = false, isInverted = false;

  /// `add and neg`, `cmp olt`, `cast to f64`.
  std::string description() const;
};

/// True if there is a rule for the operation.
bool isDerivable(OpKind operation);

/// How `key`, which no function is registered for, is derived; none where its
/// format does not allow that or what it takes is not registered.
std::optional<Derivation> derive(const RegistryEntries &registry,
                                 const Lowering &key);

/// True if NaN of the format is NaR, which equals itself and is below all; of
/// an opaque format what its entry calls equivalent says so.
bool isTotallyOrdered(const RegistryEntries &registry, const Format &format);

/// Operations that a carrier may compute, so that a `round_to` may name them.
llvm::ArrayRef<OpKind> carriedOperations();

/// True if the operation of `key`, on an opaque format and its exact carrier
/// alone, is the carrier's own operation followed by the cast back: because
/// nothing else is registered, or because the format's `round_to` says so.
bool runsInCarrier(const RegistryEntries &registry, const Lowering &key);

/// Where an operation of a format comes from.
struct Provision {
  enum class Kind { Registered, BuiltIn, Derived, Fallback, Missing };
  Kind kind = Kind::Missing;
  const Lowering *lowering = nullptr; ///< with Registered
  std::string origin; ///< with Derived and Fallback: of what it is made
};
Provision provisionOf(const RegistryEntries &registry, const Lowering &key);

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_DERIVATION_H
