// SPDX-License-Identifier: MIT
//
// By the assembler's .incbin: it costs no compile time, and ccache knows that
// it may not cache the result.

#include "Embedded.h"

#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

#define NUMERA_EMBED(symbol, path)                                             \
  asm(".section .rodata, \"a\"\n"                                              \
      ".balign 16\n" #symbol "_begin:\n"                                       \
      ".incbin \"" path "\"\n" #symbol "_end:\n"                               \
      ".byte 0\n"                                                              \
      ".previous\n");                                                          \
  extern "C" __attribute__((visibility("hidden")))                             \
  const char symbol##_begin[];                                                 \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_end[];

NUMERA_EMBED(numera_embedded_runtime, NUMERA_EMBED_DIR "/numera-x86_64.bc")
NUMERA_EMBED(numera_embedded_device, NUMERA_EMBED_DIR "/numera-nvptx64.bc")
NUMERA_EMBED(numera_embedded_entry, NUMERA_EMBED_DIR "/numera-entry.bc")
#define NUMERA_EMBED_KERNEL(carrier)                                           \
  NUMERA_EMBED(numera_embedded_kernel_##carrier,                               \
               NUMERA_EMBED_DIR "/numera-kernel-" #carrier ".bc")
NUMERA_EMBED_KERNEL(f32)
NUMERA_EMBED_KERNEL(f64)
NUMERA_EMBED_KERNEL(i8)
NUMERA_EMBED_KERNEL(i16)
NUMERA_EMBED_KERNEL(i32)
NUMERA_EMBED_KERNEL(i64)
NUMERA_EMBED(numera_embedded_main, NUMERA_EMBED_DIR "/numera-main.o")
NUMERA_EMBED(numera_embedded_header, NUMERA_HEADER)

static MemoryBufferRef file(const char *begin, const char *end,
                            StringRef name) {
  return {StringRef(begin, size_t(end - begin)), name};
}

MemoryBufferRef numera::embeddedRuntime() {
  return file(numera_embedded_runtime_begin, numera_embedded_runtime_end,
              "runtime");
}
MemoryBufferRef numera::embeddedDeviceRuntime() {
  return file(numera_embedded_device_begin, numera_embedded_device_end,
              "device runtime");
}
MemoryBufferRef numera::embeddedEntry() {
  return file(numera_embedded_entry_begin, numera_embedded_entry_end, "entry");
}
MemoryBufferRef numera::embeddedKernel(StringRef carrier) {
#define NUMERA_KERNEL(name)                                                    \
  if (carrier == #name)                                                        \
    return file(numera_embedded_kernel_##name##_begin,                         \
                numera_embedded_kernel_##name##_end, "kernel of " #name);
  NUMERA_KERNEL(f32)
  NUMERA_KERNEL(f64)
  NUMERA_KERNEL(i8)
  NUMERA_KERNEL(i16)
  NUMERA_KERNEL(i32)
  NUMERA_KERNEL(i64)
  llvm_unreachable("a carrier without a kernel");
}
MemoryBufferRef numera::embeddedMain() {
  return file(numera_embedded_main_begin, numera_embedded_main_end, "main");
}
MemoryBufferRef numera::embeddedHeader() {
  return file(numera_embedded_header_begin, numera_embedded_header_end,
              "numera.h");
}
