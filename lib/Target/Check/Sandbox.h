// SPDX-License-Identifier: MIT
//
// Runs untrusted code in a child process, so that a crash, an exit or a call
// that does not return becomes a result. The child returns its findings in
// shared memory.

#ifndef NUMERA_LIB_TARGET_CHECK_SANDBOX_H
#define NUMERA_LIB_TARGET_CHECK_SANDBOX_H

#include "numera/Target/Check/Check.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>
#include <new>
#include <sys/mman.h>
#include <sys/types.h>

namespace numera::check {

/// Objects of a trivial kind that parent and children share.
template <typename T> class Shared {
public:
  explicit Shared(size_t count) : bytes(count * sizeof(T)) {
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
      objects = new (memory) T[count]();
  }
  ~Shared() {
    if (objects)
      munmap(objects, bytes);
  }
  Shared(const Shared &) = delete;
  Shared &operator=(const Shared &) = delete;

  explicit operator bool() const { return objects != nullptr; }
  T &operator[](size_t i) { return objects[i]; }

private:
  size_t bytes;
  T *objects = nullptr;
};

/// What a child says while it works. Only calls are timed: the reference may
/// take as long as it needs.
struct Pulse {
  std::atomic<uint64_t> calls;
  std::atomic<bool> isCalling;
};

/// Starts `body` in a child that dies with this process; -1 if there can be
/// none. `isQuiet`: what it prints is dropped.
pid_t startChild(llvm::function_ref<void()> body, bool isQuiet);

/// How a child ended, from waitpid's status; `Finished` if by itself.
Outcome outcomeOf(int status, int &signal);

/// Runs `body` in a child and waits for it. One whose call takes more than
/// `seconds` is killed.
Outcome runSandboxed(llvm::function_ref<void()> body, Pulse &pulse,
                     double seconds, int &signal);

} // namespace numera::check

#endif // NUMERA_LIB_TARGET_CHECK_SANDBOX_H
