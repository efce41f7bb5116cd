// SPDX-License-Identifier: MIT
//
// `numera check`: certifies formats and libraries against the exact reference.

#include "Check/CheckReport.h"
#include "Check/GPUCheck.h"
#include "Check/ScaledCheck.h"
#include "Check/Vectors.h"
#include "Commands.h"
#include "Support/CommandLine.h"
#include "Support/ModelFlags.h"
#include "numera/Registry/Description/FormatFacts.h"

#include "numera/Registry/Formats/Words.h"
#include "numera/Runtime/Progress.h"
#include "numera/Target/Check/Proofs.h"
#include "numera/Target/Libraries/Examine/Libraries.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>
#include <thread>

using namespace llvm;
using namespace numera;

namespace {
struct CheckFlags {
  FormatSources sources;
  std::vector<std::string> formats, operations;
  std::string library, rounding, overflow, gpu;
  std::string vectors; ///< a file of test vectors
  std::optional<uint64_t> threads, seconds, seed, draws;
  bool isSlow = false, wantsProofs = false, wantsJSON = false;
};
} // namespace

static std::optional<int> parse(ArrayRef<const char *> arguments,
                                CheckFlags &flags) {
  CommandLine line("check --formats F.yaml [options]",
                   "Runs every operation of a format, compiled as a program's "
                   "are, and compares\nwith the exact reference.");
  addFormatsFlags(line, flags.sources);
  line.add({"format", "FORMAT",
            "check this one (a name or a spelling), not all of the files'",
            &flags.formats});
  line.add({"library", "NAME", "check only the functions of this library",
            &flags.library});
  line.add({"rounding", "MODE", "check only this rounding", &flags.rounding});
  line.add({"overflow", "RULE",
            "with this overflow rule: infinity, saturate, propagate or wrap",
            &flags.overflow});
  line.add({"testfloat", "FILE",
            "compare with the test vectors of a file in TestFloat's text form, "
            "with one --format",
            &flags.vectors});
  line.add({"slow", "", "ten times the inputs, every f32 for casts from it",
            &flags.isSlow});
  line.add({"prove", "",
            "try all operands of opaque formats of up to 16 bits, and keep "
            "what is proven: programs then compute it as the built-in format",
            &flags.wantsProofs});
  line.add({"gpu", "GPU",
            "compare the GPU of this machine, an sm_80 for example, with its "
            "CPU",
            &flags.gpu});
  line.add(
      {"operation", "NAME",
       "with --gpu, only this one; with --testfloat, that of the file: "
       "one of the dialect, mulAdd, eq, le, lt, to_FORMAT or to_i32 and the "
       "like (default: that of the file's name, f16_add.txt)",
       &flags.operations});
  line.add({"threads", "NUMBER",
            "processes at a time (default: as many as "
            "there are processors)",
            &flags.threads});
  line.add({"draws", "NUMBER",
            "random inputs of an operation, and no more boundary values than "
            "that (default: 1000000)",
            &flags.draws});
  line.add({"time-limit", "SECONDS", "how long a call may take (default: 10)",
            &flags.seconds});
  line.add({"seed", "NUMBER", "seed of the random inputs (default: 1)",
            &flags.seed});
  line.add({"json", "", "print JSON", &flags.wantsJSON});
  if (std::optional<int> status = line.parse(arguments))
    return status;
  if (!line.positional().empty())
    return fail("found '" + line.positional()[0] +
                "', expected options: numera check --formats F.yaml");
  return std::nullopt;
}

static bool readOptions(const CheckFlags &flags, const Registry &registry,
                        check::Options &options) {
  unsigned processors = std::max(1u, std::thread::hardware_concurrency());
  options.threads = unsigned(
      std::clamp<uint64_t>(flags.threads.value_or(processors), 1, 256));
  options.timeLimit = double(std::max<uint64_t>(flags.seconds.value_or(10), 1));
  options.seed = flags.seed.value_or(1);
  // A number of inputs is meant for all operations.
  options.isSlow = flags.isSlow && !flags.draws;
  options.draws = flags.draws.value_or(flags.isSlow ? 10'000'000 : 1'000'000);
  options.library = flags.library;
  if (!flags.rounding.empty()) {
    options.rounding = roundingFromName(flags.rounding);
    if (!options.rounding)
      return fail("unknown rounding '" + flags.rounding +
                  "', expected a mode such as nearest-even or toward-zero") ==
             0;
  }
  if (flags.library.empty() || registry.findLibrary(flags.library))
    return true;
  std::vector<StringRef> names;
  for (const Library &library : registry.libraries())
    names.push_back(library.name);
  return fail("unknown library '" + flags.library + "', expected " +
              (names.empty() ? "one of a file: --formats F.yaml"
                             : listed(names))) == 0;
}

