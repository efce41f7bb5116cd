// SPDX-License-Identifier: MIT

#include "RunFlags.h"

using namespace llvm;
using namespace numera;

static void addRunFlags(CommandLine &line, RunFlags &run) {
  line.add({"input", "[NAME=]FILE.npy",
            "an array for each input, in order or by name", &run.inputs});
  line.add({"labels", "FILE.npy", "whole numbers, one a row: measures top-1",
            &run.labels});
  line.add({"output-dir", "FOLDER", "write each output as FOLDER/NAME.npy",
            &run.outputFolder});
  line.add({"compare",
            "FORMAT",
            "run in f32 (or f64) as well, and measure the difference",
            &run.compare,
            {"f32", "f64"}});
  line.add({"repeat", "N", "pass N times over the input, for the seconds",
            &run.repeat});
  line.add({"step", "NUMBER", "step of stochastic rounding; 0 by default",
            &run.step});
  line.add({"threads", "N", "threads; 0, the default: as many as processors",
            &run.threads});
  line.add({"stats", "",
            "count overflow, underflow, invalid operations and x/0, and "
            "measure layers",
            &run.counts});
  line.add({"layers", "",
            "measure how far each layer is from f32, and its own part of that",
            &run.measuresLayers});
  line.add({"report", "OUT.html",
            "do what numera report does with the other options, and write its "
            "page",
            &run.page});
  line.add({"profile", "",
            "on a GPU: print what each kernel took, and its bytes",
            &run.profiles});
  line.add({"time", "", "print what each step of compiling took", &run.times});
  line.add({"json", "", "print JSON", &run.wantsJSON});
  addModelFlags(line, run.flags);
}

/// A compiled program has made the choices that the flags make.
static int checkCompiled(const RunFlags &run) {
  const CompileOptions &compile = run.flags.compile;
  std::pair<StringRef, bool> given[] = {
      {"--formats", !run.flags.formats.files.empty()},
      {"--load-plugin", !run.flags.formats.plugins.empty()},
      {"--format", !compile.format.empty()},
      {"--accumulate", !compile.accumulate.empty()},
      {"--rounding", !compile.rounding.empty()},
      {"--random-bits", compile.randomBits.has_value()},
      {"--overflow", !compile.overflow.empty()},
      {"--output-as", !compile.outputAs.empty()},
      {"--compare", !run.compare.empty()},
      {"--stats", run.counts},
      {"--layers", run.measuresLayers},
      {"--report", !run.page.empty()},
      {"--time", run.times}};
  for (auto [name, isGiven] : given)
    if (isGiven)
      return fail(run.model + " is compiled already: leave out " + name +
                  ", or run the model it was made from");
  return 0;
}

/// Options that cannot all be meant.
static int checkRunFlags(const RunFlags &run) {
  if (run.repeat.value_or(1) == 0)
    return fail("option '--repeat' is '0', expected at least 1");
  if (run.threads.value_or(0) > 65535)
    return fail("option '--threads' is '" + Twine(*run.threads) +
                "', expected at most 65535");
  if (StringRef(run.flags.compile.outputAs).contains("storage") &&
      !(run.compare.empty() && run.labels.empty()))
    return fail(Twine(run.compare.empty() ? "--labels" : "--compare") +
                " reads values, found --output-as " +
                run.flags.compile.outputAs + ", expected f32 or f64");
  if (run.profiles && !run.isCompiled() && run.flags.compile.target != "nvptx")
    return fail("--profile is for --target nvptx, found --target " +
                run.flags.compile.target);
  return run.isCompiled() ? checkCompiled(run) : checkModelFlags(run.flags);
}

std::optional<int> numera::parseRunFlags(ArrayRef<const char *> arguments,
                                         RunFlags &run) {
  CommandLine line("run MODEL --input FILE.npy [options]",
                   "Runs MODEL, an .onnx or .mlir file or a compiled .so, on "
                   "NumPy arrays. An array with\nmore rows than the model's "
                   "batch is a data set and is fed slice by slice.");
  addRunFlags(line, run);
  if (std::optional<int> status = line.parse(arguments))
    return status;
  if (line.positional().empty())
    return fail("no model, expected numera run MODEL with an .onnx, .mlir or "
                ".so file");
  if (line.positional().size() > 1)
    return fail("one model at a time, found '" + line.positional()[0] +
                "' and '" + line.positional()[1] + "'; arrays follow --input");
  run.model = line.positional()[0];
  if (int status = checkRunFlags(run))
    return status;
  return std::nullopt;
}
