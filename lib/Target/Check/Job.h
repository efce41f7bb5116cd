// SPDX-License-Identifier: MIT
//
// A part of a check that one child process does: it compiles some operations
// as a program, and runs each in a child of its own.

#ifndef NUMERA_LIB_TARGET_CHECK_JOB_H
#define NUMERA_LIB_TARGET_CHECK_JOB_H

#include "Laws.h"
#include "Module.h"
#include "Sandbox.h"
#include "numera/Target/Check/Check.h"

namespace numera::check {

/// What is found of one item, where parent and children see it.
struct Slot {
  Pulse pulse;
  std::atomic<uint64_t> total, done;
  std::atomic<uint64_t> at; ///< index of the first input of the call under way
  std::atomic<uint64_t> size; ///< inputs of that call
  Tally faults[faultCount];
  Tally otherNaN;
  double nanoseconds; ///< the median of what an element took
  std::atomic<Outcome> outcome;
  int signal;
  bool isLocated;
  Example culprit;
  bool isRefused;    ///< the program would not run
  char message[512]; ///< why; of a job's first slot: why it did not compile
};

/// An operation, or a law.
struct Item {
  Checked checked; ///< of a law: the types of its inputs
  const Law *law = nullptr;
  bool hasReference = true;
};

class Job {
public:
  Job(const Registry &registry, const Twins &twins, const Options &options,
      const std::map<Role, Checked> &roles)
      : registry(registry), twins(twins), options(options), roles(roles) {}

  std::vector<Item> items;
  size_t firstSlot = 0;

  /// Done in a child: compiles, and runs every item.
  void run(Shared<Slot> &slots) const;

private:
  void measure(Caller &caller, const Columns &columns, Slot &slot) const;
  void runItem(const Program &program, size_t i, Slot &slot) const;
  void runAll(const Program &program, size_t i, Slot &slot, uint64_t begin,
              uint64_t end, uint64_t step) const;

  const Registry &registry;
  const Twins &twins;
  const Options &options;
  const std::map<Role, Checked> &roles;
};

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_JOB_H
