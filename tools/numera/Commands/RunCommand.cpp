// SPDX-License-Identifier: MIT
//
// `numera run`: compiles a model in memory, or opens a compiled one, and feeds
// it arrays. What the user got wrong comes to light before what takes time:
// arrays are read after lowering and before code generation.

#include "Commands.h"
#include "Run/Arrays.h"
#include "Run/Execute.h"
#include "Run/RunFlags.h"
#include "Run/RunReport.h"
#include "Support/Reproducer.h"

#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "numera/Runtime/Convert.h"
#include "numera/Target/Support/StepTimes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

namespace {

/// A model on its way to a program.
struct Lowered {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Resolved resolved;
  std::vector<FunctionSignature> functions;
};

/// The run, step by step. Each step that fails has printed why.
class Run {
public:
  explicit Run(const RunFlags &flags) : flags(flags) {}

  bool prepare();
  bool readArrays();
  bool measure();
  bool observe();
  bool countPostponed();
  bool report();

private:
  bool prepareModel();
  bool choose(ArrayRef<FunctionSignature> functions);
  bool generate(Lowered &lowered, Executable &out, StepTimes *steps);
  numera_options callOptions(const Executable &called) const;
  bool compareWith(const std::vector<host::Array> &reference,
                   RunReport &out) const;
  bool lower(Lowered &lowered, const CompileOptions &options);
  /// True with `--layers`, and with `--stats`, which shows layers as well.
  bool observes() const { return flags.measuresLayers || flags.counts; }
  /// True if one program is measured and observed.
  bool isOneProgram() const {
    return observes() && !flags.repeat && !flags.profiles &&
           flags.flags.compile.target == "cpu";
  }
  CompileOptions observedOptions() const;
  const Lowered &observedModel() const {
    return isOneProgram() ? model : observed;
  }
  /// Of a data set with a dynamic batch.
  int64_t rowsOfSlice() const;
  /// Takes what `observedModel` shows.
  Observers observers();
  bool check(Error error) const {
    return !error || fail(toString(std::move(error))) == 0;
  }

  const RunFlags &flags;
  Registry registry;
  std::optional<Compiler> compiler; ///< owns the context of the modules
  Lowered model;
  Lowered reference; ///< with `--compare`
  Lowered observed;  ///< with `--layers` or `--stats`, if it is another one
  Lowered again;     ///< with `--stats`: for counts that `observed` postpones
  Executable executable, referenceExecutable, observedExecutable,
      countingExecutable;
  std::optional<DataSet> data;
  std::optional<host::Array> labels;
  Measured measured, referenceMeasured;
  StepTimes times; ///< of the model, with `--time`
  std::optional<std::vector<KernelTime>> kernels; ///< with `--profile`
  std::optional<StatisticsCollector> counts;      ///< with `--stats`
  std::optional<LayerCollector> layers;           ///< with `--layers`
};

} // namespace

/// The same model in the format of `--compare`, accumulating in it as well.
static CompileOptions referenceOptions(const RunFlags &flags) {
  CompileOptions options = flags.flags.compile;
  options.format = options.accumulate = flags.compare;
  options.times = nullptr;
  options.rounding = options.overflow = "";
  options.randomBits.reset();
  return options;
}

/// Of a program that shows layers and counts flags.
CompileOptions Run::observedOptions() const {
  CompileOptions options = flags.flags.compile;
  options.showLayers = true;
  options.showRows = options.target == "cpu";
  options.countStatusFlags = options.postponeCounts = flags.counts;
  return options;
}

bool Run::lower(Lowered &lowered, const CompileOptions &options) {
  if (succeeded(compiler->lower(*lowered.module, options, lowered.resolved,
                                lowered.functions, errs())))
    return true;
  if (compiler->failedInside())
    leaveReproducer();
  return false;
}

bool Run::prepare() {
  if (!flags.isCompiled())
    return prepareModel();
  if (std::string refusal = refusalOf(flags.flags.formats, flags.model);
      !refusal.empty())
    return fail(refusal) == 0;
  if (!check(openShared(flags.model, flags.flags.compile.function, executable)))
    return false;
  StringRef target = executable.program->metadata().target;
  if (flags.profiles && !target.starts_with("nvptx"))
    return fail(flags.model + " is compiled for " + target +
                ": --profile is for programs for a GPU") == 0;
  return true;
}

