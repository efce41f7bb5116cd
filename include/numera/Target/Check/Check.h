// SPDX-License-Identifier: MIT
//
// `numera check`. It compiles a format's operations as in a program, runs them
// on many inputs, and compares the results with an exact reference: that of the
// format's family, or of the `equivalent` of an opaque format. Without a
// reference it tests laws.
//
// No code of a library runs in the calling process. Programs are compiled and
// loaded in a child process, and each operation runs in a child of that one,
// with a time limit for a call.

#ifndef NUMERA_TARGET_CHECK_CHECK_H
#define NUMERA_TARGET_CHECK_CHECK_H

#include "numera/Registry/Registry.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <array>

namespace numera::check {

struct Options {
  std::string library;              ///< only its functions; empty: everything
  std::optional<Rounding> rounding; ///< only this one
  bool isSlow = false;              ///< every f32 for casts from it
  uint64_t draws = 1'000'000;       ///< random inputs of an operation
  unsigned threads = 1;             ///< processes at a time
  double timeLimit = 10;            ///< seconds a call may take
  uint64_t seed = 1;                ///< of the random inputs
  /// Locations of lowerings whose functions cannot be called (openLibraries).
  /// These lowerings, and all derived operations, are left out.
  std::vector<std::string> misfits = {};
};

/// An operation, as a program runs it.
struct Checked {
  OpKind operation{};
  /// The operands in a format, followed by the u32 of random bits of a
  /// stochastic rounding.
  std::vector<CastType> operands;
  CastType result;       ///< of `cmp` and `isnan`: u8, which holds 0 or 1
  std::string predicate; ///< of `cmp`
  Format rounded = {};   ///< of `round_to`: the format that it rounds to
  RoundingMode rounding = Rounding::NearestEven;
  const Lowering *lowering = nullptr; ///< null: the family's own, or `origin`
  /// What an operation of an opaque format without a function is derived from:
  /// `derived: add and neg`.
  std::string origin = {};
  /// The reason why a call is slow; empty: none is known.
  std::string slowness = {};
  /// True for machine code that is passed codes of 8 or 16 bits as unsigned
  /// numbers.
  bool takesUnsignedCodes = false;

  bool drawsRandom() const { return rounding.rounding == Rounding::Stochastic; }
  /// The operands without the random bits.
  llvm::ArrayRef<CastType> numbers() const {
    return llvm::ArrayRef<CastType>(operands).drop_back(drawsRandom());
  }
};

/// Codes, or the bits of machine numbers and integers.
using Operands = std::array<uint64_t, 4>;

/// The kind of a wrong result.
enum class Fault {
  OneUlp,
  Far,
  Sign,
  SignOfZero,
  Swapped,
  NaNExpected,
  NaNGiven,
  Infinity,
  Flushed,
  OtherCode,
  Integer,
  Truth,
  HighBits,
  Unsteady,
  Law,
};
inline constexpr size_t faultCount = size_t(Fault::Law) + 1;
/// `rounding (1 ulp)`, `sign of zero`.
llvm::StringRef nameOf(Fault fault);

struct Example {
  Operands operands{};
  uint64_t got = 0, expected = 0;
};
struct Tally {
  uint64_t count = 0;
  Example first;
};

/// How running an operation ended.
enum class Outcome {
  NotRun,
  Finished,
  Crashed,  ///< by `signal`
  Exited,   ///< the function ended the process
  TimedOut, ///< a call did not return
};

/// The result for one operation, or for one law.
struct Result {
  Checked checked;
  std::string law; ///< `x + 0 = x`; empty: an operation
  /// For a law on tensors: the shape at which it failed, and the error.
  /// Otherwise: why the program stopped.
  std::string place, finding;
  bool hasReference = true;
  Outcome outcome = Outcome::NotRun;
  int signal = 0;
  bool isLocated = false; ///< `culprit` holds the operands of the last call
  Example culprit;
  uint64_t tried = 0;
  std::array<Tally, faultCount> faults{};
  Tally otherNaN; ///< NaNs that are not the canonical one: a remark
  /// True if it has been run on all operands (Proofs.h), in this run or in an
  /// earlier one.
  bool isProof = false, wasProven = false;
  /// For a proof: its exceptions, the codes with another result.
  std::vector<Example> exceptions = {};
  /// Without a proof: true if the only differences are between NaNs.
  bool isEqualButNaNs = false;
  /// The median time of an element in a loop over many; 0: not measured.
  double nanoseconds = 0;

  uint64_t mismatches() const;
  bool isGood() const { return outcome == Outcome::Finished && !mismatches(); }
};

/// Records that the program stopped with `message`, as it does after a function
/// that changes the rounding mode.
void noteRefusal(llvm::StringRef message, Result &result);

/// The results for a format.
struct Report {
  Format format;
  Format meaning;              ///< defines its codes; null: not known
  std::vector<Result> results; ///< operations, in the order of Operations.def
  std::vector<Result> laws;    ///< of a format without meaning, and of carriers
  std::vector<std::string> missing; ///< YAML lines that would register them
  /// For proofs: operations with too many operands to try, and their number:
  /// `fma, 2^48`.
  std::vector<std::string> untried = {};

  uint64_t tried() const;
  /// The number of operations and laws that are not good.
  uint64_t bad() const;
};

/// Checks a format. `progress` is called with the number of operations and laws
/// that are done, and of all. An error is one line, for example about a
/// lowering that does not link.
llvm::Expected<Report>
checkFormat(const Registry &registry, const Format &format,
            const Options &options,
            llvm::function_ref<void(uint64_t, uint64_t)> progress);

} // namespace numera::check

#endif // NUMERA_TARGET_CHECK_CHECK_H