/// Leaves the formats of which something may be proven; an error for one that
/// was asked for.
static bool chooseProvable(const CheckFlags &flags, const Registry &registry,
                           std::vector<Format> &formats) {
  auto isProvable = [&](const Format &format) {
    return format.isOpaque() && format.width() <= 16 &&
           registry.equivalentOf(format);
  };
  for (const Format &format : formats)
    if (!flags.formats.empty() && !isProvable(format))
      return fail("'" + registry.nameOrSpelling(format) +
                  "' cannot be proven to be another format, expected an opaque "
                  "one of up to 16 bits that names its 'equivalent'") == 0;
  auto isServed = [&](const Format &format) {
    return flags.library.empty() ||
           any_of(registry.lowerings(), [&](const Lowering &lowering) {
             return (lowering.library.empty() ||
                     lowering.library == flags.library) &&
                    (lowering.result == format ||
                     is_contained(lowering.operands, format));
           });
  };
  erase_if(formats, [&](const Format &format) {
    return !isProvable(format) || !isServed(format);
  });
  return !formats.empty() ||
         fail("--prove finds no format to prove, expected an opaque one of up "
              "to 16 bits that names its 'equivalent'") == 0;
}

/// Leaves the formats whose codes an operand's integer holds; an error for
/// another one that was asked for, or where nothing else is left.
static bool dropWide(const CheckFlags &flags, const Registry &registry,
                     std::vector<Format> &formats) {
  auto isWide = [](const Format &format) { return format.isWide(); };
  auto wide = find_if(formats, isWide);
  if (wide == formats.end())
    return true;
  std::string name = registry.nameOrSpelling(*wide);
  if (!flags.formats.empty() || all_of(formats, isWide))
    return fail("format '" + name + "' has " + Twine(wide->width()) +
                " bits, and operations are compared in formats of at most 64; "
                "its functions fit their prototypes") == 0;
  for (const Format &format : formats)
    if (isWide(format))
      errs() << "numera: warning: format '" << registry.nameOrSpelling(format)
             << "' has " << format.width()
             << " bits, and is not checked: operations are compared in formats "
                "of at most 64\n";
  erase_if(formats, isWide);
  return true;
}

/// A scaled format as it was asked for, by a name or a spelling.
using AskedScaled = std::pair<ScaledFormat, std::string>;

/// Those asked for; else what the files name: formats, and those for which they
/// register functions. A format that a built-in name has as well keeps the
/// user's name.
static bool chooseFormats(const CheckFlags &flags, const Registry &registry,
                          std::vector<Format> &formats,
                          std::vector<AskedName> &names,
                          std::vector<AskedScaled> &scaled) {
  auto add = [&](const Format &format) {
    if (format && !is_contained(formats, format))
      formats.push_back(format);
  };
  for (const std::string &name : flags.formats) {
    std::string error;
    ScaledFormat found = registry.lookupScaledFormat(name, error);
    if (found) {
      scaled.push_back({found, name});
      continue;
    }
    if (!error.empty())
      return fail(error) == 0;
    Format format = registry.lookupFormat(name, error);
    if (!format)
      return fail(error) == 0;
    add(format);
    if (!StringRef(name).contains('<'))
      names.push_back({format, name});
  }
  if (!flags.formats.empty())
    return true;
  for (const Registry::NamedFormat &named : registry.formats())
    if (!named.isBuiltin) {
      add(named.format);
      names.push_back({named.format, named.name});
    }
  for (const Lowering &entry : registry.lowerings())
    for (const Format &format : {entry.result, entry.operands.front()})
      // A cast's machine number is the other side's affair, as is a carrier.
      if ((entry.operation != OpKind::Cast &&
           entry.operation != OpKind::RoundTo) ||
          (format != formatF32() && format != formatF64()))
        add(format);
  return !formats.empty() ||
         fail("no format to check, name one with --format, or a file of them "
              "with --formats") == 0;
}

