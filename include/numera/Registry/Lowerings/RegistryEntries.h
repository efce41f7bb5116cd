// SPDX-License-Identifier: MIT

#ifndef NUMERA_REGISTRY_LOWERINGS_REGISTRYENTRIES_H
#define NUMERA_REGISTRY_LOWERINGS_REGISTRYENTRIES_H

#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Lowerings/Library.h"
#include "numera/Registry/Lowerings/Lowering.h"
#include "numera/Registry/Lowerings/Policy.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <optional>
#include <vector>

namespace numera {

/// Formats, libraries, lowerings and the policy that are registered, by name
/// and by what they are for.
class RegistryEntries {
public:
  /// Registers one more lowering, before the registry is shared.
  void add(Lowering lowering) { registered.push_back(std::move(lowering)); }

  /// A name of the registry, one that a family makes by a rule, or a spelling
  /// (`posit16`, `p3109_k8p3se`, `float<5,7>`); null with a message, naming
  /// near matches, if it is none of these.
  Format lookupFormat(llvm::StringRef text, std::string &error) const;
  /// The name of a format: the first one registered for it, else the one its
  /// family makes by a rule, else empty.
  std::string nameOf(const Format &format) const;
  /// Its name, or without one its spelling: how messages and reports say it.
  std::string nameOrSpelling(const Format &format) const;
  struct NamedFormat {
    std::string name;
    Format format;
    bool isBuiltin;
    std::string location; ///< file:line:column of its entry
    /// Of an opaque format: the format that its codes are to be read as, which
    /// `numera check` holds its library against; null: none is named.
    Format equivalent = {};
    /// Of an opaque format: f32 or f64, in which operations without a function
    /// of their own are computed; null: they are errors.
    Format carrier = {};
    /// The casts to the carrier are exact: it is no mere fallback.
    bool embedsInCarrier = false;
    /// Of an opaque format: the bytes of its library's accumulator; 0: it has
    /// none.
    unsigned accumulatorBytes = 0;
    /// Of an opaque format: the operations that may be made of others
    /// (Derivation.h), a bit for each.
    uint64_t derived = 0;
    Identities identities = {};
    /// Whether what is proven of the functions of an opaque format is made use
    /// of, and whether one NaN may stand for another there.
    enum class Proofs { Off, On, AnyNaN } proofs = Proofs::On;
    /// Of an opaque format's accumulator: the name that `accumulate` may give;
    /// empty: it has none.
    std::string accumulatorName = {};
  };
  /// In the order of registration.
  llvm::ArrayRef<NamedFormat> formats() const { return named; }

  /// A scaled format by name or spelling, `mxfp8`, `block<posit<8,1>,32>`; null
  /// if `text` means none, with a message where it seems to be meant as one.
  ScaledFormat lookupScaledFormat(llvm::StringRef text,
                                  std::string &error) const;
  /// The first name of a scaled format; empty if there is none.
  std::string nameOf(const ScaledFormat &format) const;
  std::string nameOrSpelling(const ScaledFormat &format) const;
  struct NamedScaledFormat {
    std::string name;
    ScaledFormat format;
    bool isBuiltin;
    std::string location; ///< file:line:column of its entry
  };
  llvm::ArrayRef<NamedScaledFormat> scaledFormats() const { return scaled; }
  /// What the codes of `format` mean: itself where it has arithmetic, else the
  /// format that its entry calls equivalent; null where there is none.
  Format equivalentOf(const Format &format) const;
  /// The carrier that the entry of an opaque format names; null: none.
  Format carrierOf(const Format &format) const;
  /// The same if casts to it are exact: where values of the format may stay
  /// between operations.
  Format exactCarrierOf(const Format &format) const;
  /// The function that rounds numbers of the carrier of an opaque format to it,
  /// on that target, with the format's own rounding; null: there is none.
  const Lowering *findRoundTo(const Format &format, Target target) const;
  /// The format with arithmetic that the function above names as the one whose
  /// rounding it is; null: none.
  Format roundsAs(const Format &format, Target target) const;
  /// A part of the accumulator of an opaque format on that target, or a
  /// function for one of its identities; null: there is none.
  const Lowering *findPart(OpKind part, const Format &format,
                           Target target) const;
  /// What the entry of a format says; null for one that has none.
  const NamedFormat *entryOf(const Format &format) const;

  /// The registered lowering with the rounding of `key`, a later one before an
  /// earlier, an exact target before "*"; null if there is none. For casts from
  /// or to integers and for predicates of cmp, the fields of `key` must match
  /// as well. Does not know what the built-in families do by themselves: see
  /// FormatFamily::hasArithmetic.
  const Lowering *findLowering(const Lowering &key) const;
  /// The symbol by which a program calls a registered function: its own, or
  /// `library::symbol` where two libraries use one name.
  std::string symbolOf(const Lowering &lowering) const;
  llvm::ArrayRef<Lowering> lowerings() const { return registered; }

  llvm::ArrayRef<Library> libraries() const { return libs; }
  const Library *findLibrary(llvm::StringRef name) const;
  /// Keeps what a library was compiled to, before the registry is shared.
  void keepBitcode(llvm::StringRef library,
                   std::shared_ptr<const std::string> bitcode);
  /// Keeps what a library's function for an identity gives, before the registry
  /// is shared.
  void keepIdentity(const Format &format, OpKind identity, uint64_t code);
  const Policy &policy() const { return filePolicy; }

  /// Keeps a proof, before the registry is shared.
  void keepProof(Proof proof) { proven.push_back(std::move(proof)); }
  /// What is known of the operation on that target, if its formats let it be
  /// made use of, else null.
  const Proof *findProof(const Lowering &key) const;
  /// True if that is known without exceptions.
  bool isProven(const Lowering &key) const {
    const Proof *proof = findProof(key);
    return proof && proof->exceptions.empty();
  }
  /// Leaves the functions as they are.
  void dropProofs() { proven.clear(); }

  /// The YAML line that would register a lowering: what an error about a
  /// missing one prints, e.g.
  /// `- {op: mul, format: bfloat, target: cpu, call: SYMBOL}`.
  std::string suggest(const Lowering &key) const;

private:
  friend class ConfigurationReader;
  std::vector<NamedFormat> named;
  llvm::StringMap<size_t> byName;
  std::vector<NamedScaledFormat> scaled;
  std::vector<Lowering> registered;
  std::vector<Library> libs;
  std::vector<Proof> proven;
  Policy filePolicy;
};

} // namespace numera

#endif // NUMERA_REGISTRY_LOWERINGS_REGISTRYENTRIES_H
