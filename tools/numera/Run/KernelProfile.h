// SPDX-License-Identifier: MIT
//
// `numera run --profile`: what the kernels of a program for a GPU took. The
// program writes it (runtime/cuda/Profile.h) to a file that this names.

#ifndef NUMERA_TOOLS_RUN_KERNELPROFILE_H
#define NUMERA_TOOLS_RUN_KERNELPROFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace numera {

/// All launches of one kernel, or all copies on the device.
struct KernelTime {
  std::string name;
  uint64_t launches = 0;
  double seconds = 0; ///< of all launches
  uint64_t bytes = 0; ///< of the buffers that they were given, together
};

class KernelProfile {
public:
  ~KernelProfile();
  /// From here on the programs of this process record.
  llvm::Error begin();
  /// Ends that; the kernels in the order in which they first ran.
  llvm::Expected<std::vector<KernelTime>> end();

private:
  std::string path;
};

void printKernels(const std::vector<KernelTime> &kernels,
                  llvm::raw_ostream &stream);
void printKernels(const std::vector<KernelTime> &kernels,
                  llvm::json::OStream &json);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_KERNELPROFILE_H
