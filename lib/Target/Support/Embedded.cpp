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
NUMERA_EMBED(numera_embedded_entry_object, NUMERA_EMBED_DIR "/numera-entry.o")
#define NUMERA_KERNEL(kind, source, flags)                                     \
  NUMERA_EMBED(numera_embedded_kernel_##kind,                                  \
               NUMERA_EMBED_DIR "/numera-kernel-" #kind ".bc")
#define NUMERA_DEVICE_KERNEL(kind, source, flags)                              \
  NUMERA_EMBED(numera_embedded_device_kernel_##kind,                           \
               NUMERA_EMBED_DIR "/numera-device-kernel-" #kind ".bc")
#include "numera/Runtime/Kernels.def"
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
MemoryBufferRef numera::embeddedEntryObject() {
  return file(numera_embedded_entry_object_begin,
              numera_embedded_entry_object_end, "entry object");
}
MemoryBufferRef numera::embeddedKernel(StringRef wanted) {
#define NUMERA_KERNEL(kind, source, flags)                                     \
  if (wanted == #kind)                                                         \
    return file(numera_embedded_kernel_##kind##_begin,                         \
                numera_embedded_kernel_##kind##_end, "kernel of " #kind);
#include "numera/Runtime/Kernels.def"
  llvm_unreachable("a kind of kernel that numera-contract does not know");
}
MemoryBufferRef numera::embeddedDeviceKernel(StringRef wanted) {
#define NUMERA_DEVICE_KERNEL(kind, source, flags)                              \
  if (wanted == #kind)                                                         \
    return file(numera_embedded_device_kernel_##kind##_begin,                  \
                numera_embedded_device_kernel_##kind##_end,                    \
                "kernel of " #kind);
#include "numera/Runtime/Kernels.def"
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
