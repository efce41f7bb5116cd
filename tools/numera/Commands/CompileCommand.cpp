// SPDX-License-Identifier: MIT
//
// `numera compile`: a model in, one file out.

#include "Commands.h"
#include "Support/ModelFlags.h"
#include "Support/Reproducer.h"
#include "Support/StepReport.h"

#include "numera/Target/Driver/Emit.h"
#include "numera/Target/Support/TextFile.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace llvm;
using namespace numera;

namespace {

struct Compilation {
  ModelFlags flags;
  std::string model, emit, stage, output;
  bool times = false;
};

} // namespace

static std::optional<int> parse(ArrayRef<const char *> arguments,
                                Compilation &job) {
  CommandLine line(
      "compile MODEL [options] -o OUT",
      "Compiles MODEL, an .onnx or .mlir file. What is written "
      "follows from --emit or from\nthe end of OUT: .mlir .ll .s "
      ".o .so\n.ptx .cubin .fatbin, and no ending for an executable.");
  line.add({"o", "OUT", "the file to write; - is standard output, for text",
            &job.output});
  line.add(
      {"emit",
       "KIND",
       "mlir, llvm, asm, obj, so (with a C header beside it) or exe; for "
       "a GPU ptx, cubin and fatbin too",
       &job.emit,
       {"mlir", "llvm", "asm", "obj", "so", "exe", "ptx", "cubin", "fatbin"}});
  line.add({"stage",
            "STAGE",
            "with --emit mlir: import, retype (default) or lowered",
            &job.stage,
            {"import", "retype", "lowered"}});
  line.add({"time", "", "print what each step took, on stderr", &job.times});
  addModelFlags(line, job.flags);
  if (std::optional<int> status = line.parse(arguments))
    return status;
  if (line.positional().size() != 1)
    return fail(line.positional().empty()
                    ? Twine("no model, expected numera compile MODEL -o OUT "
                            "with an .onnx or .mlir file")
                    : "one model at a time, found '" + line.positional()[0] +
                          "' and '" + line.positional()[1] + "'");
  job.model = line.positional()[0];
  return std::nullopt;
}

/// Completes and checks what to write.
static int resolveOutput(Compilation &job) {
  if (job.output.empty())
    return fail("no output, say where to write with -o OUT");
  StringRef extension = sys::path::extension(job.output);
  if (job.emit.empty())
    job.emit = StringSwitch<std::string>(extension)
                   .Case(".mlir", "mlir")
                   .Case(".ll", "llvm")
                   .Case(".s", "asm")
                   .Case(".o", "obj")
                   .Case(".so", "so")
                   .Case(".ptx", "ptx")
                   .Case(".cubin", "cubin")
                   .Case(".fatbin", "fatbin")
                   .Case("", job.output == "-" ? "" : "exe")
                   .Default("");
  if (job.emit.empty())
    return fail("'" + job.output +
                "' has no known extension, add --emit "
                "mlir, llvm, asm, obj, so, exe, ptx, cubin or fatbin");
  if (std::string wrong = checkEmit(job.emit, job.flags.compile.target);
      !wrong.empty())
    return fail(wrong);
  bool isText = is_contained({"mlir", "llvm", "asm", "ptx"}, job.emit);
  if (job.output == "-" && !isText)
    return fail("--emit " + job.emit +
                " is binary and cannot go to standard output, name a file with "
                "-o");
  if (!job.stage.empty() && job.emit != "mlir")
    return fail("--stage is for --emit mlir, found --emit " + job.emit);
  return 0;
}

static int report(Error error) {
  if (!error)
    return 0;
  return fail(toString(std::move(error)));
}

static int emitMLIR(Compiler &compiler, mlir::ModuleOp module,
                    const Compilation &job) {
  StringRef stage = job.stage.empty() ? "retype" : StringRef(job.stage);
  if (failed(compiler.lowerTo(module, stage, job.flags.compile, errs())))
    return 1;
  std::string text;
  raw_string_ostream stream(text);
  module.print(stream);
  stream << '\n';
  return report(writeTextFile(job.output, text));
}

static int compile(Compilation &job) {
  Registry registry;
  StepScope step(job.flags.compile.times, "read formats");
  if (!loadLibraries(job.flags.formats, registry))
    return 1;
  step.next("read model");
  Compiler compiler(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      compiler.load(job.model, errs(), job.flags.compile.safetensors);
  if (!module)
    return 1;
  step.stop();
  if (job.emit == "mlir")
    return emitMLIR(compiler, *module, job);

  Resolved resolved;
  std::vector<FunctionSignature> functions;
  if (failed(compiler.lower(*module, job.flags.compile, resolved, functions,
                            errs()))) {
    if (compiler.failedInside())
      leaveReproducer();
    return 1;
  }
  if (sys::Process::StandardErrIsDisplayed()) {
    errs() << job.model << ": " << resolved.formatName << ", accumulating in "
           << accumulatorFor(resolved.accumulateName) << '\n';
    for (const RuleUse &rule : resolved.rules)
      errs() << describe(rule) << '\n';
  }
  EmitOptions options = {.kind = job.emit,
                         .cpu = cpuOptions(job.flags, resolved)};
  if (job.flags.compile.target == "nvptx")
    options.gpu = gpuOptions(job.flags);
  return report(
      emit(*module, functions, registry, std::move(options), job.output));
}

/// Weights go back to the system when they are released: glibc's heap takes
/// more and more of them as it sees them go, and keeps what lies between
/// others.
static void releaseLargeMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int numera::compileCommand(ArrayRef<const char *> arguments) {
  releaseLargeMemory();
  Compilation job;
  if (std::optional<int> status = parse(arguments, job))
    return *status;
  if (checkModelFlags(job.flags) || resolveOutput(job))
    return 1;
  StepTimes times;
  if (job.times)
    job.flags.compile.times = &times;
  int status = compile(job);
  if (status == 0 && job.times)
    printSteps(times, errs());
  return status;
}
