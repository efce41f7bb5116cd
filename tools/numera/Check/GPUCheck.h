// SPDX-License-Identifier: MIT
//
// `numera check --gpu`: the operations of a format on the GPU of this machine
// against the same ones on its CPU, bit for bit.

#ifndef NUMERA_TOOLS_CHECK_GPUCHECK_H
#define NUMERA_TOOLS_CHECK_GPUCHECK_H

#include "numera/Registry/Registry.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace numera {

/// An operation, and what was found of it.
struct GPUComparison {
  std::string operation;
  uint64_t tried = 0, mismatches = 0;
  /// The first mismatch, or why there is no program for the GPU.
  std::string finding = {};

  bool isGood() const { return tried && !mismatches; }
};

struct GPUCheckOptions {
  std::string gpu; ///< the architecture to compile for
  uint64_t draws, seed;
  std::vector<std::string> operations; ///< empty: all
};

struct GPUReport {
  std::string name;
  Format format;
  std::vector<GPUComparison> operations;

  uint64_t tried() const;
  /// How many operations are not the same.
  uint64_t bad() const;
};

/// Runs every operation of a format on `draws` random codes, or on all where
/// these are not more. An error is one line, as where this machine has no GPU.
llvm::Expected<GPUReport> checkGPU(const Registry &registry,
                                   const Format &format,
                                   const GPUCheckOptions &options);

void printText(const GPUReport &report, llvm::raw_ostream &out);
void printJSON(const GPUReport &report, llvm::json::OStream &json);

} // namespace numera

#endif // NUMERA_TOOLS_CHECK_GPUCHECK_H