/// Gives the formats the overflow rule that was asked for.
static bool changeOverflow(const CheckFlags &flags,
                           MutableArrayRef<Format> formats,
                           ArrayRef<AskedScaled> scaled) {
  if (flags.overflow.empty())
    return true;
  if (!scaled.empty())
    return fail("--overflow is for formats, found the scaled format '" +
                scaled.front().second + "'") == 0;
  CompileOptions changes;
  changes.overflow = flags.overflow;
  std::string error;
  for (Format &format : formats)
    if (!withOptions(changes, format, error))
      return fail(error) == 0;
  return true;
}

/// The GPU against the CPU, for each format.
static int compareGPU(const CheckFlags &flags, const Registry &registry,
                      const check::Options &options, ArrayRef<Format> formats,
                      ArrayRef<AskedName> names) {
  std::vector<GPUReport> reports;
  uint64_t bad = 0;
  for (Format format : formats) {
    if (options.rounding)
      format = format.withRounding(*options.rounding);
    Expected<GPUReport> report = checkGPU(registry, format,
                                          {.gpu = flags.gpu,
                                           .draws = options.draws,
                                           .seed = options.seed,
                                           .operations = flags.operations});
    if (!report)
      return fail(toString(report.takeError()));
    bad += report->bad();
    for (const AskedName &asked : reverse(names))
      if (asked.format == format)
        report->name = asked.name;
    reports.push_back(std::move(*report));
  }
  if (flags.wantsJSON) {
    json::OStream json(outs(), /*IndentSize=*/2);
    json.array([&] {
      for (const GPUReport &report : reports)
        printJSON(report, json);
    });
    outs() << '\n';
  } else {
    for (const GPUReport &report : reports)
      printText(report, outs());
  }
  return bad ? 1 : 0;
}

/// Compares with a file of test vectors.
static int compareWithVectors(const CheckFlags &flags,
                              const Registry &registry) {
  if (flags.formats.size() != 1)
    return fail("--testfloat needs one --format, found " +
                Twine(flags.formats.size()));
  std::string error;
  Format format = registry.lookupFormat(flags.formats[0], error);
  if (!format)
    return fail(error);
  if (flags.operations.size() > 1)
    return fail("--testfloat has one --operation, found " +
                Twine(flags.operations.size()));
  std::string name = flags.operations.empty()
                         ? operationOfFile(flags.vectors).str()
                         : flags.operations.front();
  if (name.empty())
    return fail("the name of '" + flags.vectors +
                "' says no operation, expected one such as f16_add.txt, or "
                "--operation NAME");
  if (std::vector<Format> formats = {format};
      !dropWide(flags, registry, formats))
    return 1;
  VectorOperation operation = vectorOperation(registry, format, name, error);
  if (!operation.operands)
    return fail(error);
  if (Error failure = checkTruncates(operation, flags.rounding))
    return fail(toString(std::move(failure)));
  CompileOptions changes;
  changes.rounding = flags.rounding;
  changes.overflow = flags.overflow;
  bool isCast = operation.operation == OpKind::Cast;
  if (!withOptions(changes, operation.result, error))
    return fail(error);
  if (!isCast)
    operation.operands = operation.result;
  Expected<VectorReport> report =
      checkVectors(registry, operation, flags.vectors);
  if (!report) {
    // The place of a line is in front, as compilers have it.
    std::string message = toString(report.takeError());
    if (!StringRef(message).contains(": error: "))
      return fail(message);
    errs() << message << '\n';
    return 1;
  }
  if (flags.wantsJSON) {
    json::OStream json(outs(), /*IndentSize=*/2);
    printJSON(*report, json);
    outs() << '\n';
  } else {
    printText(*report, outs());
  }
  return report->mismatches ? 1 : 0;
}

