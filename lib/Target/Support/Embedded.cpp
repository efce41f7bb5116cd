// SPDX-License-Identifier: MIT

#include "Embedded.h"
#include "numera/Registry/Formats/Embed.h"

#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

NUMERA_EMBED(numera_embedded_runtime, NUMERA_EMBED_DIR "/numera-x86_64.bc")
NUMERA_EMBED(numera_embedded_device, NUMERA_EMBED_DIR "/numera-nvptx64.bc")
NUMERA_EMBED(numera_embedded_launcher, NUMERA_EMBED_DIR "/numera-cuda.bc")
NUMERA_EMBED(numera_embedded_entry, NUMERA_EMBED_DIR "/numera-entry-x86_64.bc")
NUMERA_EMBED(numera_embedded_aarch64_entry,
             NUMERA_EMBED_DIR "/numera-entry-aarch64.bc")
#define NUMERA_EMBED_KERNEL(symbol, name)                                      \
  NUMERA_EMBED(numera_embedded_kernel_##symbol,                                \
               NUMERA_EMBED_DIR "/numera-kernel-" name ".bc")
#define NUMERA_KERNELS(ENTRY)                                                  \
  ENTRY(f32, "f32")                                                            \
  ENTRY(f64, "f64")                                                            \
  ENTRY(f32_short, "f32-short")                                                \
  ENTRY(f32_half, "f32-half")                                                  \
  ENTRY(f64_short, "f64-short")                                                \
  ENTRY(i8, "i8")                                                              \
  ENTRY(i16, "i16")                                                            \
  ENTRY(i32, "i32")                                                            \
  ENTRY(i64, "i64")                                                            \
  ENTRY(quire, "quire")
NUMERA_KERNELS(NUMERA_EMBED_KERNEL)
#define NUMERA_EMBED_DEVICE_KERNEL(symbol, name)                               \
  NUMERA_EMBED(numera_embedded_device_kernel_##symbol,                         \
               NUMERA_EMBED_DIR "/numera-device-kernel-" name ".bc")
#define NUMERA_DEVICE_KERNELS(ENTRY)                                           \
  ENTRY(f32, "f32")                                                            \
  ENTRY(f64, "f64")                                                            \
  ENTRY(i8, "i8")                                                              \
  ENTRY(i16, "i16")                                                            \
  ENTRY(i32, "i32")                                                            \
  ENTRY(i64, "i64")                                                            \
  ENTRY(pairs, "pairs")                                                        \
  ENTRY(tensor16, "tensor16")                                                  \
  ENTRY(tensor8, "tensor8")                                                    \
  ENTRY(warpgroup16, "warpgroup16")                                            \
  ENTRY(warpgroup8, "warpgroup8")                                              \
  ENTRY(quire, "quire")
NUMERA_DEVICE_KERNELS(NUMERA_EMBED_DEVICE_KERNEL)
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
MemoryBufferRef numera::embeddedLauncher() {
  return file(numera_embedded_launcher_begin, numera_embedded_launcher_end,
              "launcher");
}
MemoryBufferRef numera::embeddedEntry() {
  return file(numera_embedded_entry_begin, numera_embedded_entry_end, "entry");
}
MemoryBufferRef numera::embeddedAArch64Entry() {
  return file(numera_embedded_aarch64_entry_begin,
              numera_embedded_aarch64_entry_end, "entry");
}
MemoryBufferRef numera::embeddedKernel(StringRef kind) {
#define NUMERA_FIND_KERNEL(symbol, name)                                       \
  if (kind == name)                                                            \
    return file(numera_embedded_kernel_##symbol##_begin,                       \
                numera_embedded_kernel_##symbol##_end, "kernel of " name);
  NUMERA_KERNELS(NUMERA_FIND_KERNEL)
  llvm_unreachable("a kind of kernel that numera-contract does not know");
}
MemoryBufferRef numera::embeddedDeviceKernel(StringRef kind) {
#define NUMERA_FIND_DEVICE_KERNEL(symbol, name)                                \
  if (kind == name)                                                            \
    return file(numera_embedded_device_kernel_##symbol##_begin,                \
                numera_embedded_device_kernel_##symbol##_end,                  \
                "kernel of " name);
  NUMERA_DEVICE_KERNELS(NUMERA_FIND_DEVICE_KERNEL)
  llvm_unreachable(
      "a kind of kernel that numera-tile-contractions does not know");
}
MemoryBufferRef numera::embeddedMain() {
  return file(numera_embedded_main_begin, numera_embedded_main_end, "main");
}
MemoryBufferRef numera::embeddedHeader() {
  return file(numera_embedded_header_begin, numera_embedded_header_end,
              "numera.h");
}
