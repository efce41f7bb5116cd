// SPDX-License-Identifier: MIT

#ifndef NUMERA_RUNTIME_HOST_FLOATINGPOINT_H
#define NUMERA_RUNTIME_HOST_FLOATINGPOINT_H

#include <stdint.h>

namespace numera::host {

/// Round to nearest, no flushing of subnormals, all exceptions masked; restored
/// at the end of the scope.
class DefaultFloatingPoint {
public:
  DefaultFloatingPoint(const DefaultFloatingPoint &) = delete;
#if defined(__x86_64__)
  DefaultFloatingPoint() { __builtin_ia32_ldmxcsr(0x1F80); }
  ~DefaultFloatingPoint() { __builtin_ia32_ldmxcsr(saved); }

private:
  unsigned saved = __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
  DefaultFloatingPoint() { set(0); }
  ~DefaultFloatingPoint() { set(saved); }

private:
  static uint64_t get() {
    uint64_t control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void set(uint64_t control) {
    asm volatile("msr fpcr, %0" : : "r"(control) : "memory");
  }
  uint64_t saved = get();
#else
#error "how this machine rounds is not known"
#endif
};

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_FLOATINGPOINT_H