int numera::checkCommand(ArrayRef<const char *> arguments) {
  CheckFlags flags;
  if (std::optional<int> status = parse(arguments, flags))
    return *status;
  Registry registry;
  check::Options options;
  std::vector<Format> formats;
  std::vector<AskedName> names;
  std::vector<AskedScaled> scaledFormats;
  if (!flags.operations.empty() && flags.vectors.empty() && flags.gpu.empty())
    return fail("--operation is for --gpu GPU and for --testfloat FILE");
  if (!flags.vectors.empty())
    return loadLibraries(flags.sources, registry)
               ? compareWithVectors(flags, registry)
               : 1;
  if (!loadRegistry(flags.sources, registry) ||
      !openLibraries(registry, errs(), &options.misfits) ||
      !readOptions(flags, registry, options) ||
      !chooseFormats(flags, registry, formats, names, scaledFormats) ||
      !changeOverflow(flags, formats, scaledFormats) ||
      !dropWide(flags, registry, formats) ||
      (flags.wantsProofs && !chooseProvable(flags, registry, formats)))
    return 1;

  if (!flags.gpu.empty()) {
    if (flags.wantsProofs || !scaledFormats.empty() || !flags.library.empty())
      return fail("--gpu compares formats, found " +
                  StringRef(flags.wantsProofs       ? "--prove"
                            : scaledFormats.empty() ? "--library"
                                                    : "a scaled format")
                      .str());
    return compareGPU(flags, registry, options, formats, names);
  }

  std::vector<check::Report> reports;
  for (const Format &format : formats) {
    std::string name = registry.nameOrSpelling(format);
    std::optional<host::Progress> progress;
    uint64_t before = 0;
    auto tick = [&](uint64_t done, uint64_t total) {
      if (!progress)
        progress.emplace(name, total);
      progress->advance(done - std::exchange(before, done));
    };
    Expected<check::Report> report =
        flags.wantsProofs
            ? check::proveFormat(registry, format, options, errs(), tick)
            : check::checkFormat(registry, format, options, tick);
    progress.reset();
    if (!report)
      return fail(toString(report.takeError()));
    if (!options.library.empty() && report->results.empty())
      continue;
    if (!options.library.empty())
      report->missing.clear();
    reports.push_back(std::move(*report));
  }
  std::vector<ScaledReport> scaled;
  for (const auto &[format, name] : scaledFormats) {
    Expected<ScaledReport> report =
        checkScaled(registry, format, options.draws, options.seed);
    if (!report)
      return fail(toString(report.takeError()));
    for (const Registry::NamedScaledFormat &named : registry.scaledFormats())
      if (!named.isBuiltin && named.name == name)
        report->name = name;
    scaled.push_back(std::move(*report));
  }
  if (reports.empty() && scaled.empty())
    return fail("library '" + options.library +
                "' has no function that is registered for the CPU");

  // The functions that cannot be called have had their lines.
  auto isEmpty = [](const check::Report &report) {
    return report.results.empty() && report.laws.empty();
  };
  if (!options.misfits.empty() && scaled.empty() && all_of(reports, isEmpty))
    return 1;
  CheckReport printer(registry, uint64_t(options.timeLimit), std::move(names));
  uint64_t operations = 0, inputs = 0, bad = options.misfits.size();
  for (const check::Report &report : reports) {
    operations += report.results.size() + report.laws.size();
    inputs += report.tried();
    bad += report.bad();
  }
  for (const ScaledReport &report : scaled) {
    operations += report.laws.size();
    inputs += report.tried();
    bad += report.bad();
  }
  if (flags.wantsJSON) {
    json::OStream json(outs(), /*IndentSize=*/2);
    json.object([&] {
      json.attributeArray("formats", [&] {
        for (const check::Report &report : reports)
          printer.printJSON(report, json);
        for (const ScaledReport &report : scaled)
          printJSON(report, json);
      });
      json.attributeArray("misfits", [&] {
        for (const std::string &place : options.misfits)
          json.value(place);
      });
      json.attribute("inputs", int64_t(inputs));
      json.attribute("not_as_expected", int64_t(bad));
    });
    outs() << '\n';
    return bad ? 1 : 0;
  }
  for (const check::Report &report : reports)
    printer.printText(report, outs());
  for (const ScaledReport &report : scaled)
    printText(report, outs());
  size_t checked = reports.size() + scaled.size();
  if (checked > 1 || !options.misfits.empty())
    outs() << checked << (checked == 1 ? " format, " : " formats, ")
           << CheckReport::summary(operations, inputs, bad) << '\n';
  return bad ? 1 : 0;
}
