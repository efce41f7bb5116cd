// SPDX-License-Identifier: MIT
//
// `numera calibrate`: runs sample data through a model in f32, looks at what
// its contractions read, and writes a policy with the scales that fit.

#include "Commands.h"
#include "Run/Arrays.h"
#include "Run/Calibration.h"
#include "Run/Execute.h"
#include "Support/ModelFlags.h"

#include "numera/Runtime/Progress.h"
#include "numera/Target/Support/TextFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace numera;

namespace {

struct CalibrateFlags {
  FormatSources formats;
  std::vector<std::string> inputs;
  std::string model, output, format, scale, weights, method, function;
  std::string percentile, safetensors;
};

class Calibrate {
public:
  explicit Calibrate(CalibrateFlags flags) : flags(std::move(flags)) {}

  bool prepare();
  bool observe();
  bool write();

private:
  bool readFormat();
  bool compile();
  bool pass(bool isFirst, host::Progress &progress);

  CalibrateFlags flags;
  double percentile = 99.99;
  CalibrationMethod method = CalibrationMethod::Absmax;
  Registry registry;
  ScaledFormat format;
  Executable executable;
  std::optional<DataSet> data;
  std::map<std::string, Observation> observations;
  bool hasNumbers = false; ///< among what was observed
};

} // namespace

static bool say(const Twine &message) { return fail(message) == 0; }

/// The element and the scales of the tensors, from the flags.
bool Calibrate::readFormat() {
  std::string error;
  if (isScaledSpelling(flags.format)) {
    format = registry.lookupScaledFormat(flags.format, error);
    if (!format)
      return say(error);
    if (!format.hasZeroPoint())
      return say("option '--format' is '" + flags.format +
                 "', expected a format of elements, as in --format i8, or one "
                 "with rule=min-max");
    if (!flags.scale.empty())
      return say("--scale-format is for a format of elements, found --format " +
                 flags.format + ", which has a scale's; leave it out");
    if (flags.weights == "per-channel")
      return say("--weights per-channel is for scales without zero points, "
                 "found --format " +
                 flags.format);
    return true;
  }
  format.element = registry.lookupElement(flags.format, error);
  if (!format.element)
    return say(error);
  Format scale = flags.scale == "power-of-two" ? powersOfTwo() : formatF32();
  format.scaling = defaultScaling(/*isBlock=*/false, scale);
  if (format.scaling.rule == ScaleRule::Range)
    format.scaling.rule = ScaleRule::Absmax;
  error = checkScaledFormat(format);
  return error.empty() || say(error);
}

