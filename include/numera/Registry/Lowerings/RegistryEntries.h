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

/// The registered formats, libraries and lowerings, and the policy.
class RegistryEntries {
public:
  /// Registers one more lowering, before the registry is shared.
  void add(Lowering lowering) { registered.push_back(std::move(lowering)); }

  /// The format of a registered name, of a name that a family composes by a
  /// rule, or of a spelling (`posit16`, `p3109_k8p3se`, `float<5,7>`). If it is
  /// none of these, returns null with a message that names near matches.
  Format lookupFormat(llvm::StringRef text, std::string &error) const;
  /// The same, where `i8` or `u4` stands for the integers of that width.
  Format lookupElement(llvm::StringRef text, std::string &error) const;
  /// The format of a float type of MLIR, by the type's name (`f16`, `f8E5M2`);
  /// null with a message for any other text, and for types without a format
  /// (`f80`, `f128`).
  Format lookupFloatType(llvm::StringRef name, std::string &error) const;
  /// The name of a format: the first one registered for it, else the one that
  /// its family composes by a rule, else empty.
  std::string nameOf(const Format &format) const;
  /// Its name, or its spelling if it has no name, for messages and reports.
  std::string nameOrSpelling(const Format &format) const;
  struct NamedFormat {
    std::string name;
    Format format;
    bool isBuiltin;
    std::string location; ///< file:line:column of its entry
    /// Of an opaque format: the format that defines the meaning of its codes,
    /// with which `numera check` compares its library; null: none is named.
    Format equivalent = {};
    /// Of an opaque format: f32 or f64, in which operations without a function
    /// of their own are computed; null: these are errors.
    Format carrier = {};
    /// True if the casts to the carrier are exact: it is a `carrier`, and not
    /// only a `fallback`.
    bool embedsInCarrier = false;
    /// Of an opaque format: the bytes of its library's accumulator; 0: it has
    /// none.
    unsigned accumulatorBytes = 0;
    /// Of an opaque format: the operations that may be derived from others
    /// (Derivation.h), a bit for each.
    uint64_t derived = 0;
    Identities identities = {};
    /// Whether proofs about the functions of an opaque format are used, and
    /// whether one NaN may stand for another there.
    enum class Proofs { Off, On, AnyNaN } proofs = Proofs::On;
    /// Of an opaque format's accumulator: the name that `accumulate` may give;
    /// empty: it has none.
    std::string accumulatorName = {};
  };
  /// In the order of registration.
  llvm::ArrayRef<NamedFormat> formats() const { return named; }

  /// A scaled format by name or spelling, `mxfp8`, `block<posit<8,1>,32>`; null
  /// if `text` is none, with a message if it seems meant to be one.
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
  /// The format that defines the meaning of the codes of `format`: itself if it
  /// has arithmetic, else the format that its entry calls equivalent; null if
  /// there is none.
  Format equivalentOf(const Format &format) const;
  /// The carrier that the entry of an opaque format names; null: none.
  Format carrierOf(const Format &format) const;
  /// The same if casts to it are exact, so that values of the format may stay
  /// in it between operations.
  Format exactCarrierOf(const Format &format) const;
  /// The function that rounds numbers of the carrier to an opaque format, on
  /// that target, with the format's own rounding; null if there is none.
  const Lowering *findRoundTo(const Format &format, Target target) const;
  /// The format with arithmetic whose rounding the function above is stated to
  /// equal; null if there is none.
  Format roundsAs(const Format &format, Target target) const;
  /// A part of the accumulator of an opaque format on that target, or a
  /// function for one of its identities; null: there is none.
  const Lowering *findPart(OpKind part, const Format &format,
                           Target target) const;
  /// The entry of a format; null if it has none.
  const NamedFormat *entryOf(const Format &format) const;

  /// The registered lowering with the rounding of `key`; null if there is none.
  /// An exact target takes precedence over "*", and a later entry over an
  /// earlier one. For casts from or to integers and for predicates of cmp, the
  /// fields of `key` must match too. Operations of built-in families need no
  /// lowering: see FormatFamily::hasArithmetic.
  const Lowering *findLowering(const Lowering &key) const;
  /// The symbol by which a program calls a registered function: its own, or
  /// `library::symbol` if two libraries use the same name.
  std::string symbolOf(const Lowering &lowering) const;
  llvm::ArrayRef<Lowering> lowerings() const { return registered; }

  llvm::ArrayRef<Library> libraries() const { return libs; }
  const Library *findLibrary(llvm::StringRef name) const;
  /// Stores the bitcode of a compiled library. Call it before the registry is
  /// shared.
  void keepBitcode(llvm::StringRef library,
                   std::shared_ptr<const std::string> bitcode);
  /// Stores the result of a library's function for an identity. Call it before
  /// the registry is shared.
  void keepIdentity(const Format &format, OpKind identity,
                    const llvm::APInt &code);
  const Policy &policy() const { return filePolicy; }

  /// Stores a proof. Call it before the registry is shared.
  void keepProof(Proof proof) { proven.push_back(std::move(proof)); }
  /// The proof about the operation on that target, if there is one and its
  /// formats allow its use; else null.
  const Proof *findProof(const Lowering &key) const;
  /// True if there is a proof without exceptions.
  bool isProven(const Lowering &key) const {
    const Proof *proof = findProof(key);
    return proof && proof->exceptions.empty();
  }
  /// Drops all proofs, so that the functions are called.
  void dropProofs() { proven.clear(); }

  /// The YAML line that would register a lowering, for the error about a
  /// missing one: `- {op: mul, format: bfloat, target: cpu, call: SYMBOL}`.
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
