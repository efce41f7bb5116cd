// SPDX-License-Identifier: MIT

#ifndef NUMERA_TARGET_CODEGEN_CPUOPTIONS_H
#define NUMERA_TARGET_CODEGEN_CPUOPTIONS_H

#include "numera/Target/Interface/Metadata.h"

namespace numera {

struct DeviceCode;
class StepTimes;

/// Options of code generation for the CPU. The caller sets format, accumulate,
/// rounding, overflow and seed of `metadata`; the rest is filled in.
struct CPUOptions {
  /// `native`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`, or LLVM's name of a CPU.
  std::string cpu = "native";
  /// 0 to 3, as clang's -O.
  unsigned optimization = 3;
  /// Where machine code is kept for programs that have the same parts: a
  /// folder, `off`, or empty: as the environment says (docs/CommandLine.md).
  std::string codeCache;
  /// True if library functions may be run at compile time, to make tables of
  /// their results.
  bool makesTables = true;
  Metadata metadata;
  /// The kernels of a program for a GPU, whose functions launch them; else
  /// null.
  const DeviceCode *device = nullptr;
  /// Where what each step took is added; null: nowhere.
  StepTimes *times = nullptr;
};

} // namespace numera

#endif // NUMERA_TARGET_CODEGEN_CPUOPTIONS_H
