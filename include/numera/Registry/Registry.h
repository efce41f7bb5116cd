// SPDX-License-Identifier: MIT
//
// The registry maps names to formats and (operation, target, result format,
// operand formats) to lowerings. It is built once, from the built-in files and
// the user's, and read-only from then on.

#ifndef NUMERA_REGISTRY_REGISTRY_H
#define NUMERA_REGISTRY_REGISTRY_H

#include "numera/Registry/FormatFamily.h"
#include "numera/Registry/Scaling.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <vector>

namespace numera {

/// Where lowerings apply. `Any` is written "*".
enum class Target { Any, CPU, NVPTX };
llvm::StringRef nameOf(Target target); ///< "*", "cpu", "nvptx"

/// A library that the configuration names. Paths are absolute, or relative to
/// the working directory.
struct Library {
  std::string name;
  std::string location; ///< file:line:column of its entry
  /// Sources, bitcode and machine code, which may call each other.
  std::vector<std::string> paths;
  // What sources are compiled with.
  std::vector<std::string> includes; ///< folders of headers
  std::vector<std::string> defines;  ///< `NAME` or `NAME=VALUE`
  std::string standard;              ///< `c11`, `c++17`; empty: the usual
  std::vector<std::string> flags;    ///< more flags of clang
  /// The system's libraries that it needs: `m` is -lm.
  std::vector<std::string> links;
  /// Functions have f32 and f64 as the integers of their bits, as those of
  /// Berkeley SoftFloat do (`struct { uint32_t v; }`).
  bool passesBits = false;
  /// Codes are signed integers in C, `int16_t` as libtakum's: callers extend
  /// narrow ones by their sign.
  bool hasSignedCodes = false;
  /// What its sources and bitcode are as one, where somebody has compiled them
  /// (Target/Libraries/Libraries.h).
  std::shared_ptr<const std::string> bitcode = nullptr;

  /// The first file, and that there are more: for messages.
  std::string files() const;
};

/// True for a file that is compiled, and for one that is machine code.
bool isLibrarySource(llvm::StringRef path);
bool isMachineCode(llvm::StringRef path);

/// An integer or machine type in a cast's `from:` or `to:`, or a format.
/// Integers are spelled i8 … i64 (signed) and u8 … u64.
struct CastType {
  Format format;        ///< null for an integer
  unsigned integer = 0; ///< 8, 16, 32, 64
  bool isSigned = true;
};
/// The integer type of that name, if it is one.
std::optional<CastType> integerFromName(llvm::StringRef name);

/// A function that computes a lowering for many codes at once, with the bits
/// that its scalar function gives for each.
struct VectorVariant {
  std::string symbol;
  /// It takes and returns vectors of so many codes; 0: it takes arrays of any
  /// length, `void (R *results, const T *operands…, size_t length)`.
  unsigned lanes = 0;
};

/// One registered lowering: a C function on storage integers (f32 and f64 are
/// float and double).
struct Lowering {
  Operation operation;
  Target target = Target::Any;
  Format result;                ///< of `cmp` and `isnan`: the operands' format
  std::vector<Format> operands; ///< as many as the operation takes
  unsigned fromInteger = 0;     ///< a cast from an integer of that width
  unsigned toInteger = 0;       ///< a cast to an integer of that width
  bool integerIsSigned = true;
  std::string predicate; ///< of `cmp`, as in arith.cmpf: `olt`; empty: any
  std::optional<Rounding> rounding; ///< empty: what the result's format has
  int32_t randomBits = 0;           ///< 0: the format's, else the default
  std::string symbol;
  std::optional<VectorVariant> vector; ///< on the CPU, of machine code
  /// Of a `round_to`, a bit for each: operations whose functions are the
  /// carrier's own operation, followed by this rounding.
  uint64_t carried = 0;
  /// Of a `round_to`: the format whose rounding it is, for every number of the
  /// carrier; null: none is named.
  Format equivalent = {};
  std::string library;  ///< name of a Library; empty: the one that defines it
  std::string location; ///< file:line:column of its entry