bool Run::prepareModel() {
  CompileOptions options =
      isOneProgram() ? observedOptions() : flags.flags.compile;
  if (flags.times)
    options.times = &times;
  StepScope step(options.times, "read formats");
  if (!loadLibraries(flags.flags.formats, registry))
    return false;
  step.next("read model");
  compiler.emplace(registry);
  model.module = compiler->load(flags.model, errs(), options.safetensors);
  if (!model.module)
    return false;
  step.stop();
  if (!flags.compare.empty())
    reference.module = cloneModule(*model.module);
  if (flags.counts)
    again.module = cloneModule(*model.module);
  if (observes() && !isOneProgram())
    observed.module = cloneModule(*model.module);
  if (!lower(model, options) ||
      (reference.module && !lower(reference, referenceOptions(flags))) ||
      (observed.module && !lower(observed, observedOptions())))
    return false;
  std::string error;
  const FunctionSignature *function =
      chooseFunction(model.functions, flags.flags.compile.function, error);
  if (!function)
    return fail(flags.model + ": " + error) == 0;
  executable.function = *function;
  if (isOneProgram() && model.resolved.counts.contains(function->name))
    executable.function.outputs.pop_back();
  referenceExecutable.function = observedExecutable.function =
      countingExecutable.function = executable.function;
  return true;
}

/// True if a row may share a scale with others of its slice, so that results
/// depend on which these are.
static bool hasScales(const ResolvedPolicy &policy) {
  auto isScaled = [](const Role &role) { return bool(role.scaled); };
  return policy.scaled || isScaled(policy.weights) ||
         isScaled(policy.activations) || isScaled(policy.outputs) ||
         any_of(policy.rules, [](const ResolvedRule &rule) {
           return hasScales(rule.policy);
         });
}

int64_t Run::rowsOfSlice() const {
  bool isFree = !hasScales(model.resolved.policy) &&
                !hasScales(reference.resolved.policy);
  return observes() && isFree ? DataSet::measuredSlice : DataSet::dynamicSlice;
}

bool Run::readArrays() {
  std::string error;
  data = readInputs(executable.function, flags.inputs, error, rowsOfSlice());
  if (!data)
    return fail(error) == 0;
  if (!flags.labels.empty() &&
      (!host::readNpy(flags.labels.c_str(), labels.emplace(), error) ||
       (labels->dtype == host::DType::f2 &&
        !host::convertNumbers(*labels, host::DType::f4, error))))
    return fail(error) == 0;
  if (!flags.outputFolder.empty() &&
      !checkOutputFolder(flags.outputFolder, error))
    return fail(error) == 0;
  return true;
}

bool Run::generate(Lowered &lowered, Executable &out, StepTimes *steps) {
  CPUOptions options = cpuOptions(flags.flags, lowered.resolved);
  options.times = steps;
  DeviceCode device;
  if (flags.flags.compile.target == "nvptx") {
    Expected<DeviceCode> code =
        takeDeviceCode(*lowered.module, registry, gpuOptions(flags.flags));
    if (!code)
      return check(code.takeError());
    device = std::move(*code);
    options.device = &device;
  }
  Expected<std::unique_ptr<Program>> program =
      Program::compile(*lowered.module, lowered.functions, registry, options);
  if (!program)
    return check(program.takeError());
  out.program = std::move(*program);
  return true;
}

numera_options Run::callOptions(const Executable &called) const {
  numera_options options = NUMERA_OPTIONS;
  options.threads = uint32_t(flags.threads.value_or(0));
  options.step = flags.step.value_or(0);
  options.seed = flags.flags.seed.value_or(called.program->metadata().seed);
  return options;
}

bool Run::measure() {
  auto run = [&](Lowered &lowered, Executable &what, uint64_t count,
                 Measured &out, StepTimes *steps) {
    if (!what.program && !generate(lowered, what, steps))
      return false;
    return check(execute(what, *data, callOptions(what), count,
                         what.program->metadata().format, out));
  };
  KernelProfile profile;
  if (flags.profiles && !check(profile.begin()))
    return false;
  StepTimes *steps = flags.times ? &times : nullptr;
  if (isOneProgram()
          ? !generate(model, executable, steps)
          : !run(model, executable, flags.repeat.value_or(1), measured, steps))
    return false;
  if (flags.profiles) {
    Expected<std::vector<KernelTime>> found = profile.end();
    if (!found)
      return check(found.takeError());
    kernels = std::move(*found);
  }
  return (!reference.module ||
          run(reference, referenceExecutable, 1, referenceMeasured, nullptr));
}

