// SPDX-License-Identifier: MIT
//
// `--load-plugin F.so` of the drivers of MLIR, which read the command line
// themselves: a plugin is loaded as soon as its option is read, so that what is
// parsed later knows its family.

#ifndef NUMERA_TOOLS_PLUGINOPTION_H
#define NUMERA_TOOLS_PLUGINOPTION_H

#include "numera/Registry/Formats/Plugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"

namespace numera {

class PluginOption {
public:
  explicit PluginOption(llvm::StringRef tool)
      : files("load-plugin",
              llvm::cl::desc("Add the family of formats of a plugin"),
              llvm::cl::value_desc("file"),
              llvm::cl::callback([tool](const std::string &file) {
                std::string error;
                if (loadPlugin(file, error))
                  return;
                llvm::WithColor::error(llvm::errs(), tool) << error << '\n';
                std::exit(1);
              })) {}

private:
  llvm::cl::list<std::string> files;
};

} // namespace numera

#endif // NUMERA_TOOLS_PLUGINOPTION_H
