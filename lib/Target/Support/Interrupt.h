// SPDX-License-Identifier: MIT
//
// An interrupt while a tool runs. The tool would go on without us, and write
// the file that we have just removed.

#ifndef NUMERA_LIB_TARGET_SUPPORT_INTERRUPT_H
#define NUMERA_LIB_TARGET_SUPPORT_INTERRUPT_H

#include <cstddef>
#include <sys/types.h>

namespace numera {

/// While one lives, SIGINT, SIGTERM and SIGHUP end the processes that were
/// given to `watch`. The signal is raised again when the last one goes: what
/// was to happen then, happens then.
class InterruptScope {
public:
  InterruptScope();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;
  ~InterruptScope();

  /// `group` leads a process group of its own.
  void watch(pid_t group);

private:
  static constexpr size_t none = ~size_t{0};
  size_t place = none;
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_SUPPORT_INTERRUPT_H
