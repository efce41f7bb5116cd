// SPDX-License-Identifier: MIT
//
// The GPU of this machine, as NVIDIA's driver describes it.

#ifndef NUMERA_TARGET_NVPTX_LOCALGPU_H
#define NUMERA_TARGET_NVPTX_LOCALGPU_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace numera {

/// The GPU on which programs of this process run: that of the thread's CUDA
/// context if it has one, else the driver's first.
struct LocalGPU {
  bool hasDriver = false;    ///< libcuda.so.1 can be loaded
  std::optional<int> status; ///< of the driver's call that failed
  std::string name;          ///< NVIDIA's; empty if the driver gives none
  unsigned version = 0;      ///< 90 for `sm_90`; 0: not known
  unsigned processors = 0;   ///< multiprocessors; 0: not known

  bool isFound() const { return hasDriver && !status; }
};

/// Asks the driver. With `startsDriver` it is loaded from where the loader
/// finds it, and initialised, if the process has not done so yet; a forked
/// process cannot use it from there on. Else a process without a driver that
/// has been initialised finds no GPU.
LocalGPU findLocalGPU(bool startsDriver);

/// How many multiprocessors it has if it runs programs for `gpu`, as in
/// `sm_90a`; else, and where that is not known, 0.
unsigned processorsFor(llvm::StringRef gpu, bool startsDriver);

} // namespace numera

#endif // NUMERA_TARGET_NVPTX_LOCALGPU_H
