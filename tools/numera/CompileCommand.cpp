// SPDX-License-Identifier: MIT
//
// `numera compile`: a model in, one file out.

#include "Commands.h"
#include "ModelFlags.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

namespace {

struct Compilation {
  ModelFlags flags;
  std::string model, emit, stage, output;
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

/// What one target has and the other has not.
static int checkTarget(const Compilation &job) {
  StringRef target = job.flags.compile.target;
  bool isOnlyGPU = is_contained({"ptx", "cubin", "fatbin"}, job.emit);
  bool isOnlyCPU = is_contained({"asm", "obj"}, job.emit);
  if (target == "nvptx" ? !isOnlyCPU : !isOnlyGPU)
    return 0;
  return fail("--emit " + job.emit + " is not for --target " + target +
              ", expected " +
              (target == "nvptx" ? "mlir, llvm, ptx, cubin, fatbin, so or exe"
                                 : "mlir, llvm, asm, obj, so or exe"));
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
                "' does not say what to write, add --emit "
                "mlir, llvm, asm, obj, so, exe, ptx, cubin or fatbin");
  if (int status = checkTarget(job))
    return status;
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

static Error emitCode(mlir::ModuleOp lowered,
                      ArrayRef<FunctionSignature> functions,
                      const Registry &registry, CPUOptions options,
                      const Compilation &job) {
  using Emit = Error(mlir::ModuleOp, ArrayRef<FunctionSignature>,
                     const Registry &, const CPUOptions &, StringRef);
  auto *emit = StringSwitch<Emit *>(job.emit)
                   .Case("llvm", emitLLVM)
                   .Case("asm", emitAssembly)
                   .Case("obj", emitObject)
                   .Case("so", emitSharedObject)
                   .Default(emitExecutable);
  if (job.emit != "so")
    return emit(lowered, functions, registry, options, job.output);
  // The header first: without it, nothing is to be left.
  SmallString<128> header(job.output);
  sys::path::replace_extension(header, "h");
  if (Error error = writeTextFile(
          header, renderHeader(functions, sys::path::stem(job.output))))
    return error;
  Error error = emit(lowered, functions, registry, options, job.output);
  if (error)
    sys::fs::remove(header);
  return error;
}

/// The same for a GPU. Files that stand alone have the host's part, too.
static Error emitDevice(mlir::ModuleOp lowered,
                        ArrayRef<FunctionSignature> functions,
                        const Registry &registry, CPUOptions host,
                        const Compilation &job) {
  GPUOptions options = gpuOptions(job.flags);
  using Emit =
      Error(mlir::ModuleOp, const Registry &, const GPUOptions &, StringRef);
  auto *emit = StringSwitch<Emit *>(job.emit)
                   .Case("llvm", emitDeviceLLVM)
                   .Case("ptx", emitPTX)
                   .Case("cubin", emitCubin)
                   .Case("fatbin", emitFatbin)
                   .Default(nullptr);
  if (emit)
    return emit(lowered, registry, options, job.output);
  Expected<DeviceCode> device = takeDeviceCode(lowered, registry, options);
  if (!device)
    return device.takeError();
  host.device = &*device;
  return emitCode(lowered, functions, registry, host, job);
}

int numera::compileCommand(ArrayRef<const char *> arguments) {
  Compilation job;
  if (std::optional<int> status = parse(arguments, job))
    return *status;
  if (checkModelFlags(job.flags) || resolveOutput(job))
    return 1;
  Registry registry;
  if (!loadRegistry(job.flags.formatFiles, registry))
    return 1;
  Compiler compiler(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = compiler.load(job.model, errs());
  if (!module)
    return 1;
  if (job.emit == "mlir")
    return emitMLIR(compiler, *module, job);

  Resolved resolved;
  std::vector<FunctionSignature> functions;
  if (failed(compiler.lower(*module, job.flags.compile, resolved, functions,
                            errs())))
    return 1;
  if (sys::Process::StandardErrIsDisplayed())
    errs() << job.model << ": " << resolved.formatName << ", accumulating in "
           << resolved.accumulateName << '\n';
  auto *emit = job.flags.compile.target == "nvptx" ? emitDevice : emitCode;
  CPUOptions options = cpuOptions(job.flags, resolved);
  return report(emit(*module, functions, registry, options, job));
}
