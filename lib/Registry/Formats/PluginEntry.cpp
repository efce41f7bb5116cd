// SPDX-License-Identifier: MIT
//
// The function that a plugin exports. numera_add_family
// (cmake/NumeraFamily.cmake) defines the family's function and the position of
// its bitcode.

#include "numera/Registry/Formats/Embed.h"
#include "numera/Registry/Formats/Plugin.h"

NUMERA_EMBED(numera_plugin_cpu, NUMERA_BITCODE_PREFIX "x86_64.bc")
NUMERA_EMBED(numera_plugin_nvptx, NUMERA_BITCODE_PREFIX "nvptx64.bc")

namespace numera {
const FormatFamily &NUMERA_FAMILY();
}

extern "C" __attribute__((visibility("default"))) const numera::Plugin *
numeraPlugin() {
  static const numera::Plugin plugin = {
      "Numera " NUMERA_VERSION ", LLVM " LLVM_VERSION_STRING,
      &numera::NUMERA_FAMILY(),
      {numera_plugin_cpu_begin,
       size_t(numera_plugin_cpu_end - numera_plugin_cpu_begin)},
      {numera_plugin_nvptx_begin,
       size_t(numera_plugin_nvptx_end - numera_plugin_nvptx_begin)}};
  return &plugin;
}
