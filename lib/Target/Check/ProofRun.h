// SPDX-License-Identifier: MIT
//
// All operands of some operations, run in child processes: one compiles and
// loads the library, and for each operation it has a child for every thread,
// which take the operands part by part.

#ifndef NUMERA_LIB_TARGET_CHECK_PROOFRUN_H
#define NUMERA_LIB_TARGET_CHECK_PROOFRUN_H

#include "Libraries/ProofCache.h"
#include "Module.h"
#include "ProofSubjects.h"
#include "Sandbox.h"

namespace numera::check {

/// Operands of a call: the more, the longer a call may take, and the longer a
/// vector variant has something to do.
inline constexpr uint64_t proofPart = 1 << 14;

/// Beyond all operands.
inline constexpr uint64_t nowhere = ~uint64_t{0};

/// Results that differ, of one kind.
struct Differences {
  std::atomic<uint64_t> first;         ///< place of the first
  uint64_t got, expected;              ///< there
  std::atomic<uint32_t> count;         ///< up to one more than are kept
  ProofException kept[mostExceptions]; ///< in no order

  /// The order of operands.
  std::vector<ProofException> sorted() const;
};

/// What is found of one operation, where parent and children see it.
struct ProofSlot {
  std::atomic<uint64_t> next; ///< the first operands that nobody has taken
  std::atomic<uint64_t> done;
  Differences numbers, nans;         ///< `nans`: both results are NaNs
  std::atomic<uint64_t> unsteady;    ///< the first whose result changed
  std::atomic<uint64_t> nanoseconds; ///< of the function, all calls together
  std::atomic<bool> isFinished;
  uint64_t got, before; ///< two results at `unsteady`
  Outcome outcome;
  int signal;
  bool isLocated;
  uint64_t culprit; ///< operands of the call that did not come back
  bool isRefused;
  char message[512]; ///< why
};

/// How many codes may give something else where the others are equal: it must
/// pay to tell them apart.
inline uint32_t allowanceOf(const ProofSubject &subject) {
  return subject.own.operands.size() == 1 ? mostExceptions : 0;
}

/// What is loaded for the program and was not there before, a path a line.
struct LoadedFiles {
  char text[1 << 16];
};

/// The operands with that index: the last one varies first.
Operands operandsOf(const ProofSubject &subject, uint64_t index);

class ProofRun {
public:
  ProofRun(const Registry &registry, llvm::ArrayRef<ProofSubject> subjects,
           const Options &options)
      : twins(Twins::none(registry)), subjects(subjects), options(options),
        slots(std::max<size_t>(subjects.size(), 1)), files(1) {}

  /// Runs them; `finished` is called with the index of each that is. An error
  /// is one line, and some may have finished before.
  llvm::Error run(llvm::function_ref<void(size_t)> finished,
                  llvm::function_ref<void(uint64_t)> progress);

  ProofSlot &slot(size_t i) { return slots[i]; }
  std::vector<std::string> loadedFiles();

private:
  void conduct();
  void tryAll(const Program &own, const Program &meant, size_t i);
  void work(const Program &own, const Program &meant, size_t i, Pulse &pulse,
            std::atomic<uint64_t> &at);
  void locate(const Program &own, const Program &meant, size_t i,
              uint64_t begin);

  Twins twins;
  llvm::ArrayRef<ProofSubject> subjects;
  const Options &options;
  Shared<ProofSlot> slots;
  Shared<LoadedFiles> files;
};

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_PROOFRUN_H
