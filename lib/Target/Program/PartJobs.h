// SPDX-License-Identifier: MIT
//
// Kernel parts are compiled beside each other and the rest of the program.

#ifndef NUMERA_LIB_TARGET_PROGRAM_PARTJOBS_H
#define NUMERA_LIB_TARGET_PROGRAM_PARTJOBS_H

#include "Link/KernelParts.h"
#include "Link/LargeConstants.h"
#include "numera/Target/Codegen/CPUOptions.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace numera {

/// As many threads as there are processors. An LLVM context is one thread's:
/// each part gets one, and machines, of its own.
class PartJobs {
public:
  using Object = llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>;

  explicit PartJobs(const CPUOptions &options) : options(options) {}
  ~PartJobs();
  PartJobs(const PartJobs &) = delete;

  /// Begins to compile a part for a version of `options.cpu`; returns its
  /// number. The part's module is read before this returns.
  size_t start(const KernelPart &part, unsigned version);
  bool haveBegun() const { return !objects.empty(); }
  /// Fails if the compilation is given up meanwhile.
  llvm::Error wait();
  /// The object code of a part, once, after wait().
  Object take(size_t job) { return std::move(*objects[job]); }

private:
  size_t start(llvm::unique_function<Object()> make);

  const CPUOptions &options;
  std::mutex mutex;                          ///< of `done`
  std::condition_variable finished;          ///< when `done` grows
  size_t done = 0;                           ///< objects
  std::atomic<bool> isGivenUp = false;       ///< nothing more is begun
  std::deque<std::optional<Object>> objects; ///< stay where they are
  std::optional<llvm::DefaultThreadPool> pool;
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_PROGRAM_PARTJOBS_H
