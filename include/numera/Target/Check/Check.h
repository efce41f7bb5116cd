// SPDX-License-Identifier: MIT
//
// `numera check`: a format's operations, compiled as a program's are and run
// on many inputs, against the exact reference of its family, or of the format
// that an opaque one is equivalent to, or against laws where there is neither.
//
// No code of a library runs in the calling process: programs are compiled and
// loaded in a child, and each operation runs in a child of that one, with a
// limit on the time a call takes.

#ifndef NUMERA_TARGET_CHECK_CHECK_H
#define NUMERA_TARGET_CHECK_CHECK_H

#include "numera/Registry/Registry.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <array>

namespace numera::check {

struct Options {
  std::string library; ///< only what it provides; empty: everything
  std::optional<Rounding> rounding; ///< only this one
  bool isSlow = false;              ///< every f32 for casts from it
  uint64_t draws = 1'000'000;       ///< random inputs of an operation
  unsigned threads = 1;             ///< processes at a time
  double timeLimit = 10;            ///< seconds a call may take
  uint64_t seed = 1;                ///< of the random inputs
  /// Places of lowerings whose functions cannot be called (openLibraries): they
  /// are left out, and so is what is derived.
  std::vector<std::string> misfits = {};
};

/// An operation as a program runs it.
struct Checked {
  OpKind operation{};
  /// Those in a format; behind them, with a stochastic rounding, the u32 that
  /// it draws from.
  std::vector<CastType> operands;
  CastType result;       ///< of `cmp` and `isnan`: u8, which holds 0 or 1
  std::string predicate; ///< of `cmp`
  Format rounded = {};   ///< of `round_to`: the format that it rounds to
  RoundingMode rounding = Rounding::NearestEven;
  const Lowering *lowering = nullptr; ///< null: the family's own, or `origin`
  /// Of what the operation of an opaque format is made that has no function:
  /// `derived: add and neg`.
  std::string origin = {};
  /// Why a call takes longer than it need; empty: nothing is known.
  std::string slowness = {};
  /// Machine code that gets codes of 8 or 16 bits as unsigned numbers.
  bool takesUnsignedCodes = false;

  bool drawsRandom() const { return rounding.rounding == Rounding::Stochastic; }
  /// The operands without the draw.
  llvm::ArrayRef<CastType> numbers() const {
    return llvm::ArrayRef<CastType>(operands).drop_back(drawsRandom());
  }
};

/// Codes, or the bits of machine numbers and integers.
using Operands = std::array<uint64_t, 4>;

/// How a result is wrong.
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

/// What was found of one operation, or of one law.
struct Result {
  Checked checked;
  std::string law; ///< `x + 0 = x`; empty: an operation
  /// Of a law on tensors: the shape at which it ended, and what is wrong; of
  /// others, why the program did not go on.
  std::string place, finding;
  bool hasReference = true;
  Outcome outcome = Outcome::NotRun;
  int signal = 0;
  bool isLocated = false; ///< `culprit` holds the operands of the last call
  Example culprit;
  uint64_t tried = 0;
  std::array<Tally, faultCount> faults{};
  Tally otherNaN; ///< NaNs that are not the canonical one: a remark
  /// It has been run on all operands there are (Proofs.h), or it was in an
  /// earlier run.
  bool isProof = false, wasProven = false;
  /// Of a proof: the codes that give something else, which programs tell apart.
  std::vector<Example> exceptions = {};
  /// Of no proof: nothing but NaNs differs, from other NaNs.
  bool isEqualButNaNs = false;
  /// What an element takes in a loop over many, the median; 0: not measured.
  double nanoseconds = 0;

  uint64_t mismatches() const;
  bool isGood() const { return outcome == Outcome::Finished && !mismatches(); }
};

/// Notes that the program refused to go on, as it does where a function leaves
/// another rounding behind; `message` is the program's.
void noteRefusal(llvm::StringRef message, Result &result);

/// What was found of a format.
struct Report {
  Format format;
  Format meaning;              ///< what its codes mean; null: nobody says
  std::vector<Result> results; ///< operations, in the order of Operations.def
  std::vector<Result> laws;    ///< of a format without meaning, and of carriers
  std::vector<std::string> missing; ///< YAML lines that would register them
  /// Of proofs: operations that have too many operands to try, and how many:
  /// `fma, 2^48`.
  std::vector<std::string> untried = {};

  uint64_t tried() const;
  /// How many operations and laws are not good.
  uint64_t bad() const;
};

/// Checks a format. `progress` is called with the number of operations and laws
/// done, and of all. An error is one line: a lowering that does not link, say.
llvm::Expected<Report>
checkFormat(const Registry &registry, const Format &format,
            const Options &options,
            llvm::function_ref<void(uint64_t, uint64_t)> progress);

} // namespace numera::check

#endif // NUMERA_TARGET_CHECK_CHECK_H
