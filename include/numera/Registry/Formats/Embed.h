// SPDX-License-Identifier: MIT
//
// Embeds files in a program by the assembler's .incbin. This costs no compile
// time, and ccache detects that it may not cache the result.

#ifndef NUMERA_REGISTRY_FORMATS_EMBED_H
#define NUMERA_REGISTRY_FORMATS_EMBED_H

/// Defines the bytes of the file `path` from `symbol`_begin to `symbol`_end,
/// followed by a zero.
#define NUMERA_EMBED(symbol, path)                                             \
  asm(".section .rodata, \"a\"\n"                                              \
      ".balign 16\n" #symbol "_begin:\n"                                       \
      ".incbin \"" path "\"\n" #symbol "_end:\n"                               \
      ".byte 0\n"                                                              \
      ".previous\n");                                                          \
  extern "C" __attribute__((visibility("hidden")))                             \
  const char symbol##_begin[];                                                 \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_end[];

#endif // NUMERA_REGISTRY_FORMATS_EMBED_H
