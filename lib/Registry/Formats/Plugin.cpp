// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/Plugin.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"

using namespace numera;

static llvm::SmallVectorImpl<const Plugin *> &plugins() {
  static llvm::SmallVector<const Plugin *> loaded;
  return loaded;
}

llvm::ArrayRef<const Plugin *> numera::loadedPlugins() { return plugins(); }

llvm::StringRef numera::pluginVersion() {
  return "Numera " NUMERA_VERSION ", LLVM " LLVM_VERSION_STRING;
}

/// The families that stand in the way of `plugin`; empty if there are none.
static std::string findConflict(const Plugin &plugin) {
  if (plugin.version != pluginVersion())
    return "is for " + std::string(plugin.version) + ", expected " +
           pluginVersion().str() + ": compile it again";
  if (!plugin.family || plugin.cpuBitcode.empty())
    return "has no family, or no bitcode of its arithmetic";
  llvm::StringRef name = plugin.family->name();
  if (!isFormatName(name))
    return "has a family '" + name.str() +
           "', expected letters, digits and '_', no digit first";
  if (findFamily(name))
    return "has the family '" + name.str() + "', which already exists";
  return "";
}

bool numera::loadPlugin(llvm::StringRef path, std::string &error) {
  error = "plugin '" + path.str() + "' ";
  if (!llvm::sys::fs::exists(path)) {
    error += "does not exist";
    return false;
  }
  // The linker would search its own folders for a bare file name.
  llvm::SmallString<128> file(path);
  llvm::sys::fs::make_absolute(file);
  std::string reason;
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary(file.c_str(), &reason);
  if (!library.isValid()) {
    error += "cannot be loaded: " + reason;
    return false;
  }
  auto *entry =
      reinterpret_cast<PluginEntry *>(library.getAddressOfSymbol(pluginSymbol));
  if (!entry) {
    error += "does not export '" + std::string(pluginSymbol) +
             "': build it with numera_add_family";
    return false;
  }
  const Plugin *plugin = entry();
  if (llvm::is_contained(plugins(), plugin))
    return true;
  if (std::string conflict = findConflict(*plugin); !conflict.empty()) {
    error += conflict;
    return false;
  }
  registerFamily(*plugin->family);
  plugins().push_back(plugin);
  return true;
}
