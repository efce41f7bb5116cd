// SPDX-License-Identifier: MIT
//
// Families of formats outside the tree. A plugin is a shared object that
// implements the format interface (FormatFamily.h). It contains its arithmetic
// as bitcode: the runtime's entries of its family (docs/RuntimeABI.md). CMake's
// `numera_add_family` of the installed package builds one from two files
// (examples/plugin).

#ifndef NUMERA_REGISTRY_FORMATS_PLUGIN_H
#define NUMERA_REGISTRY_FORMATS_PLUGIN_H

#include "numera/Registry/Formats/FormatFamily.h"

namespace numera {

/// What a plugin describes itself with. It stays loaded, and its strings and
/// its family valid, until the process ends.
struct Plugin {
  /// The versions of Numera and LLVM that it was compiled for: the result of
  /// `pluginVersion` there. The classes of both are part of the interface, so
  /// any other version is refused.
  const char *version;
  const FormatFamily *family;
  /// LLVM bitcode of `numera_<family>_<operation>_<bits>`, for each target. It
  /// may call the functions `numera_exact_…` of the runtime.
  llvm::StringRef cpuBitcode, nvptxBitcode;
};

/// The function that a plugin exports, with C linkage, as `pluginSymbol`.
using PluginEntry = const Plugin *();
inline constexpr const char *pluginSymbol = "numeraPlugin";

/// Opens a plugin and adds its family to allFamilies(). On failure returns
/// false, with one line in `error`. Call it before formats are looked up, while
/// no other thread uses Numera, as `--load-plugin` does. A second call for one
/// file does nothing.
bool loadPlugin(llvm::StringRef path, std::string &error);

/// In the order in which they were loaded.
llvm::ArrayRef<const Plugin *> loadedPlugins();

/// The version that plugins must have been compiled for.
llvm::StringRef pluginVersion();

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_PLUGIN_H
