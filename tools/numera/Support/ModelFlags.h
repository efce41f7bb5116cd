// SPDX-License-Identifier: MIT
//
// The options that `compile` and `run` share: formats, the choice of one, and
// the target.

#ifndef NUMERA_TOOLS_SUPPORT_MODELFLAGS_H
#define NUMERA_TOOLS_SUPPORT_MODELFLAGS_H

#include "CommandLine.h"
#include "Limits.h"
#include "numera/Target/Driver/Compiler.h"
#include "numera/Target/NVPTX/GPU.h"
#include "numera/Target/Program/Program.h"

namespace numera {

/// Where formats come from beside the built-in ones.
struct FormatSources {
  std::vector<std::string> plugins, files;
  bool ignoresProofs = false;
  bool refusesLibraries = false;
  Limits limits;
};

struct ModelFlags {
  FormatSources formats;
  CompileOptions compile;
  std::optional<uint64_t> seed, optimization;
  std::string cudaPath;
};

void addFormatsFlags(CommandLine &line, FormatSources &sources);
void addModelFlags(CommandLine &line, ModelFlags &flags);

/// Why a command with --no-libraries does not take this file, which is code
/// that would run here; empty where it may.
std::string refusalOf(const FormatSources &sources, llvm::StringRef file);

/// Loads plugins, reads configuration files; false after one line on stderr.
bool loadRegistry(const FormatSources &sources, Registry &registry);

/// The same, with their libraries opened; false after lines on stderr.
bool loadLibraries(const FormatSources &sources, Registry &registry);

/// 0, or 1 after one line about options that do not go together.
int checkModelFlags(const ModelFlags &flags);

/// What the code generator is told about a lowered model.
CPUOptions cpuOptions(const ModelFlags &flags, const Resolved &resolved);

/// An accumulator as people read it: of one whose bits no document defines,
/// that too.
std::string accumulatorFor(llvm::StringRef name);

/// `rule conv1*: bf16, accumulating in f32, for conv1, conv1b`.
std::string describe(const RuleUse &rule);

/// What the code generator is told about kernels.
GPUOptions gpuOptions(const ModelFlags &flags);

} // namespace numera

#endif // NUMERA_TOOLS_SUPPORT_MODELFLAGS_H