Observers Run::observers() {
  const std::string &name = executable.function.name;
  const Resolved &resolved = observedModel().resolved;
  Observers made;
  if (flags.counts) {
    auto found = resolved.counts.find(name);
    bool has = found != resolved.counts.end();
    counts.emplace(has ? ArrayRef(found->second) : ArrayRef<FlagCounts>());
    made.counts = has ? &*counts : nullptr;
  }
  auto found = resolved.layers.find(name);
  if (found != resolved.layers.end() && !found->second.empty()) {
    layers.emplace(found->second, registry,
                   unsigned(flags.threads.value_or(0)));
    made.layers = &*layers;
  }
  return made;
}

/// What is measured by itself stays as it is: another program is observed.
bool Run::observe() {
  if (!observes())
    return true;
  numera_options options = callOptions(executable);
  Observers all = observers();
  if (isOneProgram())
    return check(numera::observe(executable, *data, options,
                                 executable.program->metadata().format, all,
                                 measured));
  if (!all.counts && !all.layers)
    return true;
  return generate(observed, observedExecutable, /*steps=*/nullptr) &&
         check(numera::observe(observedExecutable, *data, options, "layers",
                               all, measured.outputs));
}

/// Few rows have any, and few models such rows.
bool Run::countPostponed() {
  SmallVector<int64_t> rows;
  if (counts)
    rows = counts->postponed();
  if (rows.empty())
    return true;
  CompileOptions options = observedOptions();
  options.showRows = options.postponeCounts = false;
  options.countedRows = rows;
  if (!lower(again, options) ||
      !generate(again, countingExecutable, /*steps=*/nullptr))
    return false;
  StatisticsCollector others(again.resolved.counts[executable.function.name]);
  if (!check(numera::observe(countingExecutable, *data,
                             callOptions(countingExecutable), "counting",
                             {.counts = &others}, measured.outputs)))
    return false;
  counts->replace(rows, others);
  return true;
}

bool Run::compareWith(const std::vector<host::Array> &reference,
                      RunReport &out) const {
  for (auto [report, result, expected] :
       zip_equal(out.outputs, measured.outputs, reference)) {
    if (result.shape != expected.shape)
      return fail("output '" + report.name + "' has shape " +
                  printDimensions(result.shape) + ", in " + flags.compare +
                  " it has " + printDimensions(expected.shape)) == 0;
    report.comparison = compare(result, expected);
  }
  return true;
}

bool Run::report() {
  RunReport out;
  out.metadata = executable.program->metadata();
  out.seed = flags.flags.seed.value_or(out.metadata.seed);
  out.seconds = measured.seconds;
  out.roles = model.resolved.roles;
  out.kernels = kernels;
  if (counts)
    out.statistics = counts->finish(registry);
  out.layers = layers ? &*layers : nullptr;
  if (flags.times)
    out.steps = times;
  std::vector<std::string> names = outputNames(executable.function.outputs);
  for (auto [index, array] : enumerate(measured.outputs)) {
    const std::string &name = executable.function.outputs[index].name;
    out.outputs.push_back({.name = name.empty() ? names[index] : name,
                           .shape = array.shape,
                           .nan = countNaN(array),
                           .comparison = std::nullopt});
  }
  if (reference.module && !compareWith(referenceMeasured.outputs, out))
    return false;
  std::string error;
  if (labels) {
    if (measured.outputs.empty())
      return fail("labels are compared with the first output, '" +
                  executable.function.name + "' has none") == 0;
    out.top1 = top1(measured.outputs.front(), *labels, error);
    if (!error.empty())
      return fail(flags.labels + ": " + error) == 0;
  }
  if (!flags.outputFolder.empty() &&
      !writeOutputs(flags.outputFolder, names, measured.outputs, error))
    return fail(error) == 0;
  (flags.wantsJSON ? printJSON : printText)(out, outs());
  return true;
}

/// The words of `numera report`, which measures layers in any case.
static std::vector<const char *>
wordsOfReport(ArrayRef<const char *> arguments) {
  std::vector<const char *> words;
  for (const char *argument : arguments) {
    StringRef word = argument;
    if (word == "--report") {
      words.push_back("-o");
    } else if (word.consume_front("--report=")) {
      words.push_back("-o");
      words.push_back(word.data());
    } else if (word != "--stats" && word != "--layers") {
      words.push_back(argument);
    }
  }
  return words;
}

int numera::runCommand(ArrayRef<const char *> arguments) {
  RunFlags flags;
  if (std::optional<int> status = parseRunFlags(arguments, flags))
    return *status;
  if (!flags.page.empty())
    return runInPython("report", wordsOfReport(arguments));
  Run run(flags);
  return run.prepare() && run.readArrays() && run.measure() && run.observe() &&
                 run.countPostponed() && run.report()
             ? 0
             : 1;
}
