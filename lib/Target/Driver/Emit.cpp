// SPDX-License-Identifier: MIT

#include "numera/Target/Driver/Emit.h"
#include "Support/Interrupt.h"
#include "Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace numera;

CPUOptions numera::cpuOptions(const CompileOptions &options,
                              const Resolved &resolved, uint64_t seed) {
  CPUOptions made;
  made.cpu = options.cpu;
  made.optimization = unsigned(std::min(options.optimization, uint64_t{3}));
  made.codeCache = options.codeCache;
  made.times = options.times;
  made.metadata.format = resolved.formatName;
  made.metadata.accumulate = resolved.accumulateName;
  // What an opaque format does only its library knows.
  const Format &format = resolved.format;
  const FormatFamily &family = format.getFamily();
  if (family.hasArithmetic()) {
    made.metadata.rounding = nameOf(format.getRounding()).str();
    made.metadata.overflow = nameOf(family.overflow(format)).str();
  }
  made.metadata.seed = seed;
  made.metadata.libraryUses = resolved.libraryUses;
  made.metadata.rules = resolved.rules;
  return made;
}

std::string numera::checkEmit(StringRef kind, StringRef target) {
  if (!is_contained(
          {"mlir", "llvm", "asm", "obj", "so", "exe", "ptx", "cubin", "fatbin"},
          kind))
    return ("--emit " + kind +
            " is unknown, expected mlir, llvm, asm, obj, so, "
            "exe, ptx, cubin or fatbin")
        .str();
  bool isOnlyGPU = is_contained({"ptx", "cubin", "fatbin"}, kind);
  bool isOnlyCPU = is_contained({"asm", "obj"}, kind);
  if (target == "nvptx" ? !isOnlyCPU : !isOnlyGPU)
    return "";
  return ("--emit " + kind + " is not for --target " + target + ", expected " +
          (target == "nvptx" ? "mlir, llvm, ptx, cubin, fatbin, so or exe"
                             : "mlir, llvm, asm, obj, so or exe"))
      .str();
}

/// A shared object and its header.
static Error emitWithHeader(mlir::ModuleOp lowered,
                            ArrayRef<FunctionSignature> functions,
                            const Registry &registry, const CPUOptions &options,
                            StringRef path) {
  // Not the header's name, of which the user said nothing.
  StringRef folder = sys::path::parent_path(path);
  if (!folder.empty() && !sys::fs::is_directory(folder))
    return createStringError(
        "cannot write " + path + ": " +
        make_error_code(std::errc::no_such_file_or_directory).message());
  SmallString<128> header(path);
  sys::path::replace_extension(header, "h");
  // The header is written first and appears last: where it cannot be written,
  // or nothing comes of the object, neither is left. An interrupt between the
  // two waits for the second.
  std::optional<InterruptScope> both;
  return writeFile(header, [&](raw_pwrite_stream &stream) {
    stream << renderHeader(functions, sys::path::stem(path));
    return emitSharedObject(lowered, functions, registry, options, path,
                            [&] { both.emplace(); });
  });
}

static Error emitForCPU(mlir::ModuleOp lowered,
                        ArrayRef<FunctionSignature> functions,
                        const Registry &registry, const EmitOptions &options,
                        StringRef path) {
  using Emit = Error(mlir::ModuleOp, ArrayRef<FunctionSignature>,
                     const Registry &, const CPUOptions &, StringRef);
  auto *write = StringSwitch<Emit *>(options.kind)
                    .Case("llvm", emitLLVM)
                    .Case("asm", emitAssembly)
                    .Case("obj", emitObject)
                    .Case("so", emitWithHeader)
                    .Default(emitExecutable);
  return write(lowered, functions, registry, options.cpu, path);
}

Error numera::emit(mlir::ModuleOp lowered,
                   ArrayRef<FunctionSignature> functions,
                   const Registry &registry, EmitOptions options,
                   StringRef path) {
  if (!options.gpu)
    return emitForCPU(lowered, functions, registry, options, path);
  using Emit =
      Error(mlir::ModuleOp, const Registry &, const GPUOptions &, StringRef);
  auto *write = StringSwitch<Emit *>(options.kind)
                    .Case("llvm", emitDeviceLLVM)
                    .Case("ptx", emitPTX)
                    .Case("cubin", emitCubin)
                    .Case("fatbin", emitFatbin)
                    .Default(nullptr);
  if (write)
    return write(lowered, registry, *options.gpu, path);
  // Files that stand alone have the host's part, too.
  Expected<DeviceCode> device = takeDeviceCode(lowered, registry, *options.gpu);
  if (!device)
    return device.takeError();
  options.cpu.device = &*device;
  return emitForCPU(lowered, functions, registry, options, path);
}
