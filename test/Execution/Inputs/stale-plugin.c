/* SPDX-License-Identifier: MIT */
/* The head of what a plugin for another version says of itself. */
static const struct {
  const char *version;
  const void *rest[5];
} plugin = {"Numera 0.0.1, LLVM 14", {0}};

const void *numeraPlugin(void) { return &plugin; }