  /// The rounding that the function does.
  RoundingMode getRoundingMode() const;
  /// The one it does where none is named.
  RoundingMode getOwnRoundingMode() const;
};

/// An operation with opaque formats gives on the CPU, for all operands, what it
/// gives with the formats that they are equivalent to (Target/Check/Proofs.h).
struct Proof {
  Lowering key;
  /// Of one operand: the few codes that give something else.
  struct Exception {
    uint64_t operand, result;
  };
  std::vector<Exception> exceptions = {};
};

/// Codes of an opaque format that only its entry, or its library, knows.
struct Identities {
  std::optional<uint64_t> zero, one, lowest, highest, nan;

  std::optional<uint64_t> &of(Operation identity);
};

/// The axis of a tensor along which its blocks lie.
struct BlockAxis {
  /// Usual: of operands the axis that is summed over, of results the channels'.
  enum class Kind { Usual, Summed, Channel, Number };
  Kind kind = Kind::Usual;
  int32_t number = 0; ///< with Number; below 0 counted from behind the last
};

/// What the operands or the results of contractions are stored in, where it is
/// not the format of the model.
struct Role {
  Format format;       ///< numbers without a scale; null: none
  ScaledFormat scaled; ///< null: none
  /// Each channel has a scale; else `scaled` has one, or blocks.
  bool isPerChannel = false;
  BlockAxis blockAxis; ///< where `scaled` has blocks
  /// Numbers without a scale, of `format` or of the model's, are stored without
  /// gaps between them; `scaled` says it of its own.
  bool isPacked = false;

  explicit operator bool() const { return format || scaled || isPacked; }
};

/// What `numera-retype` does to a model.
struct Policy {
  Format defaultFormat;       ///< null: not named
  ScaledFormat defaultScaled; ///< instead of it; null: not named
  Role weights, activations, outputs;
  /// Scales that are known before a program runs (`numera calibrate`), by the
  /// names of contractions and operands: `conv1.lhs`.
  llvm::StringMap<std::vector<float>> scales;
  /// The zero points that go with them, integers, where the format has some.
  llvm::StringMap<std::vector<float>> zeroPoints;
  enum class Accumulate { Default, Same, Quire, TensorCore, Named };
  Accumulate accumulate = Accumulate::Default;
  Format accumulator; ///< with Named

  /// What some operations are rewritten to instead. With a format it is a
  /// policy of its own; else it changes what it names.
  struct Rule {
    std::string name;      ///< a pattern of names of operations; empty: any
    std::string operation; ///< a pattern of operators; empty: any
    Format format;         ///< null, as the next: not named
    ScaledFormat scaled;
    Role weights, activations, outputs;
    Accumulate accumulate = Accumulate::Default;
    Format accumulator;
    std::string location; ///< file:line:column of its entry

    bool hasFormat() const { return format || scaled; }
    /// True for an operation of that name, of an operator (`onnx.Softmax`,
    /// `linalg.matmul`) that may be named without its dialect, in any case.
    bool matches(llvm::StringRef name, llvm::StringRef operatorName) const;
    /// `conv1*`, `op softmax`, `conv1* of op conv`, for messages.
    std::string pattern() const;
  };
  /// The first one that matches holds.
  std::vector<Rule> rules;
};

class Registry {
public:
  /// The built-in names alone.
  Registry();

  /// Reads a configuration file into this registry. On failure prints one line
  /// `path:line:column: error: …` to `errors` and returns false. To be called
  /// before the registry is shared.
  bool load(llvm::StringRef path, llvm::raw_ostream &errors);
  /// The same for text in memory, under a name for messages; relative library
  /// paths are taken from `directory`.
  bool loadText(llvm::StringRef text, llvm::StringRef name,
                llvm::StringRef directory, llvm::raw_ostream &errors);

  /// Registers one more lowering, before the registry is shared.
  void add(Lowering lowering) { registered.push_back(std::move(lowering)); }

  /// A name of the registry, one that a family makes by a rule, or a spelling
  /// (`posit16`, `p3109_k8p3se`, `float<5,7>`); null with a message, naming
  /// near matches, if it is none of these.
  Format lookupFormat(llvm::StringRef text, std::string &error) const;
  /// The name of a format: the first one registered for it, else the one its
  /// family makes by a rule, else empty.
  std::string nameOf(const Format &format) const;
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
  const Lowering *findPart(Operation part, const Format &format,
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
  void keepIdentity(const Format &format, Operation identity, uint64_t code);
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

#endif // NUMERA_REGISTRY_REGISTRY_H
