// SPDX-License-Identifier: MIT

#include "ModelFlags.h"

#include "numera/Dialect/Numera/Transforms/Retype/OutputAs.h"
#include "numera/Registry/Formats/Plugin.h"
#include "numera/Target/Check/Proofs.h"
#include "numera/Target/Driver/Emit.h"
#include "numera/Target/Libraries/Examine/Libraries.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

void numera::addFormatsFlags(CommandLine &line, FormatSources &sources) {
  line.add({"formats", "FILE", "read formats and lowerings from a YAML file",
            &sources.files});
  line.add({"load-plugin", "FILE.so", "add the family of formats of a plugin",
            &sources.plugins});
  line.add({"no-proofs", "",
            "call a library's functions where they are proven to be a built-in "
            "format's",
            &sources.ignoresProofs});
  line.add({"no-libraries", "",
            "refuse libraries of --formats, plugins and compiled programs: run "
            "no code that is not Numera's",
            &sources.refusesLibraries});
  addLimitFlags(line, sources.limits);
  line.then([&sources] { return setLimits(sources.limits); });
}

std::string numera::refusalOf(const FormatSources &sources, StringRef file) {
  if (!sources.refusesLibraries)
    return "";
  return (file + " is code to be run here, which --no-libraries refuses").str();
}

void numera::addModelFlags(CommandLine &line, ModelFlags &flags) {
  CompileOptions &compile = flags.compile;
  compile.startsDriver = true;
  addFormatsFlags(line, flags.formats);
  line.add({"format", "FORMAT",
            "compute in this format: a name or a spelling such as float<5,7>",
            &compile.format});
  line.add({"replace", "TYPES",
            "float types of the model that the format replaces: f32 (default), "
            "or several, e.g. f32,bf16",
            &compile.replace});
  line.add({"accumulate", "FORMAT",
            "add up matrix products in: same, quire, f32, f64, tensorcore or a "
            "format",
            &compile.accumulate});
  line.add({"rounding", "MODE",
            "round so, e.g. nearest-even, toward-zero, up, stochastic",
            &compile.rounding});
  line.add({"random-bits", "N",
            "random bits of stochastic rounding, 1 to 32 (default)",
            &compile.randomBits});
  line.add({"overflow", "RULE", "infinity, saturate, propagate or wrap",
            &compile.overflow});
  line.add({"seed", "NUMBER", "seed of stochastic rounding", &flags.seed});
  line.add({"output-as", "KIND",
            "results as f32, f64, the format's storage or as in the model, the "
            "default; or one for each, as in f32,storage",
            &compile.outputAs});
  line.add(
      {"function", "NAME", "this function of the model", &compile.function});
  line.add({"safetensors", "FILE",
            "elements of the model's dense_resource constants; default: the "
            "file beside the model, with its name",
            &compile.safetensors});
  line.add({"target",
            "TARGET",
            "cpu (default) or nvptx, an NVIDIA GPU",
            &compile.target,
            {"cpu", "nvptx"}});
  line.add(
      {"cpu", "CPU",
       "native (default), x86-64-v3, a CPU as LLVM names it, or several: A,B",
       &compile.cpu});
  line.add(
      {"optimization", "LEVEL",
       "0 to 3 (default): 0 compiles soonest and runs slowest, with the same "
       "bits",
       &flags.optimization});
  line.add({"code-cache", "FOLDER",
            "keep machine code there for programs with the same parts; off: "
            "nowhere",
            &compile.codeCache});
  line.add({"gpu", "GPU", "with --target nvptx: sm_75, sm_80 (default), sm_90a",
            &compile.gpu});
  line.add({"cuda-path", "FOLDER",
            "CUDA's tools; by default those on PATH or in CUDA_HOME",
            &flags.cudaPath});
}

bool numera::loadRegistry(const FormatSources &sources, Registry &registry) {
  std::string error;
  for (const std::string &plugin : sources.plugins) {
    error = refusalOf(sources, plugin);
    if (!error.empty() || !loadPlugin(plugin, error)) {
      fail(error);
      return false;
    }
  }
  for (const std::string &file : sources.files)
    if (!registry.load(file, errs()))
      return false;
  if (sources.refusesLibraries && !registry.libraries().empty()) {
    const Library &library = registry.libraries().front();
    errs() << library.location << ": error: library '" << library.name
           << "' is code to be run here, which --no-libraries refuses\n";
    return false;
  }
  return true;
}

bool numera::loadLibraries(const FormatSources &sources, Registry &registry) {
  if (!loadRegistry(sources, registry) || !openLibraries(registry, errs()))
    return false;
  if (!sources.ignoresProofs)
    loadProofs(registry, errs());
  return true;
}

int numera::checkModelFlags(const ModelFlags &flags) {
  if (!flags.compile.gpu.empty() && flags.compile.target != "nvptx")
    return fail("--gpu is for --target nvptx, found --target " +
                flags.compile.target);
  if (flags.optimization.value_or(3) > 3)
    return fail("option '--optimization' is '" + Twine(*flags.optimization) +
                "', expected 0 to 3");
  const std::string &outputAs = flags.compile.outputAs;
  if (!outputAs.empty() && !readOutputAs(outputAs))
    return fail("option '--output-as' is '" + outputAs + "', expected " +
                outputAsChoices());
  return 0;
}

std::string numera::accumulatorFor(StringRef name) {
  return name.str() + (name == "tensorcore" ? ": not bit-exact" : "");
}

std::string numera::describe(const RuleUse &rule) {
  constexpr size_t most = 8;
  std::string text = "rule " + rule.match + ": " + rule.format +
                     ", accumulating in " + accumulatorFor(rule.accumulate);
  for (const auto &[role, format] : rule.roles)
    text += ", " + role + " in " + format;
  ArrayRef<std::string> names = rule.operations;
  text += ", for " +
          (names.empty() ? "nothing" : join(names.take_front(most), ", "));
  if (names.size() > most)
    text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

GPUOptions numera::gpuOptions(const ModelFlags &flags) {
  GPUOptions options;
  if (!flags.compile.gpu.empty())
    options.gpu = flags.compile.gpu;
  options.cudaPath = flags.cudaPath;
  return options;
}

CPUOptions numera::cpuOptions(const ModelFlags &flags,
                              const Resolved &resolved) {
  CompileOptions compile = flags.compile;
  compile.optimization = flags.optimization.value_or(compile.optimization);
  return cpuOptions(compile, resolved, flags.seed.value_or(0));
}