bool Calibrate::compile() {
  Compiler compiler(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      compiler.load(flags.model, errs(), flags.safetensors);
  if (!module)
    return false;
  CompileOptions options;
  options.format = "f32";
  options.function = flags.function;
  options.observe = true;
  Resolved resolved;
  std::vector<FunctionSignature> functions;
  if (failed(compiler.lower(*module, options, resolved, functions, errs())))
    return false;
  std::string error;
  const FunctionSignature *function =
      chooseFunction(functions, flags.function, error);
  if (!function)
    return say(flags.model + ": " + error);
  executable.function = *function;
  if (!(data = readInputs(*function, flags.inputs, error)))
    return say(error);
  ModelFlags model;
  model.compile = options;
  Expected<std::unique_ptr<Program>> program = Program::compile(
      *module, functions, registry, cpuOptions(model, resolved));
  if (!program)
    return say(toString(program.takeError()));
  executable.program = std::move(*program);
  return true;
}

bool Calibrate::prepare() {
  method = StringSwitch<CalibrationMethod>(flags.method)
               .Case("percentile", CalibrationMethod::Percentile)
               .Case("mse", CalibrationMethod::LeastError)
               .Default(CalibrationMethod::Absmax);
  if (!flags.percentile.empty() &&
      (StringRef(flags.percentile).getAsDouble(percentile) ||
       !(percentile > 0 && percentile <= 100)))
    return say("option '--percentile' is '" + flags.percentile +
               "', expected a number above 0, to 100");
  return loadLibraries(flags.formats, registry) && readFormat() && compile();
}

/// The tensors that were asked for stand behind the function's own results.
static bool isObserved(const TensorSignature &output) {
  return StringRef(output.name).ends_with(".lhs") ||
         StringRef(output.name).ends_with(".rhs");
}

bool Calibrate::pass(bool isFirst, host::Progress &progress) {
  numera_options options = NUMERA_OPTIONS;
  for (size_t slice = 0; slice < data->slices(); ++slice) {
    std::vector<host::Array> results;
    if (Error error = executable.program->call(
            executable.function.name, data->slice(slice), results, options))
      return say(toString(std::move(error)));
    for (auto [output, array] :
         zip_equal(executable.function.outputs, results)) {
      if (!isObserved(output))
        continue;
      ArrayRef values(array.data<float>(), array.size());
      hasNumbers |= !values.empty();
      Observation &observation =
          observations.try_emplace(output.name, format).first->second;
      if (!isFirst)
        observation.count(values);
      else if (!observation.see(values))
        return say(flags.model + ": '" + output.name +
                   "' holds NaN or an infinity with this input; expected "
                   "numbers to scale");
    }
    progress.advance();
  }
  return true;
}

bool Calibrate::observe() {
  bool needsSizes = method != CalibrationMethod::Absmax;
  host::Progress progress("calibrate", data->slices() * (needsSizes ? 2 : 1));
  if (!pass(/*isFirst=*/true, progress) ||
      (needsSizes && !pass(/*isFirst=*/false, progress)))
    return false;
  if (!observations.empty() && !hasNumbers)
    return say("the inputs have no rows: there is nothing to scale");
  return !observations.empty() ||
         say(flags.model + " has no contraction of computed tensors: there is "
                           "nothing to scale");
}

/// A text between double quotes, as YAML reads it.
static std::string quoted(StringRef text) {
  return '"' + yaml::escape(text, /*EscapePrintable=*/false) + '"';
}

bool Calibrate::write() {
  std::string text;
  raw_string_ostream out(text);
  std::string name = registry.nameOf(format.element);
  out << "# Scales of " << sys::path::filename(flags.model) << " by "
      << (flags.method.empty() ? "absmax" : flags.method) << ".\npolicy:\n";
  if (format.hasZeroPoint())
    out << "  accumulate: f32\n  weights: " << quoted(format.spelling())
        << "\n  activations: " << quoted(format.spelling()) << '\n';
  else
    out << "  default: "
        << quoted(name.empty() ? format.element.spelling() : name)
        << "\n  accumulate: f32\n  scale: {weights: "
        << (flags.weights.empty() ? "per-channel" : flags.weights)
        << ", activations: per-tensor}\n";
  if (format.scaling.scale == powersOfTwo())
    out << "  scale-format: power-of-two\n";
  std::string scales, zeros;
  for (const auto &[tensor, observation] : observations) {
    auto [scale, zero] =
        scaleOf(format, observation.choose(method, percentile));
    std::string key = "    " + quoted(tensor) + ": ";
    scales += key + formatv("{0}\n", llvm::format("%.9g", double(scale))).str();
    zeros += key + formatv("{0}\n", int64_t(zero)).str();
  }
  out << "  scales:\n" << scales;
  if (format.hasZeroPoint())
    out << "  zero-points:\n" << zeros;
  if (Error error = writeTextFile(flags.output, text))
    return say(toString(std::move(error)));
  return true;
}

static std::optional<int> parse(ArrayRef<const char *> arguments,
                                CalibrateFlags &flags) {
  CommandLine line("calibrate MODEL --input FILE.npy --format FORMAT -o OUT",
                   "Runs sample data through MODEL in f32 and writes a "
                   "configuration that stores the\noperands of its "
                   "contractions in FORMAT, with scales that fit what was "
                   "seen.");
  addFormatsFlags(line, flags.formats);
  line.add({"input", "[NAME=]FILE.npy",
            "an array for each input, in order or by name", &flags.inputs});
  line.add({"format", "FORMAT",
            "of elements: a format, or i4 to i32; scaled<u8,rule=min-max> for "
            "zero points",
            &flags.format});
  line.add({"scale-format",
            "FORMAT",
            "of scales; f32 by default",
            &flags.scale,
            {"f32", "power-of-two"}});
  line.add({"weights",
            "HOW",
            "scales of constants; per-channel by default, per-tensor with zero "
            "points",
            &flags.weights,
            {"per-tensor", "per-channel"}});
  line.add({"method",
            "METHOD",
            "absmax (default), percentile, or mse: the least mean square error",
            &flags.method,
            {"absmax", "percentile", "mse"}});
  line.add({"percentile", "P",
            "with --method percentile: the share, 99.99 by default",
            &flags.percentile});
  line.add({"safetensors", "FILE",
            "elements of the model's dense_resource constants; default: the "
            "file beside the model, with its name",
            &flags.safetensors});
  line.add({"function", "NAME", "the function of an .mlir file to run",
            &flags.function});
  line.add(
      {"o", "OUT", "the file to write; - is standard output", &flags.output});
  if (std::optional<int> status = line.parse(arguments))
    return status;
  if (line.positional().size() != 1)
    return fail("expected one model, as in numera calibrate MODEL --input "
                "FILE.npy --format i8 -o policy.yaml");
  flags.model = line.positional()[0];
  if (flags.format.empty())
    return fail("no format, say what elements are stored in with --format, as "
                "in --format i8");
  if (flags.output.empty())
    return fail("no output, say where to write with -o OUT");
  if (!flags.percentile.empty() && flags.method != "percentile")
    return fail("--percentile is for --method percentile, found --method " +
                (flags.method.empty() ? "absmax" : flags.method));
  return std::nullopt;
}

int numera::calibrateCommand(ArrayRef<const char *> arguments) {
  CalibrateFlags flags;
  if (std::optional<int> status = parse(arguments, flags))
    return *status;
  Calibrate calibrate(std::move(flags));
  return calibrate.prepare() && calibrate.observe() && calibrate.write() ? 0
                                                                         : 1;
}
