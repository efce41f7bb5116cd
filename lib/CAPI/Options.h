// SPDX-License-Identifier: MIT
//
// The options of a compilation as strings: "format=posit16".

#ifndef NUMERA_LIB_CAPI_OPTIONS_H
#define NUMERA_LIB_CAPI_OPTIONS_H

#include "numera/Target/Driver/Compiler.h"
#include "numera/Target/NVPTX/GPU.h"

namespace numera {

struct ModelOptions {
  CompileOptions compile;
  GPUOptions gpu;
  uint64_t seed = 0;
};

/// Reads "key=value" strings up to a NULL; nullopt with a line in `error`.
std::optional<ModelOptions> readOptions(const char *const *list,
                                        std::string &error);

} // namespace numera

#endif // NUMERA_LIB_CAPI_OPTIONS_H
