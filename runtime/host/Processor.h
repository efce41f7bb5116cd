// SPDX-License-Identifier: MIT
//
// What differs from one machine to the next, in some functions. The rest of
// runtime/host is compiled once, and its bitcode serves every 64-bit
// little-endian Linux: it includes headers of the machine that builds Numera,
// whose sizes of the C library's types may be less than elsewhere. Roomy makes
// up for that.

#ifndef NUMERA_RUNTIME_HOST_PROCESSOR_H
#define NUMERA_RUNTIME_HOST_PROCESSOR_H

#include <stdint.h>

extern "C" {
/// What the processor and the system can do: bits in the order of
/// X86Features.def.
uint64_t numera_processor_features();
/// The floating-point control register.
uint64_t numera_processor_get_control();
void numera_processor_set_control(uint64_t control);
/// Rounds to nearest, flushes no subnormals, masks all exceptions.
uint64_t numera_processor_default_control();
/// True where the register says so, whatever has happened since.
bool numera_processor_has_default_control();
/// Lets a loop that waits for a change of memory rest.
void numera_processor_relax();
}

namespace numera::host {

/// The default floating-point environment, restored at the end of the scope.
class DefaultFloatingPoint {
public:
  DefaultFloatingPoint() {
    numera_processor_set_control(numera_processor_default_control());
  }
  ~DefaultFloatingPoint() { numera_processor_set_control(saved); }
  DefaultFloatingPoint(const DefaultFloatingPoint &) = delete;

private:
  uint64_t saved = numera_processor_get_control();
};

/// Within that scope, when a part of the work is done: what went wrong, else
/// null. A library that leaves another environment behind has rounded what came
/// after.
inline const char *findOtherEnvironment() {
  if (numera_processor_has_default_control())
    return nullptr;
  numera_processor_set_control(numera_processor_default_control());
  return "a function that it called changed the processor's rounding, flushing "
         "or traps, and left them so";
}

/// An object of the C library that is handed to it by address alone, with room
/// for what it is on any machine: jmp_buf takes 200 bytes on x86-64, and 312 on
/// AArch64; va_list 24 and 32; a mutex 40 and 48. All zero, as the static
/// initialisers of pthreads are.
template <typename T> union Roomy {
  T value;
  alignas(16) char room[sizeof(T) < 64 ? 64 : 512] = {};

  static_assert(sizeof(T) <= sizeof(room));
};

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_PROCESSOR_H
