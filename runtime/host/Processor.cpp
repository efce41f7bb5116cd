// SPDX-License-Identifier: MIT
//
// Compiled for each machine by itself, without headers of a C library.

#include "Processor.h"

#if defined(__x86_64__)

namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  asm volatile("cpuid"
               : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
               : "a"(leaf), "c"(subleaf));
  return r;
}

/// A leaf that the processor has; else zero.
Registers identify(uint32_t leaf, uint32_t subleaf) {
  uint32_t last = cpuid(leaf & 0x80000000, 0).eax;
  if (leaf > last || (leaf == 7 && subleaf > cpuid(7, 0).eax))
    return {};
  return cpuid(leaf, subleaf);
}

/// What the system keeps of the registers (XCR0).
uint32_t keptState() {
  constexpr uint32_t osxsave = 1u << 27;
  if (!(identify(1, 0).ecx & osxsave))
    return 0;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

uint64_t findFeatures() {
  uint64_t features = 0;
  unsigned place = 0;
  uint32_t kept = keptState();
#define NUMERA_X86_FEATURE(name, leaf, subleaf, reg, bit, state)               \
  if ((identify(leaf, subleaf).reg >> bit & 1) && (kept & state) == state)     \
    features |= uint64_t(1) << place;                                          \
  ++place;
#include "numera/Runtime/X86Features.def"
  return features;
}

} // namespace

uint64_t numera_processor_features() {
  // CPUID takes microseconds in a virtual machine: once is enough. Threads that
  // come here first at the same time find the same.
  constexpr uint64_t isKnown = uint64_t(1) << 63;
  static uint64_t known = 0;
  uint64_t features = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!features) {
    features = findFeatures() | isKnown;
    __atomic_store_n(&known, features, __ATOMIC_RELAXED);
  }
  return features & ~isKnown;
}

uint64_t numera_processor_get_control() { return __builtin_ia32_stmxcsr(); }
void numera_processor_set_control(uint64_t control) {
  __builtin_ia32_ldmxcsr(uint32_t(control));
}
uint64_t numera_processor_default_control() { return 0x1F80; }
/// The low six bits note what has happened.
bool numera_processor_has_default_control() {
  return (__builtin_ia32_stmxcsr() & 0xFFC0) == 0x1F80;
}
void numera_processor_relax() { __builtin_ia32_pause(); }

#elif defined(__aarch64__)

/// Nothing is asked of it beyond what its user named.
uint64_t numera_processor_features() { return 0; }

uint64_t numera_processor_get_control() {
  uint64_t control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
void numera_processor_set_control(uint64_t control) {
  asm volatile("msr fpcr, %0" : : "r"(control) : "memory");
}
uint64_t numera_processor_default_control() { return 0; }
bool numera_processor_has_default_control() {
  return numera_processor_get_control() == 0;
}
/// `yield` does nothing on most; this takes some tens of cycles.
void numera_processor_relax() { asm volatile("isb" : : : "memory"); }

#else
#error "this machine is not known"
#endif
