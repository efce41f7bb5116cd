// SPDX-License-Identifier: MIT

#include "Driver.h"

#include <dlfcn.h>

using namespace numera::cuda;

const char *Driver::load() {
  // It stays: a driver that is unloaded and loaded again is not initialised
  // again.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "this program runs on an NVIDIA GPU, but this machine has no driver "
           "for one (libcuda.so.1)";
#define NUMERA_CUDA_FIND(name, type, symbol)                                   \
  name = reinterpret_cast<decltype(name)>(dlsym(library, symbol));             \
  if (!name)                                                                   \
    return "the NVIDIA driver of this machine is too old: it has no " symbol;
  NUMERA_CUDA_FUNCTIONS(NUMERA_CUDA_FIND)
#undef NUMERA_CUDA_FIND
#define NUMERA_CUDA_FIND(name, type, symbol)                                   \
  name = reinterpret_cast<decltype(name)>(dlsym(library, symbol));
  NUMERA_CUDA_GRAPH_FUNCTIONS(NUMERA_CUDA_FIND)
#undef NUMERA_CUDA_FIND
  contextId =
      reinterpret_cast<decltype(contextId)>(dlsym(library, "cuCtxGetId"));
  return nullptr;
}
