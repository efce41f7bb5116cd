// SPDX-License-Identifier: MIT

#ifndef NUMERA_TOOLS_RUN_RUNFLAGS_H
#define NUMERA_TOOLS_RUN_RUNFLAGS_H

#include "Support/ModelFlags.h"

namespace numera {

/// The words of `numera run`.
struct RunFlags {
  ModelFlags flags;
  std::string model;
  std::vector<std::string> inputs; ///< `[NAME=]FILE`
  std::string labels, outputFolder, compare;
  std::string page; ///< of `numera report`; empty: none
  std::optional<uint64_t> repeat, threads, step;
  bool wantsJSON = false, profiles = false, counts = false, times = false;
  bool measuresLayers = false;

  /// The model is a shared object that `numera compile` wrote.
  bool isCompiled() const { return llvm::StringRef(model).ends_with(".so"); }
};

/// The exit status where there is nothing left to do.
std::optional<int> parseRunFlags(llvm::ArrayRef<const char *> arguments,
                                 RunFlags &run);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_RUNFLAGS_H
